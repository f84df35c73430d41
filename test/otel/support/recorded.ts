// A collector whose spans a test gets as records, and the API set up with a provider on it.
import { context, propagation, trace } from '@opentelemetry/api';
import { onTestFinished } from 'vitest';
import { Collector } from '../../../src/collector/collector.js';
import type { CollectorOptions } from '../../../src/collector/options.js';
import type { TracerProviderOptions } from '../../../src/otel/recording-provider.js';
import { SpanlineTracerProvider } from '../../../src/otel/tracer-provider.js';
import type { SpanRecord } from '../../../src/record/record.js';

export interface Recorded {
  readonly collector: Collector;
  readonly provider: SpanlineTracerProvider;
  /** What has been reported so far, by name. */
  spans(): Promise<Record<string, SpanRecord>>;
}

/** Until the test is over. */
export const register = (options: TracerProviderOptions = {}, ofCollector: CollectorOptions = {}): Recorded => {
  // Not a hook of the file: files that share a worker share this module, and only the first of them would have it.
  onTestFinished(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });
  const collector = new Collector({ serviceName: 'test', ...ofCollector });
  const found: SpanRecord[] = [];
  collector.setReporter({
    name: 'test',
    report({ traces }) {
      for (const one of traces) found.push(...one.spans);
    },
  });
  const provider = new SpanlineTracerProvider({ collector, ...options });
  provider.register();
  return {
    collector,
    provider,
    async spans() {
      await collector.flush();
      return Object.fromEntries(found.map((span) => [span.name, span]));
    },
  };
};
