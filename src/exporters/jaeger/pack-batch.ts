// Walks the spans of a report and hands out full messages, with places to pause. It does no input or output itself, so
// that the same walk serves sending with waits and sending at the exit of the process.
import { warn } from '../../base/calls/attempt.js';
import type { Slices } from '../../base/calls/timers.js';
import type { ReportBatch } from '../../collector/reporter.js';
import type { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { BatchSpans, type SpanRange, type Undelivered, UndeliveredByBatch } from '../batch-spans.js';

/** Packs batches and knows what became of their spans: too large ones are settled at once, so that a retry neither packs nor counts them again. */
export class DeliveryProgress {
  readonly #undelivered = new UndeliveredByBatch();
  spansTooLarge = 0;
  /** What the user should know last; empty when nothing went wrong yet. */
  lastError = '';

  constructor(
    readonly reporter: string,
    readonly packer: BatchPacker,
    /** The option that raises the bound. */
    readonly option: string,
  ) {}

  of(batch: ReportBatch): Undelivered {
    return this.#undelivered.of(batch);
  }

  /** What is left of a batch, by {@link packBatch}. */
  pack(batch: ReportBatch, slices?: Slices): Generator<PackedMessage | null, void> {
    const undelivered = this.of(batch);
    const leaveOut: OnTooLarge = (index, span, neededBytes) => {
      undelivered.settle({ from: index, to: index + 1 });
      this.#noteTooLarge(span, neededBytes);
    };
    return packBatch(this.packer, batch, undelivered.ranges, leaveOut, slices);
  }

  #noteTooLarge(span: FinishedSpan, neededBytes: number): void {
    this.lastError =
      `${this.reporter} left out span ${JSON.stringify(span.name.slice(0, 100))} of trace ${span.traceId}: it needs ` +
      `${neededBytes} bytes and ${this.option} is ${this.packer.maxBytes}; record less on it, or use protocol 'otlp'`;
    // Once: a program that records one such span records many. The others are in stats().
    if (this.spansTooLarge++ === 0) warn(this.lastError, 'ERR_SPANLINE_SPAN_TOO_LARGE');
  }
}

export interface PackedMessage {
  /** Overwritten when the walk goes on. */
  readonly bytes: Buffer;
  readonly spanCount: number;
  /** All spans of the batch before this index are in this message, in an earlier one, or settled. */
  readonly throughSpan: number;
}

/** Called for each span that no message can hold, with its index in the report. */
type OnTooLarge = (index: number, span: FinishedSpan, neededBytes: number) => void;

/** Yields messages of the spans in `ranges`, and null where `slices` is over and the caller must let others run. */
export function* packBatch(
  packer: BatchPacker,
  batch: ReportBatch,
  ranges: readonly SpanRange[],
  onTooLarge: OnTooLarge,
  slices?: Slices,
): Generator<PackedMessage | null, void> {
  packer.begin(batch.resource);
  const spans = new BatchSpans(batch);
  for (const { from, to } of ranges) {
    for (let i = from; i < to; i++) {
      const span = spans.viewAt(i);
      const packet = packer.add(span);
      if (packer.refusedBytes > 0) onTooLarge(i, span, packer.refusedBytes);
      if (packet !== null) yield { ...packet, throughSpan: i };
      if (slices?.isOver(packer.spanBytes)) yield null;
    }
  }
  const last = packer.finish();
  if (last !== null) yield { ...last, throughSpan: batch.spanCount };
}
