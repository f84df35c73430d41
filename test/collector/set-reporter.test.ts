// Several reporters each get everything; one replaced delivers what it was given and no more; spans that finish before the
// first reporter wait for it within a bound.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Collector, LocalSpan, OptionError, type Reporter, Span } from '../../src/index.js';
import { counted } from '../support/recorder.js';

interface Probe extends Reporter {
  readonly got: string[];
  isShutDown: boolean;
}
const probe = (name: string, before: () => Promise<void> | undefined = () => undefined): Probe => ({
  name,
  got: [],
  isShutDown: false,
  report(batch) {
    const take = (): void => {
      this.got.push(...batch.traces.flatMap((trace) => trace.spans.map((span) => span.name)));
    };
    const wait = before();
    return wait === undefined ? take() : wait.then(take);
  },
  async shutdown() {
    this.isShutDown = true;
  },
});
const record = (collector: Collector, name: string): void => Span.root(name, undefined, { collector }).end();

test('several reporters; a slow or broken one does not hold up the others', async () => {
  const collector = new Collector({ retryMinMs: 1 });
  const [good, slow] = [probe('good'), probe('slow', () => sleep(10))];
  const broken: Reporter = {
    name: 'good',
    report: () => {
      throw new Error('broken');
    },
  };
  collector.setReporter([good, slow, broken]);
  record(collector, 'a');
  record(collector, 'b');
  expect(await collector.flush({ timeoutMs: 50 })).toEqual({ complete: false, pendingSpans: 2 });
  expect([good.got, slow.got]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  expect(Object.keys(collector.stats().reporters)).toEqual(['good', 'slow', 'good#2']);
  await collector.shutdown({ timeoutMs: 1 });
  expect([good.isShutDown, slow.isShutDown]).toEqual([true, true]);
  expect(collector.stats().reporters['good#2'].droppedSpansAtShutdown).toBe(2);
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a class in place of an instance', class Console {}],
  ['an object without report', { name: 'r' }],
  ['an object without a name', { report: () => {} }],
  ['a list with nothing in it', [undefined]],
])('%s is refused, and the reporter before stays', async (_what, wrong) => {
  const collector = new Collector();
  const reporter = probe('r');
  collector.setReporter(reporter);
  expect(() => collector.setReporter(wrong as unknown as Reporter)).toThrow(OptionError);
  record(collector, 'a');
  await collector.flush();
  expect(reporter.got).toEqual(['a']);
});

test('a reporter named twice gets everything once', async () => {
  const collector = new Collector();
  const reporter = probe('r');
  collector.setReporter([reporter, reporter]);
  record(collector, 'a');
  await collector.flush();
  expect(reporter.got).toEqual(['a']);
});

test('one replaced delivers what it was given, is waited for by flush, then released', async () => {
  const collector = new Collector();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [old, next] = [probe('old', () => gate), probe('next')];
  collector.setReporter(old);
  record(collector, 'a');
  const first = collector.flush();
  collector.setReporter(next);
  record(collector, 'b');
  const second = collector.flush();
  release();
  expect([await first, await second].map((one) => one.complete)).toEqual([true, true]);
  await sleep(1);
  expect([old.got, next.got]).toEqual([['a'], ['b']]);
  expect([old.isShutDown, next.isShutDown]).toEqual([true, false]);
});

test('one that is set again while it still delivers goes on, with one call at a time, and is not shut down', async () => {
  const collector = new Collector();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let running = 0;
  const old = probe('old', async () => {
    expect(++running).toBe(1);
    await gate;
    running--;
  });
  collector.setReporter(old);
  record(collector, 'a');
  const flushed = collector.flush();
  collector.setReporter(probe('between'));
  collector.setReporter(old);
  record(collector, 'b');
  release();
  await flushed;
  await collector.flush();
  expect(old.got).toEqual(['a', 'b']);
  expect(old.isShutDown).toBe(false);
  expect(collector.stats().reporters.old).toMatchObject({ reportedSpans: 2, reportErrors: 0 });
});

test('spans before the first reporter wait for it', async () => {
  const collector = new Collector({ reportIntervalMs: 1 });
  for (const name of ['a', 'b']) record(collector, name);
  const reporter = probe('r');
  collector.setReporter(reporter);
  await vi.waitUntil(() => reporter.got.length > 0, { interval: 1, timeout: 30_000 });
  expect(reporter.got).toEqual(['a', 'b']);
});

test('within a bound: the oldest go, counted; also when one trace alone grows late', async () => {
  const maxQueuedBytes = 20_000;
  const collector = new Collector({ maxQueuedBytes });
  for (let i = 0; i < 200; i++) record(collector, `s${i}`);
  const { droppedTracesBeforeReporter, droppedSpansBeforeReporter, readyBytes, readyTraces } = collector.stats();
  expect(readyBytes).toBeLessThanOrEqual(maxQueuedBytes);
  expect(droppedTracesBeforeReporter).toBeGreaterThan(0);
  expect(droppedSpansBeforeReporter + readyTraces).toBe(200);
  const reporter = probe('r');
  collector.setReporter(reporter);
  await collector.flush();
  expect(reporter.got).toEqual(Array.from({ length: readyTraces }, (_, i) => `s${200 - readyTraces + i}`));

  const other = new Collector({ maxQueuedBytes });
  const span = Span.root('root', undefined, { collector: other });
  span.end();
  for (let i = 0; i < 1000; i++) {
    Span.start('late', span).end();
    expect(other.stats().readyBytes).toBeLessThanOrEqual(maxQueuedBytes);
  }
  expect(other.stats().droppedSpansBeforeReporter).toBeGreaterThan(0);
});

test('what values hold is part of the bound: texts, also in arrays, events and links', async () => {
  const long = 'x'.repeat(10_000);
  const many = ['a'.repeat(5_000), 'b'.repeat(5_000)];
  const ways: Record<string, (span: Span) => unknown> = {
    property: (span) => span.addProperty('k', long),
    array: (span) => span.addProperty('k', many),
    event: (span) => span.addEvent('e', { k: long }),
    link: (span) => span.addLink({ traceId: '1'.repeat(32), spanId: '1'.repeat(16) }, { k: long }),
    'local property': (span) => span.run(() => LocalSpan.start('l').addProperty('k', long).end()),
    'local array': (span) => span.run(() => LocalSpan.start('l').addProperty('k', many).end()),
    'local event': (span) => span.run(() => LocalSpan.start('l').addEvent('e', { k: long }).end()),
  };
  for (const [name, add] of Object.entries(ways)) {
    const collector = new Collector();
    for (let i = 0; i < 10; i++) {
      const span = Span.root('s', undefined, { collector });
      add(span);
      span.end();
    }
    expect(collector.stats().readyBytes, name).toBeGreaterThanOrEqual(100_000);
    expect(collector.stats().readyBytes, name).toBeLessThan(120_000);
  }
});

test('a value that cannot be looked at does not make recording throw', () => {
  const collector = new Collector();
  const trap = new Proxy(['a'], {
    get() {
      throw new Error('trap');
    },
  });
  const getter = Object.defineProperty({}, 'k', {
    enumerable: true,
    get() {
      throw new Error('getter');
    },
  });
  const span = Span.root('s', undefined, { collector });
  span.addProperty('k', trap).addEvent('e', getter);
  span.run(() => LocalSpan.start('l').addProperty('k', trap).addEvent('e', getter).end());
  span.end();
  expect(collector.stats().readyTraces).toBe(1);
});

test('spans after shutdown are counted; a new reporter brings the collector back', async () => {
  const collector = new Collector();
  const [first, second] = [probe('first'), probe('second')];
  collector.setReporter(first);
  record(collector, 'a');
  expect((await collector.shutdown()).complete).toBe(true);
  expect(await counted(() => record(collector, 'lost'))).toEqual({ tracesStarted: 1 });
  expect(collector.stats().droppedSpansAfterShutdown).toBe(1);
  expect(collector.stats().reporters.first.reportedSpans).toBe(1);
  collector.setReporter(second);
  record(collector, 'b');
  await collector.flush();
  expect([first.got, second.got]).toEqual([['a'], ['b']]);
  expect(Object.keys(collector.stats().reporters)).toEqual(['second']);
});

test('shutdown is bounded, whatever reporters do, and counts what it dropped', async () => {
  const collector = new Collector();
  const never = (): Promise<void> => new Promise(() => {});
  collector.setReporter({ name: 'hangs', report: never, flush: never, shutdown: never });
  record(collector, 'a');
  expect(await collector.shutdown({ timeoutMs: 5 })).toEqual({ complete: false, pendingSpans: 1 });
  expect(collector.stats().reporters.hangs).toMatchObject({ droppedSpansAtShutdown: 1, queuedSpans: 0 });
});

test('every shutdown waits until the reporter is released, whoever asked first', async () => {
  const collector = new Collector();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  const shutdown = (): Promise<void> => {
    calls++;
    return released;
  };
  collector.setReporter({ name: 'slow', report: () => {}, shutdown });
  const seen: string[] = [];
  const first = collector.shutdown().then(() => seen.push('first'));
  await vi.waitUntil(() => calls === 1);
  const second = collector.shutdown().then(() => seen.push('second'));
  // Whatever would resolve by itself has.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(seen).toEqual([]);
  release();
  await Promise.all([first, second]);
  expect([seen, calls]).toEqual([['first', 'second'], 1]);
});

test('what finishes while shutdown waits is delivered or counted', async () => {
  const collector = new Collector({ reportIntervalMs: 60_000 });
  const reporter = probe('r');
  reporter.flush = async () => record(collector, 'meanwhile');
  collector.setReporter(reporter);
  record(collector, 'a');
  await collector.shutdown();
  expect(reporter.got).toEqual(['a', 'meanwhile']);
  expect(collector.stats().readyTraces).toBe(0);
});
