// Span.rootWithCollector: a request collects its own spans, once its root ended; nothing of it goes to reporters.
import { expect, test, vi } from 'vitest';
import { spanTree } from '../../src/formats/terminal/trace-tree.js';
import { Collector, LocalSpan, Span, SpanContext } from '../../src/index.js';
import { observerWith } from '../support/observer.js';
import { recorder } from '../support/recorder.js';

test('collect waits for the root, gives what finished, then what came late', async () => {
  const { memory, collector } = recorder();
  const [span, own] = Span.rootWithCollector('job', undefined, { collector });
  const late = Span.start('late', span);
  span.run(() => LocalSpan.start('work').end());
  const waiting = own.collect();
  span.end();
  const records = await waiting;
  expect(spanTree(records)).toBe('job\n  work');
  expect(await own.collect()).toEqual([]);
  late.end();
  expect((await own.collect()).map((one) => one.name)).toEqual(['late']);
  await collector.flush();
  expect(memory.spans).toEqual([]);
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyTraces: 0 });
});

test('a cancelled, evicted or unsampled root gives nothing, and no one waits for ever', async () => {
  const collector = new Collector({ maxOpenTraces: 1 });
  const [cancelled, ofCancelled] = Span.rootWithCollector('a', undefined, { collector });
  const first = ofCancelled.collect();
  cancelled.cancel();
  expect(await first).toEqual([]);
  for (const reportOpenTraces of [false, true]) {
    collector.configure({ reportOpenTraces });
    const [, ofEvicted] = Span.rootWithCollector('b', undefined, { collector });
    const second = ofEvicted.collect();
    Span.root('c', undefined, { collector });
    expect(await second).toEqual([]);
  }
  const [, ofUnsampled] = Span.rootWithCollector('d', SpanContext.random({ sampled: false }), { collector });
  expect(await ofUnsampled.collect()).toEqual([]);
});

test('what it evicts is given to the observer in time, with nothing else going on', async () => {
  for (const bound of [{ maxOpenTraces: 1 }, { maxOpenBytes: 1000 }]) {
    const { root, collector } = recorder({ ...bound, reportIntervalMs: 1 });
    collector.observeWith(observerWith());
    Span.start('child', root('evicted')).end();
    const [own] = Span.rootWithCollector('own', undefined, { collector });
    own.run(() => {
      for (let i = 0; i < 10; i++) LocalSpan.start('local').end();
    });
    expect(collector.life.observed.length).toBe(1);
    // A guard against hanging.
    await vi.waitUntil(() => collector.life.observed.length === 0, { interval: 1, timeout: 30_000 });
  }
});
