// Batches of the OpenTelemetry SDK for the exporters suite: the same spans as in spans.mjs, caught on their way to an
// exporter.
import { api, contextManager, provider } from '../peers/otel.mjs';
import { EVENT, hasEvent, PROPERTIES, SPANS_PER_TRACE } from './shape.mjs';

/** A tracer whose finished spans wait until `flush()`, which hands them over in batches of `maxExportBatchSize`. */
export function makeTracer(exporter, maxExportBatchSize) {
  api.context.setGlobalContextManager(contextManager.enable());
  const made = provider(exporter, { maxQueueSize: 1 << 20, maxExportBatchSize, scheduledDelayMillis: 3_600_000 });
  const tracer = made.provider.getTracer('bench');
  const makeTrace = () =>
    tracer.startActiveSpan('query', { attributes: PROPERTIES }, (root) => {
      for (let i = 1; i < SPANS_PER_TRACE; i++) {
        tracer.startActiveSpan('read row', { attributes: PROPERTIES }, (span) => {
          if (hasEvent(i)) span.addEvent(EVENT.name, EVENT.properties);
          span.end();
        });
      }
      root.end();
    });
  return { makeTrace, flush: () => made.processor.forceFlush() };
}

/** The spans an exporter gets for so many traces. */
export async function spansOf(traces) {
  const caught = [];
  const exporter = {
    export(spans, done) {
      caught.push(...spans);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const { makeTrace, flush } = makeTracer(exporter, traces * SPANS_PER_TRACE);
  for (let i = 0; i < traces; i++) makeTrace();
  await flush();
  return caught;
}
