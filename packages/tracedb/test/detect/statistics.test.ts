// The tail probabilities agree with SciPy far beyond any threshold in use.
import { expect, test } from 'vitest';
import { loadStatistics } from '../../src/detect/statistics.js';

const statistics = await loadStatistics();

const relativeError = (actual: number, expected: number): number => Math.abs(actual / expected - 1);

// SciPy 1.17.1: 2 * scipy.stats.t.sf(t, df)
test.each([
  [2, 3.3, 0.1309588644394494],
  [5, 10, 0.0005373336027564527],
  [-5, 10, 0.0005373336027564527],
  [12, 200, 2.422136005246625e-25],
  [40, 200, 2.2487396535202197e-97],
  [0.5, 1300, 0.6171596984635116],
])('Student: t = %d with %d degrees of freedom', (t, df, p) => {
  expect(relativeError(statistics.studentTwoSided(t, df), p)).toBeLessThan(1e-6);
});

test('Student: an infinite t has no chance', () => {
  expect(statistics.studentTwoSided(Number.POSITIVE_INFINITY, 4)).toBe(0);
  expect(statistics.studentTwoSided(Number.NEGATIVE_INFINITY, 4)).toBe(0);
});

// SciPy 1.17.1: 2 * scipy.stats.norm.sf(z)
test.each([
  [0.5, 0.6170750774519738],
  [-1.96, 0.04999579029644087],
  [5, 5.733031437583866e-7],
])('normal: z = %d', (z, p) => {
  expect(relativeError(statistics.normalTwoSided(z), p)).toBeLessThan(1e-6);
});

test('the packages are loaded once', async () => {
  expect(await loadStatistics()).toBe(statistics);
});
