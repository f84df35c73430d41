// The encoders inside spanline's reporters, as functions of a batch: what the exporters suite times without sending.
// Bundled from src for the benchmark with all that records and reports, because no entry of the package hands encoders out, and a second copy of the
// library would get records in place of rows.
import type { ReportBatch } from '../../src/collector/reporter.js';
import { BatchSpans, RequestBuilder } from '../../src/exporters/batch-spans.js';
import { packBatch } from '../../src/exporters/jaeger/pack-batch.js';
import { BatchPacker } from '../../src/formats/jaeger-thrift/batch-packer.js';
import { CompactWriter } from '../../src/formats/jaeger-thrift/compact-writer.js';
import { JsonFormat } from '../../src/formats/otlp/write-json.js';
import { ProtobufFormat } from '../../src/formats/otlp/write-protobuf.js';

export { JaegerReporter } from '../../src/exporters/jaeger.js';
export { OtlpReporter } from '../../src/exporters/otlp.js';
export * from '../../src/index.js';

const MAX_PACKET_BYTES = 65_000;
const MAX_REQUEST_BYTES = 64 << 20;

const otlp = (builder: RequestBuilder) => (batch: ReportBatch) => {
  builder.begin(batch.resource);
  const spans = new BatchSpans(batch);
  for (let i = 0; i < batch.spanCount; i++) {
    if (builder.add(spans.viewAt(i)) !== 'added') throw new Error('a span of the benchmark was refused');
  }
  return builder.end();
};

export const encodeOtlpProtobuf = otlp(new RequestBuilder(new ProtobufFormat(), MAX_REQUEST_BYTES));
export const encodeOtlpJson = otlp(new RequestBuilder(new JsonFormat(), MAX_REQUEST_BYTES));

const packer = new BatchPacker(new CompactWriter(), 'agent-call', MAX_PACKET_BYTES, true);

/** Thrift compact, in packets as they go to an agent; their total bytes. */
export function encodeJaegerThrift(batch: ReportBatch): number {
  let bytes = 0;
  for (const message of packBatch(packer, batch, [{ from: 0, to: batch.spanCount }], () => {}))
    bytes += message === null ? 0 : message.bytes.length;
  return bytes;
}
