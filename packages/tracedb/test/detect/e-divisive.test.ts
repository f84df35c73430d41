// The changes of a history are found where they are, with the sizes they have, and nothing else is.
import { expect, test } from 'vitest';
import { type ChangePoint, type ChangePointOptions, changePoints } from '../../src/detect/e-divisive.js';
import { loadStatistics } from '../../src/detect/statistics.js';
import { TraceDbError } from '../../src/tracedb-error.js';
import { NILE } from './nile.js';
import { noise, seeded } from './seeded.js';

const statistics = await loadStatistics();

const changesOf = (values: readonly number[] | Float32Array, options: ChangePointOptions = {}): ChangePoint[] =>
  changePoints(values, options, statistics);

/** `length` values around each level, with a deviation of 1 % of it. */
const levels = (...stretches: readonly (readonly [level: number, length: number])[]): number[] => {
  const random = seeded(17);
  return stretches.flatMap(([level, length]) => Array.from({ length }, () => level * (1 + noise(random) / 100)));
};

/** One line a change, so that a failure shows both lists. */
const summary = (changes: readonly ChangePoint[]): string[] =>
  changes.map(({ index, change }) => `${index}: ${(change * 100).toFixed(0)} %`);

test('the Nile falls once, in 1899', () => {
  const [change, ...others] = changesOf(NILE);
  expect(others).toEqual([]);
  expect(1871 + change.index).toBe(1899);
  expect(change.lastBefore).toBe(27);
  // SciPy 1.17.1: means, and ttest_ind(after, before, equal_var=False), of the years until 1898 and from 1899 on.
  expect(change.before).toBe(1097.75);
  expect(change.after).toBeCloseTo(849.9722222222222, 9);
  expect(change.change).toBeCloseTo(849.9722222222222 / 1097.75 - 1, 12);
  expect(change.t).toBeCloseTo(-8.414516419101, 9);
  // 4,186 = 91 * 92 / 2 pairs of stretches, and mannwhitneyu says 5.527513236924095e-10: the rank test alone is nearer to certain.
  expect(change.pValue).toBeGreaterThan(5.527513236924095e-10 * 4186);
  expect(change.pValue).toBeLessThan(0.001);
});

test('several steps up and down, each at its place', () => {
  const history = levels([100, 60], [110, 40], [90, 80], [95, 30], [300, 50]);
  expect(summary(changesOf(history))).toEqual(['60: 10 %', '100: -18 %', '180: 6 %', '210: 214 %']);
});

test('a short time of other values within a long history is two changes', () => {
  expect(summary(changesOf(levels([100, 300], [80, 10], [100, 300])))).toEqual(['300: -20 %', '310: 26 %']);
});

test('a step of ten deviations is seen once eight values follow it', () => {
  expect(summary(changesOf(levels([100, 100], [110, 8])))).toEqual(['100: 10 %']);
  expect(changesOf(levels([100, 100], [110, 4]))).toEqual([]);
});

test('noise alone has no change', () => {
  expect(changesOf(levels([100, 400]))).toEqual([]);
});

test('far outliers make no step', () => {
  const history = levels([100, 80]);
  for (const i of [20, 41, 42, 79]) history[i] = 1000;
  expect(changesOf(history)).toEqual([]);
});

test('far outliers hide no step, nor its size', () => {
  const history = levels([100, 40], [106, 40]);
  for (const i of [10, 30, 55]) history[i] = 2000;
  history[70] = 0;
  const [change, ...others] = changesOf(history);
  expect(others).toEqual([]);
  expect(change.index).toBe(40);
  expect(change.change).toBeGreaterThan(0.05);
  expect(change.change).toBeLessThan(0.07);
});

test('five values that agree by luck are not a change of a series with two modes', () => {
  const history = Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? 100 : 200) + (i % 5) / 100);
  for (let i = 115; i < 120; i++) history[i] = 100 + (i % 5) / 100;
  expect(changesOf(history)).toEqual([]);
});

test('missing values are left out, and indices still count them', () => {
  const history: number[] = levels([100, 30], [120, 30]).flatMap((value) => [value, Number.NaN]);
  const [change] = changesOf(history);
  expect(change).toMatchObject({ index: 60, lastBefore: 58 });
  expect(changesOf(Float32Array.from(history))).toMatchObject([{ index: 60, lastBefore: 58 }]);
});

test('values without any noise', () => {
  const history = [...new Array<number>(30).fill(512), ...new Array<number>(30).fill(520)];
  expect(changesOf(history)).toMatchObject([{ index: 30, before: 512, after: 520, t: Number.POSITIVE_INFINITY }]);
  expect(changesOf(new Array<number>(60).fill(512))).toEqual([]);
  const late = [...new Array<number>(300).fill(512), ...new Array<number>(10).fill(520)];
  expect(changesOf(late)).toMatchObject([{ index: 300, before: 512, after: 520 }]);
});

test('a change from 0 is infinite, and a change between negative values has the sign of the step', () => {
  const [zeros, threes] = [new Array<number>(30).fill(0), new Array<number>(30).fill(3)];
  expect(changesOf([...zeros, ...threes])[0].change).toBe(Number.POSITIVE_INFINITY);
  expect(changesOf([...zeros, ...threes.map((x) => -x)])[0].change).toBe(Number.NEGATIVE_INFINITY);
  expect(summary(changesOf(levels([-100, 40], [-50, 40])))).toEqual(['40: 50 %']);
});

test('minEffect is a share of the smaller level: a rise and the fall back are both kept, or neither', () => {
  const history = levels([100, 60], [110, 60], [100, 60]);
  expect(summary(changesOf(history, { minEffect: 0.095 }))).toEqual(['60: 10 %', '120: -9 %']);
  expect(summary(changesOf(history, { minEffect: 0.105 }))).toEqual([]);
});

test('minEffect drops small changes and measures the others over what is left', () => {
  const history = levels([100, 50], [103, 50], [150, 50]);
  expect(summary(changesOf(history))).toEqual(['50: 3 %', '100: 46 %']);
  expect(summary(changesOf(history, { minEffect: 0.1 }))).toEqual(['100: 48 %']);
});

test('the same history has the same changes, and the input stays as it was', () => {
  const history = levels([100, 60], [110, 60]);
  const copy = [...history];
  expect(changesOf(history)).toEqual(changesOf(history));
  expect(history).toEqual(copy);
});

test('too short a history has no change', () => {
  for (let length = 0; length < 10; length++) expect(changesOf(levels([100, length])), String(length)).toEqual([]);
});

test('a history longer than the bound is refused, not cut', () => {
  const history = levels([100, 30]);
  expect(changesOf(history, { maxPoints: 30 })).toEqual([]);
  const refused = () => changesOf(history, { maxPoints: 29 });
  expect(refused).toThrow(TraceDbError);
  expect(refused).toThrow('a history of 30 values is longer than maxPoints = 29');
});

test.each([
  [{ pValue: 0 }, 'pValue must be between 0 and 1, not 0'],
  [{ pValue: Number.NaN }, 'pValue must be between 0 and 1, not NaN'],
  [{ minSize: 1 }, 'minSize must be a whole number from 2 on, not 1'],
  [{ maxPoints: 0.5 }, 'maxPoints must be a whole number from 1 on, not 0.5'],
  [{ minEffect: -0.1 }, 'minEffect must be a finite number from 0 on, not -0.1'],
])('%j is refused', (options, message) => {
  expect(() => changesOf([1, 2, 3], options)).toThrow(message);
});
