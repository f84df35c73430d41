// Subject: our reporters sending to a real Jaeger, up to its acknowledgement. UDP has none: there it is the time until the datagrams are with
// the system and nobody refused them.

import { JaegerReporter } from '../../dist/esm/exporters/jaeger.js';
import { OtelSdkReporter } from '../../dist/esm/exporters/otel-sdk.js';
import { OtlpReporter } from '../../dist/esm/exporters/otlp.js';
import * as spanline from '../../dist/esm/index.js';
import { findJaeger, startJaeger } from '../../scripts/lib/jaeger.mjs';
import { OTLPTraceExporter } from '../peers/exporters.mjs';
import { BATCH, TRACES } from './shape.mjs';
import { spansOf } from './spans.mjs';

/** Each with traces of its own: when one comes again, Jaeger has forgotten it, so that what it holds does not grow. */
const BATCHES = 64;

const { otlpUrl, thriftUrl, compactPort, binaryPort } = await startJaeger(findJaeger(), {
  maxTraces: (BATCHES / 2) * TRACES,
});
const { batchOf } = spansOf(spanline);
const caught = [];
for (let i = 0; i < BATCHES; i++) caught.push(await batchOf(TRACES));
let turn = 0;
/** A reporter remembers which spans of a batch arrived, so that each report gets an object of its own. */
const batch = () => ({ ...caught[turn++ % BATCHES], signal: new AbortController().signal });
const host = '127.0.0.1';

const REPORTERS = {
  'jaeger-ack-otlp-protobuf': new OtlpReporter({ endpoint: otlpUrl }),
  'jaeger-ack-otlp-json': new OtlpReporter({ endpoint: otlpUrl, protocol: 'json' }),
  'jaeger-ack-thrift-http': new JaegerReporter({ protocol: 'thrift-http', endpoint: thriftUrl }),
  'jaeger-sent-compact-udp': new JaegerReporter({ protocol: 'thrift-compact-udp', host, port: compactPort }),
  'jaeger-sent-binary-udp': new JaegerReporter({ protocol: 'thrift-binary-udp', host, port: binaryPort }),
  'jaeger-ack-official-otlp': new OtelSdkReporter(new OTLPTraceExporter({ url: `${otlpUrl}/v1/traces` })),
};

export const subject = 'spanline-to-jaeger';
/** An operation is a span, its figure all the time that passed. */
export const cases = Object.entries(REPORTERS).map(([name, reporter]) => ({
  name,
  n: BATCH,
  opsPerRun: BATCH,
  async run(repeats) {
    for (let i = 0; i < repeats; i++) await reporter.report(batch());
  },
}));
