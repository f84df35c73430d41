// A continuous profiler hands over one profile after the other, and whatever its sink does, the program goes on.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type ContinuousProfiler,
  continuousProfiler,
  DynamicLabel,
  type LabelledProfile,
  ProfileError,
} from '../src/index.js';
import { register } from '../src/shared-state.js';
import { busyWork, isConserved, jitter, workSamples } from './support/busy-work.js';
import { carriers } from './support/carriers.js';
import { isEntered } from './support/chance.js';

const workUntil = async (isEnough: () => boolean): Promise<void> => {
  const label = new DynamicLabel('query', 'q1');
  while (!isEnough()) {
    await label.run(async () => {
      await undefined;
      busyWork(jitter(50));
    });
    await delay(0);
  }
};

test.each(carriers)('carrier %s: rotations follow each other, labelled and complete', async (carrier) => {
  const taken: LabelledProfile[] = [];
  const sink = (profile: LabelledProfile): number => taken.push(profile);
  const profiler = await continuousProfiler({
    everyMs: 1,
    rotateMs: 100,
    budgetPercent: 100,
    carrier,
    sink: (p) => void sink(p),
  });
  // On a busy machine three rotations may hold a few samples, and none of the work.
  const sumsOf = () => taken.map((profile) => workSamples(profile, 'query'));
  await workUntil(() => taken.length >= 3 && sumsOf().some(({ byValue }) => (byValue.q1 ?? 0) > 0));
  await profiler.stop();
  expect(taken.length).toBeGreaterThanOrEqual(4);
  for (const [i, profile] of taken.entries()) {
    expect(isConserved(profile)).toBe(true);
    if (i > 0) expect(profile.startNs).toBeGreaterThanOrEqual(taken[i - 1].endNs);
  }
  const sums = sumsOf();
  const all = sums.reduce((sum, each) => sum + each.all, 0);
  const labelled = sums.reduce((sum, each) => sum + (each.byValue.q1 ?? 0), 0);
  expect(isEntered(all - labelled, all)).toBe(true);
  expect(profiler.stats()).toMatchObject({ carrier, profiles: taken.length, dropped: 0, sinkErrors: 0, pauses: 0 });
  expect(register.isBusy).toBe(false);
  await profiler.stop();
});

test('a sink that fails is counted and asked again', async () => {
  let calls = 0;
  const profiler = await continuousProfiler({
    rotateMs: 100,
    budgetPercent: 100,
    sink: () => {
      calls++;
      throw new Error(`no ${calls}`);
    },
  });
  await workUntil(() => calls >= 2);
  await profiler.stop();
  const { sinkErrors, lastSinkError, profiles } = profiler.stats();
  expect([sinkErrors, (lastSinkError as Error).message, profiles]).toEqual([calls, `no ${calls}`, 0]);
});

test('profiles that a slow sink has no time for are dropped and counted', async () => {
  let release = (): void => undefined;
  const buffered = new Promise<void>((resolve) => {
    release = resolve;
  });
  const profiler = await continuousProfiler({ rotateMs: 100, budgetPercent: 100, sink: () => buffered });
  await workUntil(() => profiler.stats().dropped > 0);
  release();
  await profiler.stop();
  expect(profiler.stats().profiles).toBe(2);
});

test('a sink that hangs, or that waits for the end itself, holds the end no longer than asked', async () => {
  const profiler: ContinuousProfiler = await continuousProfiler({
    rotateMs: 100,
    budgetPercent: 100,
    stopMs: 20,
    sink: async () => {
      await profiler.stop();
      await new Promise(() => undefined);
    },
  });
  await workUntil(() => profiler.stats().waiting > 0);
  await profiler.stop();
  expect(profiler.stats()).toMatchObject({ profiles: 0, sinkErrors: 0 });
  expect(profiler.stats().waiting).toBeGreaterThan(0);
  expect(register.isBusy).toBe(false);
});

test('a profile that costs more than its budget makes a pause', async () => {
  let calls = 0;
  const sink = (): void => {
    calls++;
  };
  await using profiler = await continuousProfiler({ everyMs: 0.05, rotateMs: 100, budgetPercent: 0.01, sink });
  await workUntil(() => profiler.stats().pauses > 0);
  expect(calls).toBeLessThanOrEqual(1);
});

test('stopNow ends it before it returns: the profile under way is the caller’s, not the sink’s', async () => {
  let calls = 0;
  const profiler = await continuousProfiler({
    rotateMs: 100,
    budgetPercent: 100,
    sink: () => {
      calls++;
    },
  });
  await workUntil(() => calls >= 1);
  const before = calls;
  const last = profiler.stopNow();
  expect([register.isBusy, register.pool, register.enroll]).toEqual([false, undefined, undefined]);
  expect(last?.counts.total).toBeGreaterThan(0);
  expect(profiler.stopNow()).toBeUndefined();
  await profiler.stop();
  expect([calls, profiler.stats().profiles]).toEqual([before, before]);
});

test('stopNow in a pause gives nothing', async () => {
  const profiler = await continuousProfiler({
    everyMs: 0.05,
    rotateMs: 100,
    budgetPercent: 0.01,
    sink: () => undefined,
  });
  await workUntil(() => profiler.stats().pauses > 0);
  expect(profiler.stopNow()).toBeUndefined();
  expect(register.isBusy).toBe(false);
});

test('it keeps no program alive and leaves nothing behind when it is thrown away half-way', async () => {
  const profiler = await continuousProfiler({ sink: () => undefined });
  await profiler[Symbol.asyncDispose]();
  expect([register.isBusy, register.pool, register.enroll]).toEqual([false, undefined, undefined]);
});

test.each([
  { rotateMs: 1 },
  { stopMs: -1 },
  { everyMs: 1n as unknown as number },
  { rotateMs: 3_600_000, everyMs: 1 },
  { budgetPercent: 101 },
  { sink: 'x' as unknown as () => void },
])('a wrong option is refused: %o', async (options) => {
  const refused = continuousProfiler({ sink: () => undefined, ...options });
  await expect(refused).rejects.toBeInstanceOf(ProfileError);
  await expect(refused).rejects.toMatchObject({ code: 'ERR_SPANLINE_PROFILE_OPTION' });
});
