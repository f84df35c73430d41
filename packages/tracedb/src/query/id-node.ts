// The nodes of a running query: each is a stream of trace ids in ascending order without duplicates, batch by batch. Here are the leaf, the ids
// behind one prefix of the table, which owns its read and must end it; and the union of several streams, the traces that have any of several values,
// by a binary heap. A node holds one batch of each of its inputs and no more.
import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { failSpan, isWorkWatched, roundMs, under, untraced } from '../node-span.js';
import { prefixEnd } from '../table/cells.js';
import type { ReadOptions, RowSelection, WideColumnTable } from '../table/wide-column-table.js';

/** What a node did so far. */
interface NodeFigures {
  /** Ids that came from its inputs, or rows from the table. */
  idsIn: number;
  idsOut: number;
  batches: number;
  /** Milliseconds spent waiting for inputs or the table. */
  waitMs: number;
}

/** A stream of ids. */
export interface IdNode {
  readonly figures: NodeFigures;
  /** The next ids, at least one; undefined at the end, each time it is asked again. After a failure, only `close` may be called. */
  next(): Promise<readonly string[] | undefined>;
  /** End the reads below. Safe to call more than once, and while `next` is pending. */
  close(): Promise<void>;
}

/** A stream that reads the table and can be moved. */
export interface IdStream extends IdNode {
  /** Go on with the first id that is not below `id`, by a new read where that is further; never back. Not while `next` is pending. */
  skipTo(id: string): Promise<void>;
  /** End the reads below until `next` is called again, if ever; it goes on where they were. Not while `next` is pending. */
  pause(): Promise<void>;
}

/** What all nodes do with their span and figures; without a span they run as they are. */
export abstract class SpannedNode implements IdNode {
  readonly figures: NodeFigures = { idsIn: 0, idsOut: 0, batches: 0, waitMs: 0 };

  constructor(protected readonly span: Span | undefined) {}

  next(): Promise<readonly string[] | undefined> {
    // The nodes below have their spans already, so that nobody else asks which one is current.
    if (this.span === undefined || !(this.startsSpans || isWorkWatched())) return this.readOn();
    return under(this.span, () => this.readOn());
  }

  abstract close(): Promise<void>;

  /** Whether spans may start while it reads on, which belong under its own. */
  protected get startsSpans(): boolean {
    return false;
  }

  protected abstract readOn(): Promise<readonly string[] | undefined>;

  protected async waitFor<T>(inputs: Promise<T>): Promise<T> {
    const since = timers.monotonicMs();
    const result = await inputs;
    this.figures.waitMs += timers.monotonicMs() - since;
    return result;
  }

  /** Count a batch; one without ids is the end. */
  protected async gave(ids: readonly string[]): Promise<readonly string[] | undefined> {
    if (ids.length === 0) {
      await this.close();
      return undefined;
    }
    this.figures.idsOut += ids.length;
    this.figures.batches++;
    return ids;
  }

  /** End the span with the figures, and with one more. */
  protected endSpan(more?: string, figure = 0): void {
    const { span } = this;
    if (span?.isRecording !== true) return;
    const { idsIn, idsOut, batches, waitMs } = this.figures;
    const figures = ['ids.in', idsIn, 'ids.out', idsOut, 'batches', batches, 'wait.ms', roundMs(waitMs)];
    if (more !== undefined) figures.push(more, figure);
    span.addAll(figures);
    span.end();
  }
}

/** Ids of one batch of a merging node. */
export const BATCH_IDS = 512;

/** Where the first id not below `id` is, from `at` on: doubling steps, then halving. */
export const lowerBound = (ids: readonly string[], id: string, at: number): number => {
  let step = 1;
  let low = at;
  while (low + step < ids.length && (ids[low + step] as string) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, ids.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The first text behind `id`: a NUL, which is lower, occurs in no id. */
export const behind = (id: string): string => `${id}\x01`;

/** Where a leaf reads. */
interface LeafRead {
  readonly table: WideColumnTable;
  /** What all row keys begin with; what follows is the id. */
  readonly prefix: string;
  readonly options: ReadOptions;
}

/** Reads of one leaf that get spans of their own: a query may skip thousands of times. */
const MAX_READ_SPANS = 8;

/** Ids read from one prefix. */
export class Leaf extends SpannedNode implements IdStream {
  #keys: AsyncIterator<readonly string[]> | undefined;
  /** Where the next read begins. */
  #from = '';
  #reads = 0;
  #isClosed = false;

  readonly #read: LeafRead;

  constructor(read: LeafRead, span: Span | undefined) {
    super(span);
    this.#read = read;
  }

  // Those of the calls of a client.
  protected override get startsSpans(): boolean {
    return this.#read.table.engine !== 'lmdb';
  }

  protected async readOn(): Promise<readonly string[] | undefined> {
    // A node above may still be on its way when it is closed; no read must be opened then.
    if (this.#isClosed) return undefined;
    const { figures } = this;
    const since = timers.monotonicMs();
    try {
      this.#keys ??= this.#open();
      const { done, value } = await this.#keys.next();
      if (done) {
        await this.close();
        return undefined;
      }
      const idStart = this.#read.prefix.length;
      const ids = new Array<string>(value.length);
      for (let i = 0; i < value.length; i++) ids[i] = (value[i] as string).slice(idStart);
      this.#from = ids[ids.length - 1] as string;
      figures.idsIn += ids.length;
      figures.idsOut += ids.length;
      figures.batches++;
      return ids;
    } catch (error) {
      failSpan(this.span, error);
      throw error;
    } finally {
      figures.waitMs += timers.monotonicMs() - since;
    }
  }

  async skipTo(id: string): Promise<void> {
    await this.#endRead();
    if (id > this.#from) this.#from = id;
  }

  pause(): Promise<void> {
    return this.#endRead();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#keys?.return?.();
    this.endSpan('reads', this.#reads);
  }

  async #endRead(): Promise<void> {
    const keys = this.#keys;
    if (keys === undefined) return;
    this.#keys = undefined;
    await keys.return?.();
    // A read that is open has given out ids, the last of which this is.
    this.#from = behind(this.#from);
  }

  #open(): AsyncIterator<readonly string[]> {
    const { table, prefix, options } = this.#read;
    const rows: RowSelection =
      this.#from === '' ? { prefix } : { start: prefix + this.#from, end: prefixEnd(prefix)?.toString() };
    if (this.#reads++ < MAX_READ_SPANS) return under(this.span, () => table.readKeys(rows, options));
    return untraced(() => table.readKeys(rows, options));
  }
}

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
