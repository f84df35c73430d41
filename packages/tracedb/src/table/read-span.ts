// The span of one read of a table: its figures, counted as the read goes on, and its end. An engine whose reads are synchronous is given it and tells it
// everything from within, which costs no promise; around the read of any other engine stands a `CountedRead` (open-table.ts).
// It must never throw into the read.
import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { failSpan, roundMs } from '../node-span.js';

/** What a read says of itself to whoever watches it. */
export interface ReadWatch {
  /** The store is asked for the next batch. */
  asked(): void;
  /** A batch is there. `bytes` are those of keys and values. */
  gave(rows: number, bytes: number): void;
  /** The read has failed; it ends. */
  failed(error: unknown): void;
  /** The read is over, for whatever reason. Also after a failure. */
  ended(): void;
}

const NOT_ASKED = -1;

export class ReadSpan implements ReadWatch {
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

  asked(): void {
    if (!this.#isOfRow) this.#since = timers.monotonicMs();
  }

  gave(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    this.#batches++;
    this.#waited();
  }

  failed(error: unknown): void {
    failSpan(this.span, error);
  }

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
