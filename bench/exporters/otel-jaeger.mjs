// Subject: the official Jaeger exporter. For `jaeger-thrift` its socket is replaced by one that takes the packet and does
// nothing, so that only the encoding is left.
import { JaegerExporter, jaegerSubject } from '../peers/exporters.mjs';
import { spansOf } from './otel-spans.mjs';
import { perBatch, TRACES } from './shape.mjs';
import { startSink } from './start-sink.mjs';

const { udp } = await startSink();
const spans = await spansOf(TRACES);

const exportWith = (exporter) => () =>
  new Promise((resolve, reject) => {
    exporter.export(spans, ({ code, error }) => (code === 0 ? resolve() : reject(error)));
  });

const sending = new JaegerExporter({ host: '127.0.0.1', port: udp });
const encoding = new JaegerExporter({ host: '127.0.0.1', port: udp });
// The first export makes the sender.
await exportWith(encoding)();
encoding._sender._client.close();
encoding._sender._client = { send: (_buffer, _offset, length, _port, _host, done) => done(null, length), close() {} };

export const subject = jaegerSubject;
export const cases = [
  perBatch('jaeger-thrift', exportWith(encoding)),
  perBatch('jaeger-udp-send', exportWith(sending)),
];
