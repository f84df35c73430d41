// Welch's t-test gives SciPy's t and p, and has an answer where nothing varies.
import { expect, test } from 'vitest';
import { welch } from '../../../src/tracedb/detect/e-divisive.js';
import { loadStatistics } from '../../../src/tracedb/detect/statistics.js';

const statistics = await loadStatistics();

// SciPy 1.17.1: scipy.stats.ttest_ind(after, before, equal_var=False)
test.each([
  {
    before: [12.1, 11.8, 12.4, 12.0],
    after: [13.9, 14.6, 13.1, 14.2, 13.7],
    t: 6.508524433546119,
    p: 0.0007392647414528116,
  },
  { before: [3, 3, 3, 3], after: [3.5, 3.4, 3.6], t: 8.660254037844378, p: 0.013072457560346541 },
  {
    before: [774752, 773990, 737739, 809279, 785190],
    after: [701000, 699500, 702250, 698000, 703100, 700400],
    t: -6.529582136259511,
    p: 0.002758423941452358,
  },
])('t = $t', ({ before, after, t, p }) => {
  const test = welch(before, after, statistics);
  expect(test.t).toBeCloseTo(t, 10);
  expect(test.pValue / p).toBeCloseTo(1, 6);
});

test('equal means have p 1, even when nothing varies', () => {
  expect(welch([5, 5, 5], [5, 5], statistics)).toEqual({ meanBefore: 5, meanAfter: 5, t: 0, pValue: 1 });
});

test('two different constants differ for certain', () => {
  expect(welch([5, 5, 5], [4, 4], statistics)).toMatchObject({ t: Number.NEGATIVE_INFINITY, pValue: 0 });
});
