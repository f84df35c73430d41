// Walks the spans of a report and hands out full messages, with places to pause. It does no input or output itself, so
// that the same walk serves sending with waits and sending at the exit of the process.
//
// How far each report got, so that a retry neither sends spans twice that arrived nor counts a span twice that is too
// large. Held weakly: a report that is dropped leaves nothing behind.
import { warn } from '../../base/calls/attempt.js';
import type { Slices } from '../../base/calls/timers.js';
import { getOrMake } from '../../base/maps/maps.js';
import type { ReportBatch } from '../../collector/reporter.js';
import type { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { BatchSpans } from '../batch-spans.js';

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
    if (this.spansTooLarge++ === 0) warn(this.lastError, 'ERR_SPANLINE_SPAN_TOO_LARGE');
  }

  #of(batch: ReportBatch): Progress {
    return getOrMake(this.#byBatch, batch, () => ({ next: 0, examined: 0 }));
  }
}

export interface PackedMessage {
  /** Overwritten when the walk goes on. */
  readonly bytes: Buffer;
  readonly spanCount: number;
  /** All spans of the report before this index are in this message, in an earlier one, or too large. */
  readonly throughSpan: number;
}

/** Called for each span that no message can hold, with its index in the report. */
export type OnTooLarge = (index: number, span: FinishedSpan, neededBytes: number) => void;

/** Yields messages, and null where `slices` is over and the caller must let others run. Starts at the span `from`. */
export function* packBatch(
  packer: BatchPacker,
  batch: ReportBatch,
  from: number,
  onTooLarge: OnTooLarge,
  slices?: Slices,
): Generator<PackedMessage | null, void> {
  packer.begin(batch.resource);
  const spans = new BatchSpans(batch);
  for (let i = from; i < batch.spanCount; i++) {
    const span = spans.viewAt(i);
    const packet = packer.add(span);
    if (packer.refusedBytes > 0) onTooLarge(i, span, packer.refusedBytes);
    if (packet !== null) yield { ...packet, throughSpan: i };
    if (slices?.isOver(packer.spanBytes)) yield null;
  }
  const last = packer.finish();
  if (last !== null) yield { ...last, throughSpan: batch.spanCount };
}
