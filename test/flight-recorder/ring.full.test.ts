// The ring while spans go on: at any moment each span is there once, and what is older than the age is let go.
import { expect, test } from 'vitest';
import { LocalSpan, Span, type SpanContext } from '../../src/index.js';
import { flight, namesOf } from './support/flight.js';

test('at any moment, each span of 16 requests at once is there once, and below its parent', async () => {
  const { root, snapshot, collector } = flight({
    reportThresholdSpans: 500,
    sampler: ({ context }) => context.w3 % 2 === 0,
  });
  const started = new Map<string, string>();
  const ended = new Set<string>();
  const note = (span: Span): Span => {
    const { traceId, spanId } = span.context as SpanContext;
    started.set(spanId, traceId);
    return span;
  };
  const end = (span: Span): void => {
    span.end();
    ended.add((span.context as SpanContext).spanId);
  };
  const request = async (): Promise<void> => {
    const top = note(root('request'));
    await top.run(async () => {
      for (let i = 0; i < 5; i++) {
        const child = note(Span.startWithLocalParent('child'));
        await new Promise((resolve) => setImmediate(resolve));
        child.run(() => LocalSpan.start('local').end());
        end(child);
      }
    });
    end(top);
  };
  let checks = 0;
  const check = (): void => {
    checks++;
    const seen = new Map<string, { parent: string; isOpen: boolean }>();
    // One expectation for all: each costs more than the look at a span.
    const wrong: string[] = [];
    for (const { traceId, spans } of snapshot().traces()) {
      for (const { record, isOpen } of spans) {
        if (seen.has(record.spanId)) wrong.push(`${record.spanId} is there twice`);
        seen.set(record.spanId, { parent: record.parentSpanId, isOpen });
        if (!record.isLocal && started.get(record.spanId) !== traceId) wrong.push(`${record.spanId} in another trace`);
      }
    }
    for (const [id] of started)
      if (seen.get(id)?.isOpen !== !ended.has(id)) wrong.push(`${id} is lost, or not as it was`);
    for (const [id, { parent }] of seen) if (parent !== '' && !seen.has(parent)) wrong.push(`${id} without its parent`);
    expect(wrong).toEqual([]);
  };
  for (let wave = 0; wave < 60; wave++) {
    const running = Promise.all(Array.from({ length: 16 }, request));
    for (let turn = 0; turn < wave % 7; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (wave % 3 === 0) check();
    if (wave % 10 === 0) await collector.flush();
    await running;
  }
  check();
  expect(checks).toBe(21);
  expect(ended.size).toBe(60 * 16 * 6);
});

test('what is older than the age is let go', async () => {
  const { root, recorder, snapshot } = flight({}, { minAgeMs: 50 });
  root('old').end();
  snapshot();
  await new Promise((resolve) => setTimeout(resolve, 80));
  root('new').end();
  expect(namesOf(snapshot())).toEqual(['new']);
  expect(recorder.stats().spansEvictedEarly).toBe(0);
});
