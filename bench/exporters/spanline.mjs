// Subject: spanline's encoders and reporters.

import * as spanline from '../../dist/bench/encoders.js';
import { perBatch, perBatchSync, SPANS_PER_TRACE, STALL_SPANS, stall, TRACES } from './shape.mjs';
import { spansOf } from './spans.mjs';
import { startSink } from './start-sink.mjs';

const { encodeJaegerThrift, encodeOtlpJson, encodeOtlpProtobuf, flush, JaegerReporter, OtlpReporter, setReporter } =
  spanline;
const { batchOf, makeTrace } = spansOf(spanline);
const { http, udp } = await startSink();
const caught = await batchOf(TRACES);
/** A reporter remembers which spans of a batch arrived, so that each report gets an object of its own. */
const batch = () => ({ ...caught, signal: new AbortController().signal });

const overUdp = new JaegerReporter({ protocol: 'thrift-compact-udp', host: '127.0.0.1', port: udp });
const overHttp = new OtlpReporter({ endpoint: `http://127.0.0.1:${http}` });

const prepare = async () => {
  setReporter(overHttp);
  for (let i = 0; i < STALL_SPANS / SPANS_PER_TRACE; i++) makeTrace();
};

export const subject = 'spanline';
export const cases = [
  perBatchSync('otlp-protobuf', () => encodeOtlpProtobuf(caught)),
  perBatchSync('otlp-json', () => encodeOtlpJson(caught)),
  perBatchSync('jaeger-thrift', () => encodeJaegerThrift(caught)),
  perBatch('jaeger-udp-send', () => overUdp.report(batch())),
  stall(prepare, () => flush()),
];
