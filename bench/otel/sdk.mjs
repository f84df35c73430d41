// The provider of an OpenTelemetry SDK, whichever version is handed in: batch processor, an exporter that does nothing.
import { apiCases } from './cases.mjs';

const noopExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
  forceFlush: async () => {},
};

export function sdkCases({ api, contextManager, provider }) {
  // Nothing is dropped between two flushes, which would make spans cheap by losing them.
  const made = provider(noopExporter, { maxQueueSize: 1 << 20, maxExportBatchSize: 512 });
  api.context.setGlobalContextManager(contextManager.enable());
  const drain = () => made.processor.forceFlush();
  return apiCases({ api, tracer: made.provider.getTracer('bench'), drain });
}
