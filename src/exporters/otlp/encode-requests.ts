// Cuts what is left of a batch into requests, in slices of time. A request holds consecutive spans, so that its success
// can be remembered as one range.
//
// Which spans of a batch still have to go out, kept with the batch while the collector tries it again: a span that
// arrived, or that was given up and counted, must never be taken up a second time. Held weakly, so that a dropped batch
// leaves nothing behind.

import { Slices } from '../../base/calls/timers.js';
import type { ReportBatch } from '../../collector/reporter.js';
import type { RequestBuilder } from '../../formats/otlp/request-builder.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { BatchSpans } from '../batch-spans.js';

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

/** One request, ready to be sent. */
export interface EncodedRequest {
  /** To be given back with `release` of the builder. */
  readonly body: Buffer<ArrayBuffer>;
  /** The spans in it; those left out between them are settled already. */
  readonly range: SpanRange;
  readonly spanCount: number;
}

/** Called with a span that fits in no request. It must settle the span, or a retry calls it again. */
export type LeftOut = (span: FinishedSpan, index: number, reason: 'too-large' | 'invalid') => void;

// Spans, and bytes, between two places to pause: to yield for each span costs as much as to encode a small one.
const PAUSE_SPANS = 16;
const PAUSE_BYTES = 16 << 10;

/** Yields requests as they are complete, and between them the bytes written since, where the caller may pause. */
export const encodeRange = function* (
  batch: ReportBatch,
  range: SpanRange,
  builder: RequestBuilder,
  maxSpans: number,
  leftOut: LeftOut,
): Generator<EncodedRequest | number, void> {
  const spans = new BatchSpans(batch);
  let from = range.from;
  let spansSince = 0;
  let bytesSince = 0;
  builder.begin(batch.resource);
  const cut = (to: number): EncodedRequest => {
    const request = { body: builder.end(), range: { from, to }, spanCount: builder.spanCount };
    builder.begin(batch.resource);
    from = to;
    return request;
  };
  for (let i = range.from; i < range.to; i++) {
    const span = spans.viewAt(i);
    const before = builder.byteLength;
    let added = builder.add(span);
    if (added === 'full' && builder.spanCount > 0) {
      yield cut(i);
      added = builder.add(span);
    }
    if (added !== 'added') leftOut(span, i, added === 'full' ? 'too-large' : 'invalid');
    bytesSince += Math.max(0, builder.byteLength - before);
    if (++spansSince === PAUSE_SPANS || bytesSince > PAUSE_BYTES) {
      yield bytesSince;
      spansSince = 0;
      bytesSince = 0;
    }
    if (builder.spanCount === maxSpans) yield cut(i + 1);
  }
  if (builder.spanCount > 0) yield cut(range.to);
};

/** The requests for all spans of `undelivered`, one after another. Stops when the signal is aborted. */
export const encodeRequests = async function* (
  batch: ReportBatch,
  undelivered: Undelivered,
  builder: RequestBuilder,
  maxSpans: number,
  leftOut: LeftOut,
  signal: AbortSignal,
): AsyncGenerator<EncodedRequest, void> {
  const slices = new Slices();
  for (const range of undelivered.ranges) {
    for (const step of encodeRange(batch, range, builder, maxSpans, leftOut)) {
      if (typeof step === 'number') {
        if (slices.isPast) await slices.next();
      } else {
        yield step;
        // To write megabytes takes as long as a slice.
        await slices.next();
      }
      if (signal.aborted) return;
    }
  }
};
