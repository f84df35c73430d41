// flush() delivers everything accepted before it, however slow the reporter, and waits for nothing that comes after.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Collector, type Reporter, Span } from '../../src/index.js';

const slow = (ms: number): Reporter & { spans: number; calls: number } => ({
  name: 'slow',
  spans: 0,
  calls: 0,
  async report(batch) {
    await sleep(ms);
    this.calls++;
    this.spans += batch.spanCount;
  },
});

test('a burst of 100,000 roots with a reporter of 50 ms a call: all delivered by one flush', async () => {
  const collector = new Collector();
  const reporter = slow(50);
  collector.setReporter(reporter);
  for (let i = 0; i < 100_000; i++) Span.root('root', undefined, { collector }).end();
  expect(await collector.flush()).toEqual({ complete: true, pendingSpans: 0 });
  expect(reporter.spans).toBe(100_000);
  expect(collector.stats().reporters.slow).toMatchObject({ reportedSpans: 100_000, droppedSpansQueueFull: 0 });
});

test('the same with small bounds: what is not delivered is counted, exactly', async () => {
  const collector = new Collector({ maxQueuedBytes: 1 << 20, maxBatchSpans: 500 });
  const reporter = slow(5);
  collector.setReporter(reporter);
  for (let i = 0; i < 100_000; i++) {
    Span.root('root', undefined, { collector }).end();
    if (i % 5000 === 0) await sleep(1);
  }
  expect((await collector.flush()).complete).toBe(true);
  const { reporters, droppedSpansQueueFull: beforeReport } = collector.stats();
  const { reportedSpans, droppedSpansQueueFull } = reporters.slow;
  expect(droppedSpansQueueFull).toBeGreaterThan(0);
  expect(reportedSpans).toBe(reporter.spans);
  expect(reportedSpans + droppedSpansQueueFull + beforeReport).toBe(100_000);
});

test('under steady traffic a flush ends when what was there before is delivered', async () => {
  const collector = new Collector({ reportThresholdSpans: 1, maxBatchSpans: 1 });
  const reporter = slow(2);
  collector.setReporter(reporter);
  let isOver = false;
  const traffic = (async () => {
    while (!isOver) {
      for (let i = 0; i < 20; i++) Span.root('root', undefined, { collector }).end();
      await sleep(1);
    }
  })();
  await sleep(10);
  expect(await collector.flush()).toEqual({ complete: true, pendingSpans: 0 });
  isOver = true;
  await traffic;
  await collector.shutdown({ timeoutMs: 1 });
});

test('a flush that runs out of time says what is left', async () => {
  const collector = new Collector();
  collector.setReporter({ name: 'hangs', report: () => new Promise(() => {}) });
  for (let i = 0; i < 3; i++) Span.root('root', undefined, { collector }).end();
  expect(await collector.flush({ timeoutMs: 5 })).toEqual({ complete: false, pendingSpans: 3 });
  await collector.shutdown({ timeoutMs: 1 });
});

test('an endless time limit is not a short one', async () => {
  const collector = new Collector();
  const reporter = slow(20);
  collector.setReporter(reporter);
  Span.root('root', undefined, { collector }).end();
  expect((await collector.flush({ timeoutMs: Number.POSITIVE_INFINITY })).complete).toBe(true);
  expect(reporter.spans).toBe(1);
});

test('a collector without a reporter says what waits', async () => {
  const collector = new Collector();
  Span.root('root', undefined, { collector }).end();
  expect(await collector.flush()).toEqual({ complete: false, pendingSpans: 1 });
});
