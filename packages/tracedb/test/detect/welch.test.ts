// Welch's t is SciPy's, and has an answer where nothing varies.
import { expect, test } from 'vitest';
import { welchT } from '../../src/detect/e-divisive.js';
import { loadStatistics } from '../../src/detect/statistics.js';

const statistics = await loadStatistics();

// SciPy 1.17.1: scipy.stats.ttest_ind(after, before, equal_var=False)
test.each([
  { before: [12.1, 11.8, 12.4, 12.0], after: [13.9, 14.6, 13.1, 14.2, 13.7], t: 6.508524433546119 },
  { before: [3, 3, 3, 3], after: [3.5, 3.4, 3.6], t: 8.660254037844378 },
  {
    before: [774752, 773990, 737739, 809279, 785190],
    after: [701000, 699500, 702250, 698000, 703100, 700400],
    t: -6.529582136259511,
  },
])('t = $t', ({ before, after, t }) => {
  expect(welchT(before, after, statistics)).toBeCloseTo(t, 10);
});

test('equal means have t 0, even when nothing varies', () => {
  expect(welchT([5, 5, 5], [5, 5], statistics)).toBe(0);
});

test('two different constants differ for certain', () => {
  expect(welchT([5, 5, 5], [4, 4], statistics)).toBe(Number.NEGATIVE_INFINITY);
});
