// A signal begins a profile and the next ends it, only while it was asked for; what fails is counted and ends nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LabelledProfile } from '../../src/labelled-profile.js';
import { profileOnSignal } from '../../src/sinks/profile-on-signal.js';

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await sleep(5);
};

test('a signal begins, the next ends, as often as wanted; then the signal is let be', async () => {
  const before = process.listenerCount('SIGUSR2');
  const taken: LabelledProfile[] = [];
  const profiler = profileOnSignal({ sink: (profile) => void taken.push(profile) });
  expect(process.listenerCount('SIGUSR2')).toBe(before + 1);
  for (const round of [1, 2]) {
    process.kill(process.pid, 'SIGUSR2');
    await until(() => profiler.stats().isRunning);
    process.kill(process.pid, 'SIGUSR2');
    await until(() => profiler.stats().profiles === round);
  }
  expect(taken.every(({ counts }) => counts.total > 0)).toBe(true);
  await profiler.stop();
  expect(process.listenerCount('SIGUSR2')).toBe(before);
  expect(profiler.stats()).toEqual({ isRunning: false, profiles: 2, dropped: 0, failures: 0, lastError: undefined });
});

test('stop hands over the profile under way', async () => {
  const taken: LabelledProfile[] = [];
  const profiler = profileOnSignal({ signal: 'SIGWINCH', sink: (profile) => void taken.push(profile) });
  await profiler.toggle();
  await profiler.stop();
  expect(taken).toHaveLength(1);
});

test('two signals at once begin and end one profile', async () => {
  const taken: LabelledProfile[] = [];
  const profiler = profileOnSignal({ sink: (profile) => void taken.push(profile) });
  await Promise.all([profiler.toggle(), profiler.toggle()]);
  expect(taken).toHaveLength(1);
  await profiler.stop();
});

test('failures are counted, and the next signal works', async () => {
  let calls = 0;
  const sink = () => {
    if (++calls === 1) throw new Error('full');
  };
  const profiler = profileOnSignal({ sink });
  const second = profileOnSignal({ signal: 'SIGWINCH', sink });
  await profiler.toggle();
  await second.toggle();
  expect(second.stats()).toMatchObject({ failures: 1, lastError: { code: 'ERR_SPANLINE_PROFILE_BUSY' } });
  await profiler.toggle();
  expect(profiler.stats()).toMatchObject({ profiles: 0, failures: 1, lastError: { message: 'full' } });
  await profiler.toggle();
  await profiler.stop();
  await second.stop();
  expect(profiler.stats()).toMatchObject({ profiles: 1, failures: 1 });
});

test('a sink that takes its time holds up no signal, and what it has no room for is counted', async () => {
  let release = (): void => undefined;
  const buffered = new Promise<void>((resolve) => {
    release = resolve;
  });
  const profiler = profileOnSignal({ sink: () => buffered });
  for (let round = 0; round < 3; round++) {
    void profiler.toggle();
    await until(() => profiler.stats().isRunning);
    void profiler.toggle();
    await until(() => !profiler.stats().isRunning);
  }
  expect(profiler.stats()).toMatchObject({ profiles: 0, dropped: 1 });
  release();
  await profiler.stop();
  expect(profiler.stats()).toMatchObject({ profiles: 2, dropped: 1, failures: 0 });
});

test.each(['SIGKILL', 'SIGSTOP', 'SIGPROF', 'SIGNOTHING', 'exit'])('%s is refused', (signal) => {
  const before = process.eventNames();
  expect(() => profileOnSignal({ signal: signal as NodeJS.Signals, sink: () => undefined })).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_PROFILE_OPTION' }),
  );
  expect(process.eventNames()).toEqual(before);
});

test('a sink that is none is refused before a signal comes', () => {
  expect(() => profileOnSignal({ sink: undefined as never })).toThrow(/sink is undefined/);
});
