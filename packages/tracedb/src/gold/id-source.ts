// New digest ids, reserved from the one counter of the table in batches because every increment meets the same row. It must never
// give one id twice, so an id whose use is in doubt is thrown away: there are 2^53 of them.
import type { CallDeadline } from '../params/call-deadline.js';
import type { WideColumnTable } from '../table/wide-column-table.js';
import { storeCorrupt } from '../tracedb-error.js';
import { COUNTER_COLUMN, COUNTER_ROW, INSTANCE_FAMILY } from './gold-keys.js';

/** Gives ids from 1 upwards, each once over all processes. */
export class IdSource {
  // Of the last batch: ids from #next to #end, without #end.
  #next = 0;
  #end = 0;
  #batches = 0;
  #last: Promise<unknown> = Promise.resolve();

  readonly #table: WideColumnTable;
  readonly #batchSize: number;

  constructor(table: WideColumnTable, batchSize: number) {
    this.#table = table;
    this.#batchSize = batchSize;
  }

  /** Increments of the counter so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Ids reserved and not given yet. */
  get left(): number {
    return this.#end - this.#next;
  }

  /** `count` ids: what is left of the last batch, then of one new batch. */
  take(count: number, deadline: CallDeadline): Promise<number[]> {
    // One after another: two callers must not reserve a batch each when one is enough.
    const mine = this.#last.then(() => this.#take(count, deadline));
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #take(count: number, deadline: CallDeadline): Promise<number[]> {
    const ids = this.#fromBatch(count);
    if (ids.length === count) return ids;
    // Whole batches, so that what a writer of many digests leaves over is still about one.
    const size = Math.ceil((count - ids.length) / this.#batchSize) * this.#batchSize;
    const end = await this.#table.incrementCell(COUNTER_ROW, INSTANCE_FAMILY, COUNTER_COLUMN, size, deadline.next());
    if (!Number.isSafeInteger(end) || end < size) {
      throw storeCorrupt(
        `the counter of digest ids of ${this.#table.location} gave ${end} after adding ${size}; restore its row ${COUNTER_ROW}`,
      );
    }
    this.#batches++;
    this.#next = end - size + 1;
    this.#end = end + 1;
    return [...ids, ...this.#fromBatch(count - ids.length)];
  }

  #fromBatch(count: number): number[] {
    const first = this.#next;
    this.#next = Math.min(this.#end, first + count);
    return Array.from({ length: this.#next - first }, (_, i) => first + i);
  }
}
