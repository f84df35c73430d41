// Merges ordered streams of ids into one without duplicates: the traces that have any of several values. It holds one batch an
// input; the smallest id is on top of a binary heap.
import type { Span } from '../../span/span.js';
import { BATCH_IDS, type IdNode, newFigures } from './id-node.js';
import { endNodeSpan } from './leaf.js';

interface Input {
  readonly node: IdNode;
  ids: readonly string[];
  at: number;
}

const currentId = ({ ids, at }: Input): string => ids[at] as string;

/** Restore the heap below `at`. */
const sink = (heap: Input[], start: number): void => {
  const input = heap[start] as Input;
  const id = currentId(input);
  let at = start;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    const right = heap[child + 1];
    if (right !== undefined && currentId(right) < currentId(heap[child] as Input)) child++;
    if (id <= currentId(heap[child] as Input)) break;
    heap[at] = heap[child] as Input;
    at = child;
  }
  heap[at] = input;
};

/** The union of its inputs. */
export class Union implements IdNode {
  readonly figures = newFigures();
  private heap: Input[] | undefined;
  private last = '';

  constructor(
    private readonly inputs: readonly IdNode[],
    private readonly span: Span | undefined,
  ) {}

  async next(): Promise<readonly string[] | undefined> {
    this.heap ??= await this.start();
    const { heap, figures } = this;
    const out: string[] = [];
    while (out.length < BATCH_IDS) {
      const top = heap[0];
      if (top === undefined) break;
      const id = currentId(top);
      if (id !== this.last) {
        out.push(id);
        this.last = id;
      }
      if (++top.at < top.ids.length) sink(heap, 0);
      else if (!(await this.refill(top))) this.dropTop(heap);
      else sink(heap, 0);
    }
    if (out.length === 0) {
      await this.close();
      return undefined;
    }
    figures.idsOut += out.length;
    figures.batches++;
    return out;
  }

  async close(): Promise<void> {
    await Promise.all(this.inputs.map((input) => input.close()));
    endNodeSpan(this.span, this.figures);
  }

  /** The first batch of every input, read side by side. */
  private async start(): Promise<Input[]> {
    const since = performance.now();
    const batches = await Promise.all(this.inputs.map((node) => node.next()));
    this.figures.waitMs += performance.now() - since;
    const heap: Input[] = [];
    for (const [i, ids] of batches.entries()) {
      if (ids === undefined) continue;
      this.figures.idsIn += ids.length;
      heap.push({ node: this.inputs[i] as IdNode, ids, at: 0 });
    }
    for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i);
    return heap;
  }

  private async refill(input: Input): Promise<boolean> {
    const since = performance.now();
    const ids = await input.node.next();
    this.figures.waitMs += performance.now() - since;
    if (ids === undefined) return false;
    this.figures.idsIn += ids.length;
    input.ids = ids;
    input.at = 0;
    return true;
  }

  private dropTop(heap: Input[]): void {
    const last = heap.pop() as Input;
    if (heap.length === 0) return;
    heap[0] = last;
    sink(heap, 0);
  }
}
