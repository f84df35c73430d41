// Work at a signal: one listener a signal, the end of the process where nobody else listens, and never twice; what a program emits by itself ends nothing.
// And the handlers of an orderly exit: what is pending is flushed once, what is left is handed over synchronously.
import { constants } from 'node:os';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { flushOnExit, onSignal, type SignalWork } from '../../src/collector/exit.js';
import { Collector, flushOnSignals, type Reporter, Span } from '../../src/index.js';

// Its default action is to do nothing: a worker of the tests survives a mistake.
const SIGNAL = 'SIGWINCH';
const NUMBER = constants.signals[SIGNAL];

const kill = vi.spyOn(process, 'kill').mockImplementation(() => true);
afterAll(() => kill.mockRestore());
const offs: (() => void)[] = [];
afterEach(() => {
  for (const off of offs.splice(0)) off();
  kill.mockClear();
  expect(process.listenerCount(SIGNAL)).toBe(0);
});

/** As the system sends it; `emit` alone is what a program does. */
const arrive = (): boolean => (process.emit as (...args: unknown[]) => boolean)(SIGNAL, SIGNAL, NUMBER);
const emit = (): boolean => process.emit(SIGNAL, SIGNAL);

/** Work that notes its calls, for this test. */
const noted = (ends: boolean, gives?: Promise<unknown>) => {
  const calls: (readonly [NodeJS.Signals, boolean])[] = [];
  const work: SignalWork = (signal, isLast) => {
    calls.push([signal, isLast]);
    return gives;
  };
  const off = onSignal(SIGNAL, work, ends);
  offs.push(off);
  return { calls, off };
};

test('where nobody else listens the work is done and the signal ends the process', () => {
  const ending = noted(true);
  const watching = noted(false);
  expect(process.listenerCount(SIGNAL)).toBe(1);
  arrive();
  expect(ending.calls).toEqual([[SIGNAL, true]]);
  expect(watching.calls).toEqual([[SIGNAL, true]]);
  expect(kill.mock.calls).toEqual([[process.pid, SIGNAL]]);
  // A second one is nobody's work: it ends the process at once.
  arrive();
  expect(ending.calls).toHaveLength(1);
});

test('the end waits for what the work waits for, also where that fails', async () => {
  let settle!: (error: Error) => void;
  noted(
    true,
    new Promise((_, reject) => {
      settle = reject;
    }),
  );
  noted(true);
  arrive();
  await new Promise(setImmediate);
  expect(kill).not.toHaveBeenCalled();
  settle(new Error('the server is down'));
  await vi.waitFor(() => expect(kill.mock.calls).toEqual([[process.pid, SIGNAL]]));
});

test('where the application listens the end is left to it', () => {
  const own = (): void => {};
  process.on(SIGNAL, own);
  offs.push(() => void process.off(SIGNAL, own));
  const ending = noted(true);
  for (const send of [arrive, emit]) send();
  expect(ending.calls).toEqual([
    [SIGNAL, false],
    [SIGNAL, false],
  ]);
  expect(kill).not.toHaveBeenCalled();
});

test('what a program emits by itself is for work that ends nothing', () => {
  const ending = noted(true);
  const watching = noted(false);
  emit();
  expect([ending.calls, watching.calls]).toEqual([[], [[SIGNAL, false]]]);
  expect(kill).not.toHaveBeenCalled();
});

test('work without an end ends nothing when the signal comes', () => {
  const watching = noted(false);
  arrive();
  arrive();
  expect(watching.calls).toHaveLength(2);
  expect(kill).not.toHaveBeenCalled();
});

test('work that is taken away is not done, and the last takes the listener along', () => {
  const [first, second] = [noted(true), noted(true)];
  first.off();
  expect(process.listenerCount(SIGNAL)).toBe(1);
  arrive();
  expect([first.calls.length, second.calls.length]).toEqual([0, 1]);
  second.off();
  // Work that comes after an end has a listener again, which what was taken away does not touch.
  const third = noted(true);
  first.off();
  second.off();
  expect(process.listenerCount(SIGNAL)).toBe(1);
  third.off();
});

const collectorWith = (reporter: Partial<Reporter> = {}) => {
  const collector = new Collector({ reportIntervalMs: 60_000 });
  const names: string[] = [];
  const report: Reporter['report'] = ({ traces }) => void names.push(...traces.map((trace) => trace.spanAt(0).name));
  collector.setReporter({ name: 'r', report, ...reporter });
  return { collector, names, record: (name: string) => Span.root(name, undefined, { collector }).end() };
};

test('by default SIGTERM and SIGINT flush, and what is delivered is delivered before the end', async () => {
  const { collector, names, record } = collectorWith();
  const before = (['SIGTERM', 'SIGINT'] as const).map((signal) => process.listenerCount(signal));
  const remove = flushOnSignals(collector);
  offs.push(remove);
  expect((['SIGTERM', 'SIGINT'] as const).map((signal, i) => process.listenerCount(signal) - before[i])).toEqual([
    1, 1,
  ]);
  remove();
  offs.push(flushOnSignals(collector, [SIGNAL]));
  record('before');
  arrive();
  await vi.waitFor(() => expect(kill.mock.calls).toEqual([[process.pid, SIGNAL]]));
  expect(names).toEqual(['before']);
  record('after');
  await collector.flush();
  expect(names).toEqual(['before']);
});

/** The handlers that a collector has for the exit of this process, without those of others. */
const exitHandlersOf = (collector: Collector) => {
  const had = (['beforeExit', 'exit'] as const).map((event) => process.listeners(event as 'exit'));
  flushOnExit(collector);
  flushOnExit(collector);
  const [beforeExit, exit] = (['beforeExit', 'exit'] as const).map((event, i) =>
    process.listeners(event as 'exit').filter((one) => !had[i].includes(one)),
  );
  for (const one of beforeExit) process.off('beforeExit', one);
  for (const one of exit) process.off('exit', one);
  expect([beforeExit.length, exit.length]).toEqual([1, 1]);
  return { beforeExit: () => beforeExit[0](0), exit: () => exit[0](0) };
};

test('an empty event loop flushes what is pending once, and nothing where nothing is', async () => {
  let calls = 0;
  let answer!: () => void;
  const { collector, record } = collectorWith({
    report: () => {
      calls++;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    },
  });
  const { beforeExit } = exitHandlersOf(collector);
  expect(collector.hasPending).toBe(false);
  beforeExit();
  expect(calls).toBe(0);
  record('a');
  expect(collector.hasPending).toBe(true);
  beforeExit();
  beforeExit();
  expect(calls).toBe(1);
  expect(collector.hasPending).toBe(true);
  answer();
  await vi.waitFor(() => expect(collector.hasPending).toBe(false));
  record('b');
  await vi.waitFor(() => {
    beforeExit();
    expect(calls).toBe(2);
  });
  answer();
});

test('what cannot be delivered in time is not tried for ever', async () => {
  let calls = 0;
  const { collector, record } = collectorWith({
    report: () => {
      calls++;
      return new Promise(() => {});
    },
  });
  collector.configure({ exitTimeoutMs: 1 });
  const { beforeExit } = exitHandlersOf(collector);
  record('a');
  beforeExit();
  const { pendingSpans } = await collector.flush({ timeoutMs: 20 });
  expect(pendingSpans).toBe(1);
  beforeExit();
  expect(calls).toBe(1);
});

test('without a reporter nothing is waited for; at the exit a synchronous one gets what is left', () => {
  const { collector, names, record } = collectorWith();
  record('left');
  exitHandlersOf(collector).exit();
  expect(names).toEqual(['left']);
  const bare = new Collector();
  Span.root('nobody', undefined, { collector: bare }).end();
  expect(bare.hasPending).toBe(false);
});

test('a failure without a reason is named so', async () => {
  const thrown = collectorWith({
    report: () => {
      throw undefined;
    },
  });
  const rejected = collectorWith({ report: () => Promise.reject() });
  for (const [{ collector, record }, reason] of [
    [thrown, 'threw without a reason'],
    [rejected, 'rejected without a reason'],
  ] as const) {
    record('a');
    await collector.flush({ timeoutMs: 20 });
    expect(collector.stats().reporters.r.lastError).toBe(reason);
  }
});
