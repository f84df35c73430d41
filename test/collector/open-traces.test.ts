// Roots that never end hold bounded memory: beyond the bounds the oldest is let go, or reported early when that is asked for.
import { expect, test, vi } from 'vitest';
import { LocalSpan, Span } from '../../src/index.js';
import { ROW_BYTES } from '../../src/rows/row-chunk.js';
import { TRACE_BYTES } from '../../src/rows/trace-table.js';
import { useOwnNames } from '../support/names.js';
import { counted, recorder } from '../support/recorder.js';

// Names that have numbers take no bytes of a row.
useOwnNames();

/** A guard against hanging. */
const WHILE = { interval: 1, timeout: 30_000 };

test('more open roots than the bound: the oldest is let go, with what comes of it later', async () => {
  const { root, memory, collector } = recorder({ maxOpenTraces: 10 });
  const changes = await counted(() => {
    const spans = Array.from({ length: 25 }, (_, i) => root(`r${i}`));
    expect(collector.stats().openTraces).toBe(10);
    for (const span of spans) {
      Span.start('child', span).end();
      span.end();
    }
  });
  await collector.flush();
  expect(memory.traces.length).toBe(10);
  expect(memory.traces[0].spans[0].name).toBe('r15');
  expect(changes).toEqual({ tracesStarted: 25, tracesEvicted: 15, spansOfDiscardedTraces: 30 });
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0 });
});

test('what was evicted is dropped however many traces began since it did, and no other trace with it', async () => {
  // So many are remembered.
  const many = 1 << 17;
  const { root, memory, collector } = recorder({ maxOpenTraces: 2 });
  const oldest = root('oldest');
  const child = Span.start('child', oldest);
  for (let i = 1; i < many; i++) root('between').cancel();
  const other = root('other');
  const late = Span.start('late', other);
  other.end();
  await collector.flush();
  root('newer');
  root('newest');
  expect(oldest.isRecording).toBe(false);
  for (const span of [child, late, oldest]) span.end();
  await collector.flush();
  expect(memory.tree()).toBe('other\n  late');
});

test('a bound that is lowered holds from the next root on', async () => {
  const { root, collector } = recorder({ maxOpenTraces: 10 });
  for (let i = 0; i < 8; i++) root('open');
  collector.configure({ maxOpenTraces: 3 });
  root('next');
  expect(collector.stats().openTraces).toBe(3);
});

test('more bytes than the bound', async () => {
  const maxOpenBytes = 50_000;
  const { root, collector } = recorder({ maxOpenBytes });
  const [idle, busy] = [root('idle'), root('busy')];
  Span.start('child', idle).end();
  for (let i = 0; i < 1000; i++) {
    busy.run(() => LocalSpan.start('a').addProperty('k', i).end());
    expect(collector.stats().openBytes).toBeLessThanOrEqual(maxOpenBytes);
  }
  expect(collector.stats().openTraces).toBe(0);
});

test('reportOpenTraces: what has finished is reported at each interval, the rest follows, each span once', async () => {
  const { root, memory, collector } = recorder({ reportOpenTraces: true, reportIntervalMs: 1 });
  const span = root('root');
  Span.start('first', span).end();
  await vi.waitUntil(() => memory.spans.length > 0, WHILE);
  expect(memory.spans.map((one) => one.name)).toEqual(['first']);
  Span.start('second', span).end();
  span.end();
  await collector.flush();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  first\n  second');
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyTraces: 0, readyBytes: 0 });
});

test('reportOpenTraces turned on, or a reporter set, while a root is open', async () => {
  const { root, memory, collector } = recorder({ reportIntervalMs: 1 });
  const span = root('root');
  Span.start('first', span).end();
  collector.configure({ reportOpenTraces: true });
  await vi.waitUntil(() => memory.spans.length > 0, WHILE);
  expect(memory.spans.map((one) => one.name)).toEqual(['first']);
});

test('reportOpenTraces with more open roots than the bound: nothing is lost, nothing counted twice', async () => {
  const { root, memory, collector } = recorder({ reportOpenTraces: true, maxOpenTraces: 2, reportIntervalMs: 60_000 });
  const spans = ['a', 'b', 'c', 'd'].map((name) => {
    const span = root(name);
    Span.start('early', span).end();
    return span;
  });
  for (const span of spans) {
    Span.start('child', span).end();
    span.end();
  }
  expect(collector.stats()).toMatchObject({ readyTraces: 4, openTraces: 0, openBytes: 0 });
  const { readyBytes } = collector.stats();
  await collector.flush();
  expect(memory.spans.length).toBe(12);
  expect(readyBytes).toBe(12 * ROW_BYTES + 4 * TRACE_BYTES);
});

test('reportOpenTraces: a root evicted before it had a span is whole when it ends, and `keep` is asked about it', async () => {
  const asked: unknown[] = [];
  const { root, memory, collector } = recorder({
    reportOpenTraces: true,
    maxOpenTraces: 1,
    reportIntervalMs: 60_000,
    keep: ({ root: own, isContinuation }) => {
      asked.push([own?.name, isContinuation]);
      return own?.name !== 'boring';
    },
  });
  for (const name of ['boring', 'wanted']) {
    const span = root(name);
    const child = Span.start('child', span);
    root('next').cancel();
    const next = root('next');
    // Nothing was reported: it is not late.
    expect(
      await counted(() => {
        span.end();
        child.end();
      }),
    ).toEqual({});
    next.cancel();
    await collector.flush();
  }
  expect(asked).toEqual([
    ['boring', false],
    ['wanted', false],
  ]);
  expect(memory.tree()).toBe('wanted\n  child');
});

test('what was reported early and is then cancelled leaves nothing in the queue', async () => {
  const maxQueuedBytes = 20_000;
  const { root, memory, collector } = recorder({
    reportOpenTraces: true,
    maxOpenTraces: 1,
    maxQueuedBytes,
    reportIntervalMs: 60_000,
  });
  for (let i = 0; i < 100; i++) {
    const evicted = root('evicted');
    Span.start('child', evicted).end();
    root('next').cancel();
    evicted.cancel();
    // Late, and of nobody.
    Span.start('late', evicted).end();
  }
  expect(collector.stats()).toMatchObject({ readyTraces: 0, readyBytes: 0, openTraces: 0, openBytes: 0 });
  expect(await collector.flush()).toEqual({ complete: true, pendingSpans: 0 });
  collector.setReporter([]);
  for (let i = 0; i < 10; i++) root('good').end();
  expect(collector.stats()).toMatchObject({ readyTraces: 10, droppedTracesBeforeReporter: 0 });
  collector.setReporter(memory);
  await collector.flush();
  expect(memory.spans.map(({ name }) => name)).toEqual(Array(10).fill('good'));
});
