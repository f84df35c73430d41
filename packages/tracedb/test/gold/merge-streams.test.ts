// Merged streams give everything each stream gives; none is left open when one fails, when the reader stops or when its signal fires,
// and no more of them are open than the limit.
import { expect, test } from 'vitest';
import { inParallel } from '../../../../src/base/calls/timers.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { mergeStreams } from '../../src/gold/merge-streams.js';

/** Whether each value of any stream comes in the same turn of the event loop, over and over. */
const anyPace = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });

/** Streams of numbers that know how many of them are open, and that end when their signal fires. */
const counted = (lengths: readonly number[], pace: readonly boolean[], failAt = -1) => {
  let ticks = 0;
  const tick = (): Promise<void> =>
    pace[ticks++ % pace.length] ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve));
  const state = { open: 0, most: 0, held: 0, maxHeld: 0, opened: 0 };
  const streams = lengths.map(
    (length, stream) =>
      async function* (signal: AbortSignal) {
        state.open++;
        state.opened++;
        state.most = Math.max(state.most, state.open);
        try {
          for (let i = 0; i < length; i++) {
            await tick();
            if (signal.aborted) throw new Error('echo');
            if (stream * 1000 + i === failAt) throw new Error(`failed at ${failAt}`);
            state.held++;
            state.maxHeld = Math.max(state.maxHeld, state.held);
            yield stream * 1000 + i;
          }
        } finally {
          state.open--;
        }
      },
  );
  return { streams, state };
};

const lengths = [3, 0, 7, 1, 12, 5, 0, 9];
const anyLengths = fc.array(fc.nat(12), { maxLength: 9 });
const anyLimit = fc.integer({ min: 1, max: 10 });
const valuesOf = (some: readonly number[]): number[] =>
  some.flatMap((length, stream) => Array.from({ length }, (_, i) => stream * 1000 + i));

test('all values come once, no more streams at a time than the limit, in order within a stream', async () => {
  await fc.assert(
    fc.asyncProperty(anyLengths, anyLimit, anyPace, async (some, limit, pace) => {
      const { streams, state } = counted(some, pace);
      const got: number[] = [];
      for await (const value of mergeStreams(streams, limit)) {
        state.held--;
        got.push(value);
      }
      expect([...got].sort((a, b) => a - b)).toEqual(valuesOf(some));
      for (let stream = 0; stream < some.length; stream++) {
        const own = got.filter((value) => Math.floor(value / 1000) === stream);
        expect(own).toEqual([...own].sort((a, b) => a - b));
      }
      expect(state.open).toBe(0);
      expect(state.most).toBeLessThanOrEqual(limit);
      // One batch a stream waits, however slow the reader is.
      expect(state.maxHeld).toBeLessThanOrEqual(limit);
    }),
    { numRuns: samples(50, 200, 2000) },
  );
});

test('the failure of a stream is the one that is thrown, and no stream stays open', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), anyLimit, anyPace, async (place, limit, pace) => {
      const all = valuesOf(lengths);
      const failAt = all[place % all.length] as number;
      const { streams, state } = counted(lengths, pace, failAt);
      const read = async (): Promise<void> => {
        for await (const _ of mergeStreams(streams, limit));
      };
      await expect(read()).rejects.toThrow(`failed at ${failAt}`);
      expect(state.open).toBe(0);
    }),
    { numRuns: samples(50, 200, 2000) },
  );
});

test('a reader that stops closes all, and opens no more', async () => {
  const { streams, state } = counted(lengths, [true, false]);
  for await (const _ of mergeStreams(streams, 3)) break;
  expect(state.open).toBe(0);
  expect(state.opened).toBeLessThan(lengths.length);
});

test('a signal reaches every stream', async () => {
  const { streams, state } = counted(lengths, [false, true, true]);
  const abort = new AbortController();
  const read = async (): Promise<void> => {
    for await (const value of mergeStreams(streams, 3, abort.signal)) if (value === 2002) abort.abort();
  };
  await expect(read()).rejects.toThrow('echo');
  expect(state.open).toBe(0);
});

test('calls in parallel: never more than the limit, none after a failure, none left running', async () => {
  let running = 0;
  let max = 0;
  let started = 0;
  const work = async (i: number): Promise<void> => {
    started++;
    running++;
    max = Math.max(max, running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (i === 20) throw new Error('work 20 failed');
  };
  await inParallel(Array(15).keys(), 4, work);
  expect([started, max]).toEqual([15, 4]);
  started = 0;
  await expect(inParallel(Array(100).keys(), 4, work)).rejects.toThrow('work 20 failed');
  expect(running).toBe(0);
  expect(started).toBeLessThan(30);
});
