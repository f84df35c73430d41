// OpenTelemetry SDK 3 as benchmarks use it: batch processor, no-op exporter. It stands here so that imports resolve to
// this folder's node_modules.
import { readFileSync } from 'node:fs';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const manifest = new URL('./node_modules/@opentelemetry/sdk-trace/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));

export { api };
export const subject = `opentelemetry@${version}`;
export const contextManager = new AsyncLocalStorageContextManager();

/** A provider over `exporter`, whose queue is large enough to drop nothing between two flushes. */
export function provider(exporter, processorOptions) {
  const processor = new BatchSpanProcessor({ exporter, ...processorOptions });
  return { processor, provider: new TracerProvider({ spanProcessors: [processor] }) };
}
