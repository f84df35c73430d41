// A read of a table with its span. It must end the span however the read ends: at its last row, at a `break`, by a failure, or
// without ever having begun.
import type { Span } from '../../span/span.js';
import { failSpan, roundMs, under } from '../node-span.js';

/** Hands on the batches of a read and counts them. */
export class TracedRead<T> implements AsyncIterableIterator<readonly T[]> {
  readonly #inner: AsyncIterator<readonly T[]>;
  #rows = 0;
  #bytes = 0;
  #batches = 0;
  #waitMs = 0;

  readonly #span: Span;
  readonly #bytesOf: (items: readonly T[]) => number;

  constructor(span: Span, open: () => AsyncIterator<readonly T[]>, bytesOf: (items: readonly T[]) => number) {
    this.#span = span;
    this.#bytesOf = bytesOf;
    try {
      this.#inner = under(span, open);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly T[], undefined>> {
    const since = performance.now();
    try {
      // Under the span, so that the CPU time of reading is counted there.
      const result = await under(this.#span, () => this.#inner.next());
      this.#waitMs += performance.now() - since;
      if (result.done === true) {
        this.#end();
        return { done: true, value: undefined };
      }
      this.#rows += result.value.length;
      this.#bytes += this.#bytesOf(result.value);
      this.#batches++;
      return result;
    } catch (error) {
      this.#waitMs += performance.now() - since;
      this.#fail(error);
      throw error;
    }
  }

  async return(): Promise<IteratorResult<readonly T[], undefined>> {
    try {
      await this.#inner.return?.();
    } finally {
      this.#end();
    }
    return { done: true, value: undefined };
  }

  #fail(error: unknown): void {
    failSpan(this.#span, error);
    this.#end();
  }

  #end(): void {
    if (!this.#span.isRecording) return;
    const rows = this.#rows;
    const bytes = this.#bytes;
    const batches = this.#batches;
    const waitMs = this.#waitMs;
    this.#span.addProperties({ rows, bytes, batches, 'wait.ms': roundMs(waitMs) });
    this.#span.end();
  }
}
