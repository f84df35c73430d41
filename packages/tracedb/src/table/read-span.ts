// The span of one read of a table: its figures, counted as the read goes on, and its end. An engine is given it and reports to it from within,
// which costs no promise. It must never throw into the read.
import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { failSpan, isWorkWatched, roundMs, under } from '../node-span.js';

const NOT_ASKED = -1;

/** What a read says of itself. */
export class ReadSpan {
  readonly span: Span;
  readonly #isOfRow: boolean;
  #rows = 0;
  #bytes = 0;
  #batches = 0;
  #waitMs = 0;
  #since = NOT_ASKED;

  /** @param isOfRow Of one row, which comes at once: neither batches nor waiting are figures of it. */
  constructor(span: Span, isOfRow: boolean) {
    this.span = span;
    this.#isOfRow = isOfRow;
  }

  /** The store is asked for the next batch. */
  asked(): void {
    if (!this.#isOfRow) this.#since = timers.monotonicMs();
  }

  /** A batch is there. `bytes` are those of keys and values. */
  gave(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    this.#batches++;
    this.#waited();
  }

  /** The read has failed; it ends. */
  failed(error: unknown): void {
    failSpan(this.span, error);
  }

  /** The read is over, for whatever reason. Also after a failure. */
  ended(): void {
    const { span } = this;
    if (!span.isRecording) return;
    this.#waited();
    const figures = ['rows', this.#rows, 'bytes', this.#bytes];
    if (!this.#isOfRow) figures.push('batches', this.#batches, 'wait.ms', roundMs(this.#waitMs));
    span.addAll(figures);
    span.end();
  }

  /** The store has answered. */
  #waited(): void {
    if (this.#since === NOT_ASKED) return;
    this.#waitMs += timers.monotonicMs() - this.#since;
    this.#since = NOT_ASKED;
  }
}

/** Hands on the batches of a read under its span. Its promises are those of the read itself. */
export class TracedRead<T> implements AsyncIterableIterator<T> {
  readonly #span: ReadSpan;
  readonly #inner: AsyncGenerator<T, undefined, void>;
  readonly #startsSpans: boolean;
  #hasBegun = false;

  constructor(span: ReadSpan, inner: AsyncGenerator<T, undefined, void>, startsSpans: boolean) {
    this.#span = span;
    this.#inner = inner;
    this.#startsSpans = startsSpans;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#hasBegun = true;
    if (!this.#startsSpans && !isWorkWatched()) return this.#inner.next();
    return under(this.#span.span, () => this.#inner.next());
  }

  return(): Promise<IteratorResult<T, undefined>> {
    // Of a read that has not begun nothing runs.
    if (!this.#hasBegun) this.#span.ended();
    return this.#inner.return(undefined);
  }
}
