// Subject: OpenTelemetry SDK 2, the memory of spans that wait to be exported.
import { api, contextManager, provider, subject } from '../peers/otel.mjs';
import { retainedBytes } from './retained.mjs';

const exporter = { export: (_spans, done) => done({ code: 0 }), shutdown: async () => {} };
// Never full enough to export by itself: batches go out at a flush only.
const made = provider(exporter, {
  maxQueueSize: 1 << 20,
  maxExportBatchSize: 1 << 19,
  scheduledDelayMillis: 3_600_000,
});
api.context.setGlobalContextManager(contextManager.enable());
const tracer = made.provider.getTracer('bench');

const makeTrace = (n) =>
  tracer.startActiveSpan('root', (root) => {
    for (let i = 0; i < n; i++) tracer.startActiveSpan('span', (span) => span.end());
    root.end();
  });

export { subject };
export const cases = [retainedBytes(makeTrace, () => made.processor.forceFlush())];
