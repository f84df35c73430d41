// A reporter that throws, rejects, hangs or fails for a while is never felt by the traced program: what waits stays
// within the byte bound, and is delivered once the reporter recovers.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { Collector, type CollectorOptions, type ReportBatch, ReportError, Span } from '../../src/index.js';
import { useOwnNames } from '../support/names.js';

useOwnNames();

const QUICK: CollectorOptions = { retryMinMs: 1, retryMaxMs: 4, reportIntervalMs: 1 };

const withReporter = (report: (batch: ReportBatch, call: number) => unknown, options: CollectorOptions = {}) => {
  const collector = new Collector({ ...QUICK, ...options });
  let call = 0;
  const delivered: string[] = [];
  collector.setReporter({
    name: 'r',
    report(batch) {
      const result = report(batch, ++call) as Promise<void> | undefined;
      const done = (): void => {
        delivered.push(...batch.traces.flatMap((trace) => trace.spans.map((span) => span.name)));
      };
      if (result === undefined || typeof result.then !== 'function') done();
      else return result.then(done);
      return result;
    },
  });
  const record = (name: string): void => Span.root(name, undefined, { collector }).end();
  return { collector, delivered, record, stats: () => collector.stats().reporters.r, calls: () => call };
};

const FAILURES: Record<string, () => unknown> = {
  throws: () => {
    throw new Error('failed');
  },
  'throws nothing': () => {
    throw undefined;
  },
  rejects: () => Promise.reject(new Error('failed')),
  'rejects with nothing': () => Promise.reject(undefined),
  'rejects with null': () => Promise.reject(null),
};

describe.each(Object.entries(FAILURES))('a reporter that %s', (_, fail) => {
  test('is tried again until it works; nothing is lost', async () => {
    const { collector, delivered, record, stats } = withReporter((_batch, call) => (call <= 3 ? fail() : undefined));
    record('a');
    expect((await collector.flush()).complete).toBe(true);
    expect(delivered).toEqual(['a']);
    expect(stats()).toMatchObject({ reportErrors: 3, retries: 3, reportedSpans: 1, queuedSpans: 0, queuedBytes: 0 });
  });
});

test('one that hangs is given up after its time, told so by the signal, and tried again', async () => {
  const signals: AbortSignal[] = [];
  const { collector, delivered, record, stats } = withReporter(
    (batch, call) => {
      signals.push(batch.signal);
      return call === 1 ? new Promise(() => {}) : undefined;
    },
    { reportTimeoutMs: 5 },
  );
  record('a');
  expect((await collector.flush()).complete).toBe(true);
  expect(delivered).toEqual(['a']);
  expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  expect(signals[0].reason).toMatchObject({ code: 'ERR_SPANLINE_REPORT_TIMEOUT' });
  expect(stats().reportErrors).toBe(1);
});

test('while it fails the bytes stay within the bound; oldest first are dropped and counted; the rest comes when it recovers', async () => {
  let isDown = true;
  const maxQueuedBytes = 50_000;
  const { collector, delivered, record, stats } = withReporter(
    () => {
      if (isDown) throw new Error('503');
    },
    { maxQueuedBytes, maxBatchSpans: 10 },
  );
  const n = 1000;
  for (let i = 0; i < n; i++) {
    record(`s${i}`);
    if (i % 20 === 0) await sleep(1);
    const { readyBytes, reporters } = collector.stats();
    expect(reporters.r.queuedBytes).toBeLessThanOrEqual(maxQueuedBytes);
    expect(readyBytes).toBeLessThanOrEqual(maxQueuedBytes);
  }
  isDown = false;
  expect((await collector.flush()).complete).toBe(true);
  const { droppedSpansQueueFull, droppedTracesQueueFull, reportedSpans } = stats();
  expect(droppedSpansQueueFull).toBeGreaterThan(0);
  expect(droppedTracesQueueFull).toBe(droppedSpansQueueFull);
  expect(reportedSpans + droppedSpansQueueFull).toBe(n);
  expect(delivered).toEqual(Array.from({ length: reportedSpans }, (_, i) => `s${n - reportedSpans + i}`));
});

test('not retryable: dropped at once, counted, and the next batch is sent', async () => {
  const refuse = (batch: ReportBatch): void => {
    if (batch.traces[0].root?.name === 'bad') throw new ReportError('ERR_X', 'no', { retryable: false });
  };
  const { collector, delivered, record, stats } = withReporter(refuse, { maxBatchSpans: 1 });
  for (const name of ['a', 'bad', 'b']) record(name);
  expect((await collector.flush()).complete).toBe(true);
  expect(delivered).toEqual(['a', 'b']);
  expect(stats()).toMatchObject({ droppedSpansRefused: 1, reportErrors: 1, retries: 0, reportedSpans: 2 });
  expect(stats().lastError).toBe('no');
});

test('an error of the other build of this package is understood by its fields', async () => {
  const { collector, record, stats } = withReporter(() => Promise.reject({ message: 'm', retryable: false }));
  record('a');
  await collector.flush();
  expect(stats()).toMatchObject({ droppedSpansRefused: 1, lastError: 'm' });
});

test.each([
  ['a while', 60_000, 1],
  ['longer than a timer can wait', 1e12, 1],
])('Retry-After is honoured: %s', async (_, retryAfterMs) => {
  const { collector, record, calls, stats } = withReporter((_batch, call) => {
    if (call === 1) throw new ReportError('ERR_X', 'busy', { retryAfterMs });
  });
  record('a');
  await vi.waitUntil(() => calls() > 0, { interval: 1, timeout: 30_000 });
  // With the usual backoff of at most 4 ms there would be a second call by now.
  await sleep(15);
  expect(calls()).toBe(1);
  expect(stats().queuedSpans).toBe(1);
  // Someone asks for it now.
  expect((await collector.flush()).complete).toBe(true);
  expect(calls()).toBe(2);
});

test('a synchronous reporter may return anything', async () => {
  const { collector, record, calls, stats } = withReporter(() => 5);
  record('a');
  await collector.flush();
  expect([calls(), stats().reportErrors, stats().reportedSpans]).toEqual([1, 0, 1]);
});

test('at most one call at a time, and never with nothing', async () => {
  let running = 0;
  const { collector, record } = withReporter(async (batch) => {
    expect(++running).toBe(1);
    expect(batch.spanCount).toBeGreaterThan(0);
    await sleep(2);
    running--;
  });
  for (let i = 0; i < 20; i++) {
    record('a');
    await sleep(1);
  }
  await Promise.all([collector.flush(), collector.flush()]);
  expect(collector.stats().reporters.r).toMatchObject({ reportErrors: 0, reportedSpans: 20 });
});

test('stats() works whatever a reporter does there', () => {
  const collector = new Collector();
  collector.setReporter({
    name: 'r',
    report() {},
    stats: () => {
      throw new Error('x');
    },
  });
  expect(collector.stats().reporters.r.own).toBeUndefined();
});
