// The Mann-Whitney test gives exact p-values, ties included, and SciPy's approximation where counting would take too long.

import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { mannWhitney } from '../../src/detect/mann-whitney.js';
import { loadStatistics } from '../../src/detect/statistics.js';

const statistics = await loadStatistics();
const series = (length: number, value: (i: number) => number): number[] => Array.from({ length }, (_, i) => value(i));

// SciPy 1.17.1: scipy.stats.mannwhitneyu(first, second, method='exact')
test.each([
  {
    name: '4 and 5 values',
    first: [1.1, 2.2, 3.3, 9.9],
    second: [4.4, 5.5, 6.6, 7.7, 8.8],
    u: 5,
    p: 0.2857142857142857,
  },
  {
    name: '8 and 7 values',
    first: [12, 15, 11, 18, 20, 9, 14, 22],
    second: [25, 17, 30, 28, 21, 16, 24],
    u: 7,
    p: 0.013986013986013986,
  },
  {
    name: '25 and 25 values, the largest that are always exact',
    first: series(25, (i) => (i * 37) % 101),
    second: series(25, (i) => ((i * 53) % 97) + 20.5),
    u: 233,
    p: 0.12608442626015323,
  },
  {
    name: '5 values above 1,000',
    first: series(5, (i) => 1000.5 + i),
    second: series(1000, (i) => i),
    u: 5000,
    p: 2.364333496580929e-13,
  },
])('without ties: $name', ({ first, second, u, p }) => {
  const result = mannWhitney(first, second, statistics);
  expect(result.u).toBe(u);
  expect(result.pValue / p).toBeCloseTo(1, 9);
});

// Counted in Python over every way to deal the values (itertools.combinations).
test.each([
  { first: [1, 2, 2, 3], second: [2, 3, 4, 4, 5], u: 2.5, p: 14 / 126 },
  { first: [5, 5, 5, 5, 7], second: [5, 7, 7, 9, 9, 9], u: 4, p: 32 / 462 },
  { first: [1, 1, 1, 1], second: [1, 1, 1, 2], u: 6, p: 1 },
])('with ties: $first against $second', ({ first, second, u, p }) => {
  const result = mannWhitney(first, second, statistics);
  expect(result.u).toBe(u);
  expect(result.pValue).toBeCloseTo(p, 12);
});

test('large samples: the approximation with ties and continuity of SciPy', () => {
  // SciPy 1.17.1: mannwhitneyu(first, second, method='asymptotic', use_continuity=True)
  const first = series(60, (i) => (i * 37) % 101);
  const second = series(80, (i) => ((i * 53) % 97) + 9);
  const { u, pValue } = mannWhitney(first, second, statistics);
  expect(u).toBe(2110);
  expect(pValue).toBeCloseTo(0.22281526474893676, 8);
});

test('large samples of one value do not differ', () => {
  const same = series(3000, () => 7);
  expect(mannWhitney(same, same, statistics).pValue).toBe(1);
});

const pairs = (first: readonly number[], second: readonly number[]): number => {
  let u = 0;
  for (const a of first) for (const b of second) u += a > b ? 1 : a === b ? 0.5 : 0;
  return u;
};

/** p by trying every subset. */
const byTrial = (first: readonly number[], second: readonly number[]): number => {
  const pool = [...first, ...second];
  const observed = pairs(first, second);
  let [below, above, total] = [0, 0, 0];
  for (let mask = 0; mask < 2 ** pool.length; mask++) {
    const taken = pool.filter((_, i) => mask & (1 << i));
    if (taken.length !== first.length) continue;
    const u = pairs(
      taken,
      pool.filter((_, i) => !(mask & (1 << i))),
    );
    total++;
    if (u <= observed) below++;
    if (u >= observed) above++;
  }
  return Math.min(1, (2 * Math.min(below, above)) / total);
};

test('any two small samples: p is the share of all ways to deal the values', () => {
  const sample = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(sample, sample, (first, second) => {
      expect(mannWhitney(first, second, statistics).pValue).toBeCloseTo(byTrial(first, second), 10);
    }),
    { numRuns: samples(50, 150, 1500) },
  );
});
