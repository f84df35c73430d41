// A reporter is called when there is something: never with an empty batch, and once per interval, not once per trace.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Collector, Span, SpanContext } from '../../src/index.js';

test('idle, unsampled, cancelled and not kept: no call', async () => {
  let calls = 0;
  const collector = new Collector({ reportIntervalMs: 1, keep: (trace) => trace.root?.name !== 'drop' });
  collector.setReporter({
    name: 'r',
    report: () => {
      calls++;
    },
  });
  Span.root('unsampled', SpanContext.random({ sampled: false }), { collector }).end();
  const cancelled = Span.root('cancelled', undefined, { collector });
  cancelled.cancel();
  cancelled.end();
  Span.root('drop', undefined, { collector }).end();
  await sleep(5);
  await collector.flush();
  expect(calls).toBe(0);
});

test('many traces, few calls; batches keep their bound, a larger trace is not split', async () => {
  const sizes: number[] = [];
  const collector = new Collector({ maxBatchSpans: 10 });
  collector.setReporter({
    name: 'r',
    report: (batch) => {
      sizes.push(batch.spanCount);
    },
  });
  for (let i = 0; i < 25; i++) Span.root('root', undefined, { collector }).end();
  const large = Span.root('large', undefined, { collector });
  for (let i = 0; i < 30; i++) Span.start('child', large).end();
  large.end();
  await collector.flush();
  expect(sizes).toEqual([10, 10, 5, 31]);
});
