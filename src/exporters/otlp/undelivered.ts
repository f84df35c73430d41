// Which spans of a batch still have to go out, kept with the batch while the collector tries it again: a span that
// arrived, or that was given up and counted, must never be taken up a second time. Held weakly, so that a dropped batch
// leaves nothing behind.
import type { ReportBatch } from '../../collector/reporter.js';

/** Indices from `from` up to, not including, `to`. Spans are numbered through all traces of the batch. */
export interface SpanRange {
  readonly from: number;
  readonly to: number;
}

/** The spans of one batch that are not settled yet. */
export class Undelivered {
  #ranges: SpanRange[];
  /** Spans of this batch that a server or file took. */
  deliveredSpans = 0;

  constructor(spanCount: number) {
    this.#ranges = [{ from: 0, to: spanCount }];
  }

  /** In rising order. */
  get ranges(): readonly SpanRange[] {
    return this.#ranges;
  }

  /** Nothing is left to do about these spans. */
  settle({ from, to }: SpanRange): void {
    this.#ranges = this.#ranges.flatMap((range) =>
      [
        { from: range.from, to: Math.min(range.to, from) },
        { from: Math.max(range.from, to), to: range.to },
      ].filter((rest) => rest.from < rest.to),
    );
  }
}

/** Remembers {@link Undelivered} for each batch. */
export class UndeliveredByBatch {
  readonly #byBatch = new WeakMap<ReportBatch, Undelivered>();

  of(batch: ReportBatch): Undelivered {
    let undelivered = this.#byBatch.get(batch);
    if (undelivered === undefined) {
      undelivered = new Undelivered(batch.spanCount);
      this.#byBatch.set(batch, undelivered);
    }
    return undelivered;
  }
}
