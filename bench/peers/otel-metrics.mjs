// OpenTelemetry's metrics SDK 2 as benchmarks use it: a reader that nobody asks. It stands here so that imports resolve to this folder's node_modules.
import { createRequire } from 'node:module';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const { version } = createRequire(import.meta.url)('@opentelemetry/sdk-metrics/package.json');
const exporter = {
  export: (_metrics, done) => done({ code: 0 }),
  shutdown: async () => {},
  forceFlush: async () => {},
};
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });

export { api };
export const subject = `opentelemetry@${version}`;
export const contextManager = new AsyncLocalStorageContextManager();
export const meter = new MeterProvider({ readers: [reader] }).getMeter('bench');

/** Options of a histogram. */
export const optionsOf = (boundaries) => ({ unit: 's', advice: { explicitBucketBoundaries: boundaries } });
