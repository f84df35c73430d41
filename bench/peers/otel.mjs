// OpenTelemetry SDK 2 as benchmarks use it: batch processor, no-op exporter. It stands here so that imports resolve to
// this folder's node_modules.
import { createRequire } from 'node:module';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const { version } = createRequire(import.meta.url)('@opentelemetry/sdk-trace-base/package.json');

export { api };
export const subject = `opentelemetry@${version}`;
export const contextManager = new AsyncLocalStorageContextManager();

/** A provider over `exporter`, whose queue is large enough to drop nothing between two flushes. */
export function provider(exporter, processorOptions) {
  const processor = new BatchSpanProcessor(exporter, processorOptions);
  return { processor, provider: new BasicTracerProvider({ spanProcessors: [processor] }) };
}
