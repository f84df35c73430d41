// The iterator a caller gets: nothing happens before its first `next()`, and `return()` ends the read at once, even while a
// batch is being waited for.
import type { RowReader } from './row-reader.js';

type Result<T> = IteratorResult<readonly T[], undefined>;

const OVER = { done: true, value: undefined } as const;

/** Batches of the read that `open` begins. */
export class LazyBatches<T> implements AsyncIterableIterator<readonly T[], undefined> {
  #reader: RowReader<T> | undefined;
  #isOver = false;

  readonly #open: () => RowReader<T>;

  constructor(open: () => RowReader<T>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result<T>> {
    if (this.#isOver) return OVER;
    if (this.#reader === undefined) {
      try {
        this.#reader = this.#open();
      } catch (error) {
        this.#isOver = true;
        throw error;
      }
    }
    return this.#reader.next();
  }

  async return(): Promise<Result<T>> {
    this.#isOver = true;
    this.#reader?.stop();
    return OVER;
  }
}
