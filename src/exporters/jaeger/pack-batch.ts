// Walks the spans of a report and hands out full messages, with places to pause. It does no input or output itself, so
// that the same walk serves sending with waits and sending at the exit of the process.

import type { Slices } from '../../base/calls/slices.js';
import type { ReportBatch } from '../../collector/reporter.js';
import type { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { BatchSpans } from '../batch-spans.js';

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
