// A program's test that fakes its timers changes nothing for its traces: they are reported by themselves, meanwhile and afterwards, and a flush
// ends within its bound.
import { afterEach, expect, test, vi } from 'vitest';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { Collector, type Reporter, Span } from '../../src/index.js';

afterEach(() => void vi.useRealTimers());

const immediate = setImmediate;
/** One turn of the event loop, whatever is faked. */
const turn = (): Promise<void> => new Promise((resolve) => immediate(resolve));

/** All that vitest can fake in a worker, as `sinon.useFakeTimers()` and `jest.useFakeTimers()` do. */
const fakeAll = (): void => {
  vi.useFakeTimers({
    now: 0,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'queueMicrotask',
      'Date',
      'performance',
      'hrtime',
    ],
  });
};

const collectorWith = (reporter: Reporter): Collector => {
  const collector = new Collector({ reportIntervalMs: 1, retryMinMs: 1, retryMaxMs: 1 });
  collector.setReporter(reporter);
  return collector;
};

const reported = async (memory: MemoryReporter, name: string): Promise<void> => {
  while (!memory.spans.some((span) => span.name === name)) await turn();
};

test('what ends under fake timers is reported by itself, and so is what ends after them', async () => {
  const memory = new MemoryReporter();
  const collector = collectorWith(memory);
  fakeAll();
  Span.root('meanwhile', undefined, { collector }).end();
  await reported(memory, 'meanwhile');
  Span.root('at the end', undefined, { collector }).end();
  vi.useRealTimers();
  await reported(memory, 'at the end');
  Span.root('afterwards', undefined, { collector }).end();
  await reported(memory, 'afterwards');
});

test('over the threshold, where an immediate reports', async () => {
  const memory = new MemoryReporter();
  const collector = new Collector({ reportThresholdSpans: 1 });
  collector.setReporter(memory);
  fakeAll();
  Span.root('meanwhile', undefined, { collector }).end();
  await reported(memory, 'meanwhile');
});

test('a report that fails is tried again', async () => {
  let calls = 0;
  const collector = collectorWith({
    name: 'flaky',
    async report() {
      calls++;
      if (calls < 3) throw new Error('not yet');
    },
  });
  fakeAll();
  Span.root('root', undefined, { collector }).end();
  while (collector.stats().reporters.flaky.reportedSpans === 0) await turn();
  expect(calls).toBe(3);
});

test('a flush, a shutdown and a report with a bound of time end', async () => {
  const hanging: Reporter = { name: 'hanging', report: () => new Promise<void>(() => {}) };
  const collector = collectorWith(hanging);
  fakeAll();
  Span.root('root', undefined, { collector }).end();
  expect(await collector.flush({ timeoutMs: 20 })).toEqual({ complete: false, pendingSpans: 1 });
  await collector.shutdown({ timeoutMs: 20 });
  expect(collector.stats().reporters.hanging.droppedSpansAtShutdown).toBe(1);
  const late = new Collector({ reportTimeoutMs: 20 });
  late.setReporter(hanging);
  Span.root('root', undefined, { collector: late }).end();
  void late.flush({ timeoutMs: 1 });
  while (late.stats().reporters.hanging.reportErrors === 0) await turn();
});
