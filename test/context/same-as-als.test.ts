// Programs must see the same of all stores whether spans go by frames or by AsyncLocalStorage alone.
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { FrameStore } from '../../src/context/frame-store.js';
import { samples } from '../support/samples.js';
import { randomNumbers, runProgram, type Store } from './support/programs.js';

const PROGRAMS = samples(60, 300, 5000);

/** In a task of its own: what a program enters must not be seen by the next. */
const alone = <T>(fn: () => Promise<T>): Promise<T> => new AsyncLocalStorage().run(1, async () => fn());

const usesFrames = new FrameStore().info.way === 'frames';
// The self-test makes async resources too.
await new Promise((resolve) => setTimeout(resolve, 5));

describe.runIf(usesFrames)('frames', () => {
  test(`${PROGRAMS} random programs see what they see with AsyncLocalStorage`, async () => {
    let observations = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const wanted = await alone(() => runProgram(seed, new AsyncLocalStorage() as Store));
      const store = new FrameStore<unknown>();
      const seen = await alone(() => runProgram(seed, store as Store));
      expect(store.info.way).toBe('frames');
      expect(seen, `seed ${seed}`).toEqual(wanted);
      observations += seen.values.length;
    }
    expect(observations).toBeGreaterThan(60 * PROGRAMS);
  });

  test('a program that differs is seen', async () => {
    class Wrong extends FrameStore<unknown> {
      override getStore(): unknown {
        const value = super.getStore();
        return value === 'v3' ? 'v4' : value;
      }
    }
    const differing = await Promise.all(
      [1, 2, 3, 4, 5].map(async (seed) => {
        const wanted = await alone(() => runProgram(seed, new AsyncLocalStorage() as Store));
        const seen = await alone(() => runProgram(seed, new Wrong() as Store));
        return JSON.stringify(seen) !== JSON.stringify(wanted);
      }),
    );
    expect(differing).toContain(true);
  });
});

test('the numbers of a seed are spread', () => {
  const random = randomNumbers(7);
  expect(new Set(Array.from({ length: 400 }, () => random(14))).size).toBe(14);
});
