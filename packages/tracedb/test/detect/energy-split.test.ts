// The split found in running sums is the one that the definition of the energy statistic gives.

import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { energySplit } from '../../src/detect/divide.js';
import { NILE } from './nile.js';

const meanDistance = (a: readonly number[], b: readonly number[]): number =>
  a.flatMap((x) => b.map((y) => Math.abs(x - y))).reduce((sum, d) => sum + d, 0) / (a.length * b.length);

/** Over pairs of different members. */
const meanWithin = (a: readonly number[]): number => (meanDistance(a, a) * a.length) / (a.length - 1);

const statistic = (left: readonly number[], right: readonly number[]): number =>
  ((left.length * right.length) / (left.length + right.length)) *
  (2 * meanDistance(left, right) - meanWithin(left) - meanWithin(right));

test('the Nile falls after 28 years, and the right part ends where later years would dilute it', () => {
  // NumPy 2.4.6, the definition tried on every pair of stretches of at least 5 years.
  const split = energySplit(Float64Array.from(NILE), 5);
  expect(split).toMatchObject({ index: 28, until: 83 });
  expect(split?.q).toBeCloseTo(4916.590807675145, 8);
});

test('any series: no pair of parts has a larger statistic', () => {
  const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 4, maxLength: 14 });
  fc.assert(
    fc.property(values, fc.integer({ min: 2, max: 3 }), (list, minSize) => {
      const split = energySplit(Float64Array.from(list), minSize);
      let largest = 0;
      for (let index = minSize; index <= list.length - minSize; index++) {
        for (let until = index + minSize; until <= list.length; until++) {
          largest = Math.max(largest, statistic(list.slice(0, index), list.slice(index, until)));
        }
      }
      expect(split?.q ?? 0).toBeCloseTo(largest, 8);
      if (split === null) return;
      const { index, until, q } = split;
      expect(statistic(list.slice(0, index), list.slice(index, until))).toBeCloseTo(q, 8);
    }),
    { numRuns: samples(50, 200, 2000) },
  );
});

test('too few values, or values that are all equal, have no split', () => {
  expect(energySplit(Float64Array.of(1, 1, 9), 2)).toBeNull();
  expect(energySplit(new Float64Array(20).fill(4), 2)).toBeNull();
});
