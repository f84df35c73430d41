// Merges ordered streams of ids into one without duplicates: the traces that have any of several values. It holds one batch an
// input; the smallest id is on top of a binary heap.
import type { Span } from 'spanline';
import { BATCH_IDS, type IdStream, lowerBound, SpannedNode } from './id-node.js';

interface Input {
  readonly node: IdStream;
  ids: readonly string[];
  at: number;
  isOver: boolean;
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
export class Union extends SpannedNode implements IdStream {
  readonly #inputs: readonly Input[];
  /** The inputs that stand on an id; undefined when they have to be looked at anew. */
  #heap: Input[] | undefined;
  #last = '';

  constructor(nodes: readonly IdStream[], span: Span | undefined) {
    super(span);
    this.#inputs = nodes.map((node) => ({ node, ids: [], at: 0, isOver: false }));
  }

  protected async readOn(): Promise<readonly string[] | undefined> {
    this.#heap ??= await this.#start();
    const heap = this.#heap;
    const out: string[] = [];
    while (out.length < BATCH_IDS) {
      const top = heap[0];
      if (top === undefined) break;
      const id = currentId(top);
      if (id !== this.#last) {
        out.push(id);
        this.#last = id;
      }
      if (++top.at < top.ids.length || (await this.waitFor(this.#refill(top)))) sink(heap, 0);
      else this.#dropTop(heap);
    }
    return this.gave(out);
  }

  async skipTo(id: string): Promise<void> {
    this.#heap = undefined;
    const skips = this.#inputs.map((input) => {
      input.at = lowerBound(input.ids, id, input.at);
      return input.at < input.ids.length || input.isOver ? undefined : input.node.skipTo(id);
    });
    await Promise.all(skips);
  }

  async pause(): Promise<void> {
    await Promise.all(this.#inputs.map(({ node, isOver }) => (isOver ? undefined : node.pause())));
  }

  async close(): Promise<void> {
    await Promise.all(this.#inputs.map(({ node }) => node.close()));
    this.endSpan();
  }

  /** Put every input on an id, side by side. */
  async #start(): Promise<Input[]> {
    const refills = this.#inputs.map((input) => input.at < input.ids.length || input.isOver || this.#refill(input));
    await this.waitFor(Promise.all(refills));
    const heap = this.#inputs.filter(({ isOver }) => !isOver);
    for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i);
    return heap;
  }

  async #refill(input: Input): Promise<boolean> {
    const ids = await input.node.next();
    input.at = 0;
    if (ids === undefined) {
      input.ids = [];
      input.isOver = true;
      return false;
    }
    this.figures.idsIn += ids.length;
    input.ids = ids;
    return true;
  }

  #dropTop(heap: Input[]): void {
    const last = heap.pop() as Input;
    if (heap.length === 0) return;
    heap[0] = last;
    sink(heap, 0);
  }
}
