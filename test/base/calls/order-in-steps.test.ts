// A list of any length is put in order as a stable sort would, and never for long at once.

import { expect, test } from 'vitest';
import { orderInSteps } from '../../../src/base/calls/timers.js';
import fc from '../../support/fast-check.js';

const run = (keys: readonly number[]) => {
  const steps = orderInSteps(keys);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { order: [...value], count };
    count++;
  }
};

/** `Array.prototype.sort` is stable. */
const expected = (keys: readonly number[]): number[] => keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b]);

test('as a stable sort does, over the borders of its runs', () => {
  const lists = fc.oneof(
    fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 40 }),
    fc.integer({ min: 500, max: 5000 }).chain((n) => fc.array(fc.nat(100), { minLength: n, maxLength: n })),
  );
  fc.assert(
    fc.property(lists, (keys) => {
      expect(run(keys).order).toEqual(expected(keys));
    }),
    { numRuns: 60 },
  );
});

test('a long list takes many steps', () => {
  const keys = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);
  const { order, count } = run(keys);
  expect(order).toEqual(expected(keys));
  // Eight passes over a hundred thousand, and the first.
  expect(count).toBeGreaterThan(9 * 190);
});
