// How far each report got, so that a retry neither sends spans twice that arrived nor counts a span twice that is too
// large. Held weakly: a report that is dropped leaves nothing behind.

import type { ReportBatch } from '../../collector/reporter.js';
import type { FinishedSpan } from '../../record/finished-span.js';

interface Progress {
  /** Index of the first span that has not arrived. */
  next: number;
  /** Too large spans before this index have been counted. */
  examined: number;
}

export class DeliveryProgress {
  readonly #byBatch = new WeakMap<ReportBatch, Progress>();
  spansTooLarge = 0;
  /** What the user should know last; empty when nothing went wrong yet. */
  lastError = '';

  constructor(
    readonly reporter: string,
    readonly maxBytes: number,
    /** The option that raises the bound. */
    readonly option: string,
  ) {}

  nextSpan(batch: ReportBatch): number {
    return this.#of(batch).next;
  }

  arrived(batch: ReportBatch, throughSpan: number): void {
    this.#of(batch).next = throughSpan;
  }

  tooLarge(batch: ReportBatch, index: number, span: FinishedSpan, neededBytes: number): void {
    const progress = this.#of(batch);
    if (index < progress.examined) return;
    progress.examined = index + 1;
    this.lastError =
      `${this.reporter} left out span ${JSON.stringify(span.name.slice(0, 100))} of trace ${span.traceId}: it needs ` +
      `${neededBytes} bytes and ${this.option} is ${this.maxBytes}; record less on it, or use protocol 'otlp'`;
    // Once: a program that records one such span records many. The others are in stats().
    if (this.spansTooLarge++ === 0) {
      process.emitWarning(this.lastError, { type: 'SpanlineWarning', code: 'ERR_SPANLINE_SPAN_TOO_LARGE' });
    }
  }

  #of(batch: ReportBatch): Progress {
    let progress = this.#byBatch.get(batch);
    if (progress === undefined) {
      progress = { next: 0, examined: 0 };
      this.#byBatch.set(batch, progress);
    }
    return progress;
  }
}
