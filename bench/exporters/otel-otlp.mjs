// Subject: the official OTLP serializers, and the official OTLP exporter behind the batch processor for the stall.
import { JsonTraceSerializer, OTLPTraceExporter, otlpSubject, ProtobufTraceSerializer } from '../peers/exporters.mjs';
import { makeTracer, spansOf } from './otel-spans.mjs';
import { perBatchSync, SPANS_PER_TRACE, STALL_SPANS, stall, TRACES } from './shape.mjs';
import { startSink } from './start-sink.mjs';

const { http } = await startSink();
const spans = await spansOf(TRACES);
// A flush sends all batches at once; the default limit of 30 would refuse most of the 50,000 spans.
const exporter = new OTLPTraceExporter({ concurrencyLimit: 1000, url: `http://127.0.0.1:${http}/v1/traces` });
const stalled = makeTracer(exporter, 512);

const prepare = async () => {
  for (let i = 0; i < STALL_SPANS / SPANS_PER_TRACE; i++) stalled.makeTrace();
};

export const subject = otlpSubject;
export const cases = [
  perBatchSync('otlp-protobuf', () => ProtobufTraceSerializer.serializeRequest(spans)),
  perBatchSync('otlp-json', () => JsonTraceSerializer.serializeRequest(spans)),
  stall(prepare, stalled.flush),
];
