// Scopes of queues as others see them: a profile labels the work in them, the event-loop timeline gets the long work, and a scope that is left in
// an odd place leaves nothing behind.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { now, nsPerTick } from '../../src/clock/index.js';
import { type QueueSwitches, type SpanLabelling, state, type TaskQueue } from '../../src/context/process-state.js';
import { LocalSpan, Span, stats } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

afterEach(() => {
  state.labelling = undefined;
  state.queueSwitches = undefined;
});

/** Labels nothing; says what it was given. */
const labellingTo = (seen: string[]): SpanLabelling => ({
  run: (queue, fn) => {
    seen.push('labelled');
    return state.queueStore.run(queue, fn);
  },
  enter: () => undefined,
});

const watch = (ran: (queue: TaskQueue, ns: number) => void): QueueSwitches => {
  const switches: QueueSwitches = { counts: new Int32Array(2), left: undefined, ran };
  state.queueSwitches = switches;
  return switches;
};

describe('the work of a span', () => {
  test.each(['alone', 'beside the timeline'])('is labelled for a profile, %s', (how) => {
    const seen: string[] = [];
    state.labelling = labellingTo(seen);
    if (how !== 'alone') watch(() => {});
    const span = recorder().root('root');
    expect(span.run(() => Span.current())).toBe(span);
    span.end();
    expect(seen).toEqual(['labelled']);
  });

  test('of a millisecond and more is given to the timeline, shorter work is not', () => {
    const long: [queue: TaskQueue, ns: number][] = [];
    const switches = watch((...one) => void long.push(one));
    const span = recorder().root('root');
    let queue: TaskQueue | undefined;
    span.run(() => {
      queue = state.queueStore.getStore();
      const start = now();
      while ((now() - start) * nsPerTick() < 1.1e6);
    });
    expect(long.at(-1)?.[0]).toBe(queue);
    // One of these may be interrupted for long; not all of them.
    for (let i = 0; i < 100; i++) span.run(() => {});
    span.end();
    for (const [, ns] of long) expect(ns).toBeGreaterThanOrEqual(1e6);
    expect(long.length).toBeLessThan(100);
    expect([...switches.counts]).toEqual([101, 101]);
  });
});

describe('a scope', () => {
  test("left where no context is ends all the same, and is nobody's parent afterwards", () => {
    const outside = AsyncLocalStorage.snapshot() as (fn: () => void) => void;
    const span = recorder().root('root');
    const scope = span.enter();
    outside(() => scope[Symbol.dispose]());
    expect(Span.current()).toBeUndefined();
    expect(LocalSpan.start('none').isRecording).toBe(false);
    span.end();
  });

  test('left after its span has ended and a turn has passed ends what was begun since, at once', async () => {
    const { root, tree } = recorder();
    const span = root('root');
    // What is entered before the first `await` would be current in what called the test.
    await null;
    const scope = span.enter();
    const early = LocalSpan.start('early');
    span.end();
    early.end();
    await null;
    await null;
    LocalSpan.start('open');
    const before = stats().localSpansLeftOpen;
    scope[Symbol.dispose]();
    expect(stats().localSpansLeftOpen - before).toBe(1);
    expect(Span.current()).toBeUndefined();
    expect(await tree()).toBe('root\n  early\n  open');
  });
});
