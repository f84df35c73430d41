// Code that node:vm terminates at its time limit runs no `finally` and no hook: its label must not stay on what runs afterwards.
import { promiseHooks } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { followContinuations } from '../src/continuations.js';
import { type Carrier, DynamicLabel, type RunningProfile, startProfile, stats } from '../src/index.js';
import { monotonicUs } from '../src/sample-clock.js';
import { NO_SCOPE, register } from '../src/shared-state.js';
import { LOST, Timeline } from '../src/trampoline-history.js';
import { TrampolinePool } from '../src/trampoline-pool.js';
import { carriers } from './support/carriers.js';

const label = new DynamicLabel('query', 'terminated');

/** Runs code that is terminated behind `arrived()`: a busy machine may need more than the first time limit to get there. */
const terminated = (code: string): void => {
  let hasArrived = false;
  const arrived = (): void => {
    hasArrived = true;
  };
  const forever = (): never => {
    arrived();
    for (;;);
  };
  const context = createContext({ arrived, inLabel: () => label.apply(forever) }, { microtaskMode: 'afterEvaluate' });
  for (let timeout = 10; !hasArrived; timeout *= 4)
    expect(() => runInContext(code, context, { timeout })).toThrow(/timed out/);
};
/** In a turn of the event loop of its own, with no continuation around. */
const inTurn = async <T>(run: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(run());
      } catch (error) {
        reject(error);
      }
    });
  });
const IN_CALL = 'inLabel()';
const IN_CONTINUATION = 'Promise.resolve().then(() => { arrived(); for (;;); })';

const profiles = new Set<RunningProfile>();
const profileWith = async (carrier: Carrier): Promise<RunningProfile> => {
  const running = await startProfile({ carrier });
  profiles.add(running);
  return running;
};
const stop = (running: RunningProfile): void => {
  profiles.delete(running);
  running.stop();
};

afterEach(() => {
  // One that a failed test left would fail all others.
  for (const running of profiles) stop(running);
  register.current = NO_SCOPE;
  register.cell[0] = 0;
});

test.each(carriers)(
  'carrier %s: a profile forgets the call while it runs, and the next one begins without it',
  async (carrier) => {
    const running = await profileWith(carrier);
    await inTurn(() => terminated(IN_CALL));
    expect(await inTurn(() => register.current)).not.toBe(NO_SCOPE);
    while ((await inTurn(() => register.current)) !== NO_SCOPE);
    expect(register.cell[0]).toBe(0);
    stop(running);
    await inTurn(() => terminated(IN_CALL));
    expect(await inTurn(() => register.current)).not.toBe(NO_SCOPE);
    await profileWith(carrier);
    expect(await inTurn(() => register.current)).toBe(NO_SCOPE);
  },
);

test('hooks are removed once: asked again, Node would remove those of somebody else', async () => {
  const others = { init: () => count++ };
  let count = 0;
  const removeOthers = promiseHooks.createHook(others) as () => void;
  const following = followContinuations();
  following.stop();
  following.stop();
  following.settle();
  const before = count;
  await Promise.resolve();
  removeOthers();
  expect(count).toBeGreaterThan(before);
});

test('hooks that are stopped are gone in the next turn of the event loop', async () => {
  const following = followContinuations();
  await inTurn(() => {
    label.apply(() => terminated(IN_CONTINUATION));
    following.stop();
  });
  await inTurn(() => undefined);
  const seen = await label.apply(() => Promise.resolve().then(() => register.current));
  expect(seen).toBe(NO_SCOPE);
});

test('a timeline gives what comes after to nobody', async () => {
  const timeline = new Timeline();
  const following = followContinuations(timeline);
  label.apply(() => terminated(IN_CONTINUATION));
  following.settle();
  const settledUs = monotonicUs() + 1;
  while (monotonicUs() < settledUs + 5);
  expect(timeline.scopeAt(settledUs + 3)).toBe(NO_SCOPE);
  following.stop();
});

test('a continuation around another one: neither has the samples of the other', () => {
  const timeline = new Timeline();
  const [outer, inner] = ['outer', 'inner'].map((name) =>
    new DynamicLabel('query', name).apply(() => register.current),
  );
  const pass = (): number => {
    const us = monotonicUs() + 3;
    while (monotonicUs() < us + 3);
    return us;
  };
  timeline.enter(outer, false);
  const before = pass();
  timeline.enter(inner, true);
  const inside = pass();
  timeline.leave(true);
  const after = pass();
  timeline.leave(false);
  const over = pass();
  expect([before, inside, after, over].map((us) => timeline.scopeAt(us))).toEqual([outer, inner, LOST, NO_SCOPE]);
});

test('what a continuation did to the register is not taken for a label of the timeline', () => {
  const timeline = new Timeline();
  const [scope] = [new DynamicLabel('query', 'early').apply(() => register.current)];
  timeline.enter(scope, false);
  timeline.leave(false);
  const us = monotonicUs() + 3;
  while (monotonicUs() < us + 3);
  timeline.enter(NO_SCOPE, false);
  timeline.leave(false);
  expect(timeline.scopeAt(us)).toBe(NO_SCOPE);
});

test('its trampoline is free for others', () => {
  const pool = new TrampolinePool('second-context', 1);
  register.pool = pool;
  try {
    terminated(IN_CALL);
    pool.settle();
    pool.release(label);
    const before = stats().counters.trampolinesExhausted;
    pool.run(new DynamicLabel('query', 'next'), () => undefined);
    expect(stats().counters.trampolinesExhausted).toBe(before);
  } finally {
    register.pool = undefined;
    pool.reset();
  }
});
