// Changes are judged by the direction of their unit, sorted, corrected for the number of series, and refused when the input is wrong.
import { expect, test } from 'vitest';
import { changePoints } from '../../src/detect/e-divisive.js';
import { findRegressions, type RegressionOptions, type Series } from '../../src/detect/regressions.js';
import { loadStatistics } from '../../src/detect/statistics.js';
import { TraceDbError } from '../../src/tracedb-error.js';
import { noise, seeded } from './seeded.js';

const statistics = await loadStatistics();

/** 40 values around each level with a deviation of 1; commits are numbered from `first` on. */
const series = (key: string, unit: string, levels: readonly number[], first = 0): Series => {
  const random = seeded(levels.length);
  const values = levels.flatMap((level) => Array.from({ length: 40 }, () => level + noise(random)));
  const commits = values.map((_, i) => ({ number: first + i, hash: `hash${first + i}`, timestampMs: 1e12 + i }));
  return { key, unit, commits, values };
};

const find = (list: readonly Series[], options: RegressionOptions = {}): ReturnType<typeof findRegressions> =>
  findRegressions(list, options, statistics);

test.each([
  ['ops/sec', 'improvement', 'regression'],
  ['ms', 'regression', 'improvement'],
  ['bytes', 'regression', 'improvement'],
  ['% overhead', 'regression', 'improvement'],
  ['score', 'changed', 'changed'],
])('%s: a rise is judged %s, a fall %s', (unit, rise, fall) => {
  expect(find([series('a', unit, [100, 120, 90])]).map(({ kind }) => kind)).toEqual([rise, fall]);
});

test('directions of one’s own go before the table', () => {
  const kinds = find([series('a', 'score', [100, 120])], { directions: { score: 'down' } }).map(({ kind }) => kind);
  expect(kinds).toEqual(['regression']);
});

test('a change carries its commit, the last commit before it, and its size', () => {
  const one = series('a', 'ms', [100, 120], 1000);
  const [found, ...others] = find([one]);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ key: 'a', unit: 'ms', commit: one.commits[40], lastBefore: one.commits[39] });
  expect(found.before).toBeCloseTo(100, 0);
  expect(found.after).toBeCloseTo(120, 0);
  expect(found.change).toBeCloseTo(0.2, 1);
  expect(found.t).toBeGreaterThan(20);
});

test('missing values widen the range of commits that may be the cause', () => {
  const one = series('a', 'ms', [100, 120]);
  const values = one.values.map((value, i) => (i >= 38 && i < 43 ? Number.NaN : value));
  expect(find([{ ...one, values }])).toMatchObject([{ commit: { number: 43 }, lastBefore: { number: 37 } }]);
});

test('sorted by commit, then the largest first, then by key, whatever the order of the series', () => {
  const list = [
    series('small', 'ms', [100, 110]),
    series('early', 'ms', [100, 110, 110], -40),
    series('large', 'ms', [100, 150]),
    series('b', 'ms', [100, 130]),
    series('a', 'ms', [100, 130]),
  ];
  const order = ['0 early', '40 large', '40 a', '40 b', '40 small'];
  for (const given of [list, list.toReversed()]) {
    expect(find(given).map(({ key, commit }) => `${commit.number} ${key}`)).toEqual(order);
  }
});

test('changes below 2 % are left out unless asked for', () => {
  const list = [series('a', 'ms', [1000, 1015])];
  expect(find(list)).toEqual([]);
  expect(find(list, { minEffect: 0.01 })).toHaveLength(1);
});

test('more series make each harder to report, so that the rate of the whole call holds', () => {
  const one = { ...series('a', 'ms', [100, 120]) };
  const quiet = Array.from({ length: 99 }, (_, i) => series(`quiet ${i}`, 'ms', [100]));
  const [alone] = find([one]);
  const [among] = find([one, ...quiet]);
  expect(among.pValue / alone.pValue).toBeCloseTo(100, 6);
  // Significance between the limit of one series and that of a hundred.
  const falsePositiveRate = alone.pValue * 10;
  expect(find([one], { falsePositiveRate })).toHaveLength(1);
  expect(find([one, ...quiet], { falsePositiveRate })).toEqual([]);
});

test('a series alone has the changes that changePoints finds at the same rate', () => {
  const one = series('a', 'ms', [100, 120, 90]);
  const changes = changePoints(one.values, { pValue: 0.05, minEffect: 0.02 }, statistics);
  expect(find([one]).map(({ commit }) => commit.number)).toEqual(changes.map(({ index }) => index));
});

test('no series, no regressions', () => {
  expect(find([])).toEqual([]);
});

test('wrong input names the series', () => {
  const one = series(',test=parse,', 'ms', [100]);
  const call =
    (list: Series[], options: RegressionOptions = {}) =>
    () =>
      find(list, options);
  const short = { ...one, values: one.values.slice(1) };
  expect(call([short])).toThrow('series ,test=parse, has 39 values for 40 commits');
  const [first, second, ...rest] = one.commits;
  expect(call([{ ...one, commits: [second, first, ...rest] }])).toThrow(
    'series ,test=parse,: commit 0 follows 1; sort the series by commit number',
  );
  expect(call([one], { maxPoints: 20 })).toThrow('series ,test=parse,: a history of 40 values is longer');
  expect(call([one], { falsePositiveRate: 0 })).toThrow('falsePositiveRate must be between 0 and 1, not 0');
  expect(call([one], { minSize: 1 })).toThrow(TraceDbError);
});
