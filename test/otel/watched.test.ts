// Spans that a sampler wants recorded and not sampled: processors have them, and nothing of them is left anywhere.
import { SamplingDecision } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { Collector } from '../../src/index.js';
import { SpanlineTracerProvider } from '../../src/otel/index.js';
import type { OtelSpan } from '../../src/otel/otel-span.js';
import { counted } from '../support/recorder.js';

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
  expect(collector.life.rows.traces.size).toBe(0);
  expect(collector.life.rows.size).toMatchObject({ chunks: 0, bytes: 0 });
});

test('one of them that is cancelled is counted as others are', async () => {
  const provider = new SpanlineTracerProvider({
    sampler: { shouldSample: () => ({ decision: SamplingDecision.RECORD }), toString: () => 'record' },
    spanProcessors: [{ onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} }],
  });
  const { spanlineSpan } = provider.getTracer('test').startSpan('cancelled') as OtelSpan;
  expect(await counted(() => spanlineSpan.cancel())).toEqual({ tracesCancelled: 1 });
});
