// Spans that a sampler wants recorded and not sampled: processors have them, and nothing of them is left anywhere.
import { SamplingDecision } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { Collector } from '../../src/index.js';
import { SpanlineTracerProvider } from '../../src/otel/index.js';

test('roots that are recorded for processors alone take no number of the collector, ended or not', () => {
  const collector = new Collector();
  const names: string[] = [];
  const provider = new SpanlineTracerProvider({
    collector,
    sampler: { shouldSample: () => ({ decision: SamplingDecision.RECORD }), toString: () => 'record' },
    spanProcessors: [
      {
        onStart() {},
        onEnd: ({ name }: { readonly name: string }) => void names.push(name),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const tracer = provider.getTracer('test');
  for (let i = 0; i < 1000; i++) {
    const span = tracer.startSpan(i % 2 === 0 ? 'ended' : 'open');
    if (i % 2 === 0) span.end();
  }
  expect(names).toEqual(Array.from({ length: 500 }, () => 'ended'));
  expect(collector.rows.traces.size).toBe(0);
  expect(collector.rows.size).toMatchObject({ chunks: 0, bytes: 0 });
});
