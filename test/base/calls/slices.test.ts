// Work in slices is done whole and in order, the event loop goes round between slices, and an abort ends it.
import { expect, test } from 'vitest';
import { inSlices, Slices } from '../../../src/base/calls/timers.js';

/** Holds the thread until a slice of any reasonable length is over. */
const work = (): void => {
  const end = performance.now() + 2;
  while (performance.now() < end);
};

test('every step once, in order', async () => {
  const seen: number[] = [];
  await inSlices(1000, (index) => {
    seen.push(index);
    return undefined;
  });
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => i));
});

test('long work lets others run between two slices', async () => {
  const turns: number[] = [];
  let steps = 0;
  const done = inSlices(64, () => {
    steps++;
    work();
    return undefined;
  });
  const look = (): void => {
    turns.push(steps);
    if (steps < 64) setImmediate(look);
  };
  setImmediate(look);
  await done;
  expect(turns.filter((at) => at > 0 && at < 64).length).toBeGreaterThanOrEqual(2);
});

test('bytes count as work: one large step is followed by a look at the clock', () => {
  const slices = new Slices();
  for (let i = 0; i < 10; i++) work();
  expect(slices.isOver(10)).toBe(false);
  expect(slices.isOver(64 << 10)).toBe(true);
});

test('ends with the reason of an abort', async () => {
  const controller = new AbortController();
  let steps = 0;
  const done = inSlices(
    10_000,
    () => {
      steps++;
      work();
      controller.abort(new Error('enough'));
      return undefined;
    },
    controller.signal,
  );
  await expect(done).rejects.toThrow('enough');
  expect(steps).toBeLessThan(100);
});
