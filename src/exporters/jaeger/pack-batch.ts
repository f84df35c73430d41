// Walks the spans of a report and hands out full messages, with places to pause. It does no input or output itself, so
// that the same walk serves sending with waits and sending at the exit of the process.

import type { ReportBatch } from '../../collector/reporter.js';
import type { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import type { SpanRecord } from '../../trace/record.js';
import type { Slices } from '../slices.js';

export interface PackedMessage {
  /** Overwritten when the walk goes on. */
  readonly bytes: Buffer;
  readonly spanCount: number;
  /** All spans of the report before this index are in this message, in an earlier one, or too large. */
  readonly throughSpan: number;
}

/** Called for each span that no message can hold, with its index in the report. */
export type OnTooLarge = (index: number, span: SpanRecord, neededBytes: number) => void;

/** Yields messages, and null where `slices` is over and the caller must let others run. Starts at the span `from`. */
export function* packBatch(
  packer: BatchPacker,
  batch: ReportBatch,
  from: number,
  onTooLarge: OnTooLarge,
  slices?: Slices,
): Generator<PackedMessage | null, void> {
  packer.begin(batch.resource);
  let first = 0;
  for (const trace of batch.traces) {
    for (let i = Math.max(0, from - first); i < trace.spanCount; i++) {
      const span = trace.spanAt(i);
      const packet = packer.add(span);
      if (packer.refusedBytes > 0) onTooLarge(first + i, span, packer.refusedBytes);
      if (packet !== null) yield { ...packet, throughSpan: first + i };
      if (slices?.isOver(packer.spanBytes)) yield null;
    }
    first += trace.spanCount;
  }
  const last = packer.finish();
  if (last !== null) yield { ...last, throughSpan: first };
}
