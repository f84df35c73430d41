// A step is found once, at the commit that made it, by every detector; what is judged follows from its direction and the unit.
import { beforeAll, describe, expect, test } from 'vitest';
import { loadStatistics, type Statistics } from '../../src/detect/statistics.js';
import { findSteps, type Step, type StepDetectorName, type StepScanOptions } from '../../src/detect/step-fit.js';
import { seeded } from './seeded.js';

let statistics: Statistics;
beforeAll(async () => {
  statistics = await loadStatistics();
});

const seriesOf = (values: readonly number[], unit = 'ms') => ({
  key: ',test=a,',
  unit,
  values,
  commits: values.map((_, i) => ({ number: 100 + i, hash: `c${i}`, timestampMs: i })),
});

const find = (values: readonly number[], options: StepScanOptions, unit?: string): Step[] =>
  findSteps(seriesOf(values, unit), options, statistics);

/** Steps as short lines: `regression c20 100 -> 130`. */
const lines = (values: readonly number[], options: StepScanOptions, unit?: string): string[] =>
  find(values, options, unit).map(({ kind, commit, before, after }) => `${kind} ${commit.hash} ${before} -> ${after}`);

const levels = (...parts: readonly (readonly [count: number, level: number])[]): number[] =>
  parts.flatMap(([count, level]) => Array<number>(count).fill(level));

/** For each detector a size that a step from 100 to 130 has, and one that it has not. */
const SIZES: readonly (readonly [detector: StepDetectorName, reached: number, missed: number])[] = [
  ['original', 10, 1e9],
  ['absolute', 30, 31],
  ['percent', 0.3, 0.31],
  ['cohen', 10, 1e9],
  ['mann-whitney', 0.001, 1e-9],
];

describe.each(SIZES)('%s', (detector, reached, missed) => {
  const rise = levels([20, 100], [20, 130]);

  test('finds one step, at its commit', () => {
    expect(lines(rise, { detector, interesting: reached })).toEqual(['regression c20 100 -> 130']);
    const [step] = find(rise, { detector, interesting: reached });
    expect(step).toMatchObject({
      key: ',test=a,',
      unit: 'ms',
      commit: { number: 120, hash: 'c20', timestampMs: 20 },
      change: 0.3,
    });
    expect(step?.regression).toBeLessThan(0);
  });

  test('finds a fall, with the other sign', () => {
    const fall = levels([20, 130], [20, 91]);
    expect(lines(fall, { detector, interesting: reached })).toEqual(['improvement c20 130 -> 91']);
    expect(find(fall, { detector, interesting: reached })[0]?.regression).toBeGreaterThan(0);
  });

  test('does not find one of less than its size', () => {
    expect(lines(rise, { detector, interesting: missed })).toEqual([]);
    expect(lines(levels([40, 100]), { detector, interesting: reached })).toEqual([]);
  });

  test('finds steps up, down and up again, each once', () => {
    const values = levels([15, 100], [15, 150], [15, 100], [15, 150]);
    expect(lines(values, { detector, interesting: reached })).toEqual([
      'regression c15 100 -> 150',
      'improvement c30 150 -> 100',
      'regression c45 100 -> 150',
    ]);
  });

  test('is not disturbed by missing values', () => {
    const values = levels([20, 100], [20, 130]).flatMap((value, i) => (i % 3 === 0 ? [Number.NaN, value] : [value]));
    const [step, ...others] = find(values, { detector, interesting: reached });
    expect(others).toEqual([]);
    expect(step?.commit.number).toBe(100 + values.indexOf(130));
  });

  test('looks as far as its radius', () => {
    // Four values on each side are not enough to see anything with a radius of five.
    const short = levels([4, 100], [4, 130]);
    expect(find(short, { detector, interesting: reached, radius: 5 })).toEqual([]);
    const interesting = detector === 'mann-whitney' ? 0.05 : reached;
    expect(lines(short, { detector, interesting, radius: 4 })).toEqual(['regression c4 100 -> 130']);
  });
});

test.each<[string, string, string]>([
  ['ms', 'regression', 'improvement'],
  ['ops/s', 'improvement', 'regression'],
  ['score', 'changed', 'changed'],
])('in %s a rise is a %s, a fall a %s', (unit, rise, fall) => {
  const options = { detector: 'percent', interesting: 0.1 } as const;
  expect(find(levels([20, 100], [20, 130]), options, unit)[0]?.kind).toBe(rise);
  expect(find(levels([20, 130], [20, 100]), options, unit)[0]?.kind).toBe(fall);
  const directions = { [unit]: 'up' } as const;
  expect(find(levels([20, 100], [20, 130]), { ...options, directions }, unit)[0]?.kind).toBe('improvement');
});

test('a step that the detector sees and the medians do not is judged as the detector sees it', () => {
  // Two outliers raise the mean; the median stays.
  const values = levels([10, 100], [3, 100], [2, 1000], [5, 100]);
  expect(lines(values, { detector: 'absolute', interesting: 50 }, 'ms')).toEqual([
    expect.stringMatching(/^regression c\d+ 100 -> 100$/),
  ]);
  // What has no change of the medians is left out once one is asked for.
  expect(lines(values, { detector: 'absolute', interesting: 50, minEffect: 0.01 }, 'ms')).toEqual([]);
});

test('the smallest change of the medians that counts', () => {
  const values = levels([20, 100], [20, 104], [20, 120]);
  const options = { detector: 'absolute', interesting: 3 } as const;
  expect(lines(values, { ...options, minEffect: 0.04 })).toEqual([
    'regression c20 100 -> 104',
    'regression c40 104 -> 120',
  ]);
  expect(lines(values, { ...options, minEffect: 0.05 })).toEqual(['regression c40 104 -> 120']);
});

describe('const', () => {
  const detector = 'const';

  test('finds the value that reaches a limit, of zeros too', () => {
    const values = levels([20, 0], [1, 5], [20, 0]);
    expect(lines(values, { detector, interesting: 5 })).toEqual(['regression c20 0 -> 0']);
    expect(lines(values, { detector, interesting: 5.1 })).toEqual([]);
    expect(
      lines(
        values.map((value) => -value),
        { detector, interesting: 5 },
      ),
    ).toEqual(['regression c20 0 -> 0']);
  });

  test('reports the largest of its neighbourhood', () => {
    const values = levels([20, 0], [1, 5], [1, 9], [1, 5], [20, 0]);
    expect(lines(values, { detector, interesting: 5 })).toEqual(['regression c21 0 -> 0']);
  });
});

test('noise of one level has no step of ten deviations', () => {
  const random = seeded(3);
  const values = Array.from({ length: 500 }, () => 100 + random());
  expect(find(values, { detector: 'cohen', interesting: 10 })).toEqual([]);
  expect(find(values, { detector: 'percent', interesting: 0.02 })).toEqual([]);
});

describe('refuses', () => {
  const options = { detector: 'percent', interesting: 0.1 } as const;
  const invalid = expect.objectContaining({ code: 'ERR_SPANLINE_INVALID_INPUT' });

  test.each<[string, Partial<StepScanOptions>]>([
    ['a radius of 0', { radius: 0 }],
    ['a radius of 501', { radius: 501 }],
    ['half a radius', { radius: 1.5 }],
    ['no size', { interesting: Number.NaN }],
    ['a size of 0', { interesting: 0 }],
    ['an unknown detector', { detector: 'nosuch' as never }],
    ['a threshold of 0', { stddevThreshold: 0 }],
  ])('%s, even of a series too short for a window', (_, wrong) => {
    expect(() => find([1, 2], { ...options, ...wrong })).toThrow(invalid);
  });

  test('a series whose commits are too few, or do not rise', () => {
    const series = seriesOf(levels([40, 1]));
    expect(() => findSteps({ ...series, commits: series.commits.slice(1) }, options, statistics)).toThrow(invalid);
    expect(() => findSteps({ ...series, commits: [...series.commits].reverse() }, options, statistics)).toThrow(
      invalid,
    );
  });

  test('nothing of an empty series', () => {
    expect(find([], options)).toEqual([]);
  });
});
