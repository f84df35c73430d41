// Merged streams give everything each stream gives; none is left open when one fails, when the reader stops or when its signal fires,
// and no more of them are open than the limit.
import { expect, test } from 'vitest';
import { inParallel } from '../../../src/base/calls/in-parallel.js';
import { mergeStreams } from '../../../src/tracedb/gold/merge-streams.js';
import { seeded } from '../support/random.js';

const tick = (random: () => number): Promise<void> =>
  random() < 0.5 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve));

/** Streams of numbers that know how many of them are open, and that end when their signal fires. */
const counted = (lengths: readonly number[], seed: number, failAt = -1) => {
  const random = seeded(seed);
  const state = { open: 0, most: 0, held: 0, mostHeld: 0, opened: 0 };
  const streams = lengths.map(
    (length, stream) =>
      async function* (signal: AbortSignal) {
        state.open++;
        state.opened++;
        state.most = Math.max(state.most, state.open);
        try {
          for (let i = 0; i < length; i++) {
            await tick(random);
            if (signal.aborted) throw new Error('echo');
            if (stream * 1000 + i === failAt) throw new Error(`failed at ${failAt}`);
            state.held++;
            state.mostHeld = Math.max(state.mostHeld, state.held);
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
const all = lengths.flatMap((length, stream) => Array.from({ length }, (_, i) => stream * 1000 + i));

test.each([1, 2, 5, 100])('all values come once, %i streams at a time, in order within a stream', async (limit) => {
  for (let seed = 0; seed < 20; seed++) {
    const { streams, state } = counted(lengths, seed);
    const got: number[] = [];
    for await (const value of mergeStreams(streams, limit)) {
      state.held--;
      got.push(value);
    }
    expect([...got].sort((a, b) => a - b)).toEqual(all);
    for (let stream = 0; stream < lengths.length; stream++) {
      const own = got.filter((value) => Math.floor(value / 1000) === stream);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(state.open).toBe(0);
    expect(state.most).toBeLessThanOrEqual(limit);
    // One batch a stream waits, however slow the reader is.
    expect(state.mostHeld).toBeLessThanOrEqual(limit);
  }
});

test.each([0, 4003, 7008])('the failure at %i is the one that is thrown, and no stream stays open', async (failAt) => {
  for (let seed = 0; seed < 20; seed++) {
    const { streams, state } = counted(lengths, seed, failAt);
    const read = async (): Promise<void> => {
      for await (const _ of mergeStreams(streams, 3));
    };
    await expect(read()).rejects.toThrow(`failed at ${failAt}`);
    expect(state.open).toBe(0);
  }
});

test('a reader that stops closes all, and opens no more', async () => {
  const { streams, state } = counted(lengths, 1);
  for await (const _ of mergeStreams(streams, 3)) break;
  expect(state.open).toBe(0);
  expect(state.opened).toBeLessThan(lengths.length);
});

test('a signal reaches every stream', async () => {
  const { streams, state } = counted(lengths, 2);
  const abort = new AbortController();
  const read = async (): Promise<void> => {
    for await (const value of mergeStreams(streams, 3, abort.signal)) if (value === 2002) abort.abort();
  };
  await expect(read()).rejects.toThrow('echo');
  expect(state.open).toBe(0);
});

test('calls in parallel: never more than the limit, none after a failure, none left running', async () => {
  let running = 0;
  let most = 0;
  let started = 0;
  const work = async (i: number): Promise<void> => {
    started++;
    running++;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (i === 20) throw new Error('work 20 failed');
  };
  await inParallel(Array(15).keys(), 4, work);
  expect([started, most]).toEqual([15, 4]);
  started = 0;
  await expect(inParallel(Array(100).keys(), 4, work)).rejects.toThrow('work 20 failed');
  expect(running).toBe(0);
  expect(started).toBeLessThan(30);
});
