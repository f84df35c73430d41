// Each step detector measures what Skia Perf's definition says, in the middle of the window, and leaves missing values out.
import { expect, test } from 'vitest';
import { loadStatistics } from '../../src/detect/statistics.js';
import { type StepDetectorName, stepFit } from '../../src/detect/step-fit.js';

const statistics = await loadStatistics();
const { NaN: missing } = Number;

const fall = [10.2, 9.9, 10.1, 10.4, 8.1, 8.3, 7.9, 8.2, 8.0];
const rise = [8.1, 8.3, missing, 7.9, 10.2, 9.8, 10.1, missing, 10.4];
const flat = [5, 5.0001, 5, 5, 5.0002, 5.0001, 5.0003];

const measure = (values: readonly number[] | Float32Array, detector: StepDetectorName, interesting: number) =>
  stepFit(values, { detector, interesting }, statistics);

// Computed from the published definitions with NumPy 2.4.6 (mean, std) and SciPy 1.17.1 (mannwhitneyu, exact), in double precision.
test.each([
  [
    'original',
    fall,
    25,
    { status: 'low', regression: 38.47090939353029, stepSize: 1.9881280830219912, leastSquares: 0.05167873893192495 },
  ],
  [
    'original',
    rise,
    25,
    {
      status: 'high',
      regression: -35.237545025714454,
      stepSize: -1.9833420662512913,
      leastSquares: 0.05628491045003151,
    },
  ],
  [
    'original',
    flat,
    25,
    {
      status: 'uninteresting',
      regression: -0.11666666666683885,
      stepSize: -0.00011666666666683885,
      leastSquares: 3.400680204070759e-5,
    },
  ],
  ['absolute', fall, 2, { status: 'low', regression: 2.025, stepSize: 2.025, leastSquares: -1 }],
  [
    'absolute',
    rise,
    1.9,
    { status: 'high', regression: -1.9333333333333336, stepSize: -1.9333333333333336, leastSquares: -1 },
  ],
  [
    'absolute',
    rise,
    2,
    { status: 'uninteresting', regression: -1.9333333333333336, stepSize: -1.9333333333333336, leastSquares: -1 },
  ],
  [
    'percent',
    fall,
    0.15,
    { status: 'low', regression: 0.1995073891625616, stepSize: 0.1995073891625616, leastSquares: -1 },
  ],
  [
    'percent',
    rise,
    0.2,
    { status: 'high', regression: -0.2386831275720165, stepSize: -0.2386831275720165, leastSquares: -1 },
  ],
  ['cohen', fall, 4, { status: 'low', regression: 10.687450805753711, stepSize: 10.687450805753711, leastSquares: -1 }],
  ['cohen', rise, 4, { status: 'high', regression: -9.47325593807141, stepSize: -9.47325593807141, leastSquares: -1 }],
  [
    'cohen',
    flat,
    4,
    { status: 'uninteresting', regression: -0.06666666666621524, stepSize: -0.06666666666621524, leastSquares: -1 },
  ],
  ['mann-whitney', fall, 0.05, { status: 'low', regression: 0.02857142857142857, stepSize: 2.025, leastSquares: 16 }],
  ['mann-whitney', rise, 0.1001, { status: 'high', regression: -0.1, stepSize: -1.9333333333333336, leastSquares: 0 }],
  [
    'mann-whitney',
    rise,
    0.05,
    { status: 'uninteresting', regression: 0.1, stepSize: -1.9333333333333336, leastSquares: 0 },
  ],
  ['const', fall, 8, { status: 'high', regression: -8.1, stepSize: 0.1, leastSquares: -1 }],
  ['const', fall, 8.2, { status: 'uninteresting', regression: -8.1, stepSize: -0.1, leastSquares: -1 }],
] as const)('%s of %j from %d on', (detector, values, interesting, expected) => {
  const { status, turningPoint, ...numbers } = measure(values, detector, interesting);
  expect(status).toBe(expected.status);
  expect(turningPoint).toBe(Math.floor(values.length / 2));
  for (const name of ['regression', 'stepSize', 'leastSquares'] as const) {
    expect(numbers[name], name).toBeCloseTo(expected[name], 9);
  }
});

test('const looks at the size of a negative value', () => {
  expect(measure([0, 0, -9, 0, 0], 'const', 8)).toMatchObject({ status: 'high', regression: -9, stepSize: 1 });
});

test('a step of exactly the asked size is reported', () => {
  expect(measure([1, 1, 2, 2, 0], 'absolute', 1).status).toBe('high');
  expect(measure([2, 2, 1, 1, 0], 'absolute', 1).status).toBe('low');
});

test('only original looks at the last value of the window', () => {
  const ends = (last: number): number[] => [1, 2, 1, 4, 5, 4, last];
  for (const detector of ['absolute', 'percent', 'cohen', 'mann-whitney', 'const'] as const) {
    expect(measure(ends(4), detector, 0.1), detector).toEqual(measure(ends(900), detector, 0.1));
  }
  expect(measure(ends(4), 'original', 0.1)).not.toEqual(measure(ends(900), 'original', 0.1));
});

test('a window of even length is two equal halves as it is', () => {
  for (const detector of ['original', 'absolute', 'percent', 'cohen'] as const) {
    expect(measure([2, 2.1, 2, 1, 1.1, 1], detector, 0.4), detector).toMatchObject({ status: 'low', turningPoint: 3 });
  }
  expect(measure([2, 2, 1, 1], 'absolute', 1)).toMatchObject({ status: 'low', turningPoint: 2, stepSize: 1 });
});

test('a Float32Array is a window too', () => {
  expect(measure(Float32Array.of(2, 2, 1, 1, 1), 'percent', 0.5)).toMatchObject({ status: 'low', stepSize: 0.5 });
});

test('percent of nothing stays a number that float32 and JSON can hold', () => {
  expect(measure([0, 0, 3, 3, 3], 'percent', 0.1)).toMatchObject({ status: 'high', stepSize: -3.4028234663852886e38 });
  expect(measure([0, 0, -3, -3, -3], 'percent', 0.1)).toMatchObject({ status: 'low', stepSize: 3.4028234663852886e38 });
  expect(measure([0, 0, 0, 0, 0], 'percent', 0.1)).toMatchObject({ status: 'uninteresting', stepSize: 0 });
});

test('a flat half does not turn a hair into a step: cohen divides by the threshold', () => {
  const hair = [7, 7, 7, 7.002, 7.002, 7.002, 7];
  expect(measure(hair, 'cohen', 1).regression).toBeCloseTo(-2, 6);
  expect(stepFit(hair, { detector: 'cohen', interesting: 1, stddevThreshold: 0.1 }, statistics).status).toBe(
    'uninteresting',
  );
});

const detectors = ['original', 'absolute', 'const', 'percent', 'cohen', 'mann-whitney'] as const;

test.each(detectors)('%s: windows without enough values are uninteresting', (detector) => {
  for (const values of [
    [],
    [1],
    [1, 2],
    [missing, missing, missing, 1, 2],
    [1, 2, missing, Number.POSITIVE_INFINITY, missing],
  ]) {
    expect(measure(values, detector, 1e-9), JSON.stringify(values)).toMatchObject({
      status: 'uninteresting',
      regression: 0,
      stepSize: 0,
      leastSquares: -1,
    });
  }
});

test.each(detectors)('%s: a constant window is uninteresting', (detector) => {
  expect(measure([3, 3, 3, 3, 3, 3, 3], detector, detector === 'mann-whitney' ? 0.05 : 5).status).toBe('uninteresting');
});

test('values that are all equal have no step: neither p = 1 nor a direction, whatever the threshold', () => {
  const nothing = { status: 'uninteresting', regression: 0, stepSize: 0, leastSquares: -1 };
  for (const interesting of [0.05, 1]) {
    expect(measure([3, 3, 3, 3, 3, 3, 3], 'mann-whitney', interesting)).toMatchObject(nothing);
    expect(measure([0, 0, Number.NaN, 0, 0, 0, Number.NaN], 'mann-whitney', interesting)).toMatchObject(nothing);
  }
});

test('const: a limit that is reached is a rise, by either sign; regression = -|v|, stepSize = |v| - interesting', () => {
  for (const v of [7, -7]) {
    const reached = { status: 'high', regression: -7, stepSize: 2, turningPoint: 3 };
    expect(measure([1, 1, 1, v, 1, 1, 1], 'const', 5)).toMatchObject(reached);
    expect(measure([9, 9, 9, v, 9, 9, 9], 'const', 8)).toMatchObject({ status: 'uninteresting', regression: -7 });
  }
});

test('wrong options name themselves', () => {
  const values = [1, 2, 3, 4, 5];
  const call = (options: object) => () => stepFit(values, options as Parameters<typeof stepFit>[1], statistics);
  expect(call({ detector: 'steep', interesting: 1 })).toThrow(/"steep" is unknown; use one of original, absolute/);
  expect(call({ detector: 'toString', interesting: 1 })).toThrow(/unknown/);
  for (const interesting of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, undefined]) {
    expect(call({ detector: 'cohen', interesting })).toThrow(/interesting must be a finite number above 0/);
  }
  expect(call({ detector: 'cohen', interesting: 1, stddevThreshold: 0 })).toThrow(/stddevThreshold must be/);
});

test.each(['original', 'absolute', 'percent', 'cohen', 'mann-whitney'] as const)(
  'equal values have no step by %s, also where some are missing',
  (detector) => {
    for (const value of [0.1, -3.3, 637.0513083963933, 0]) {
      for (let missing = 0; missing < 9; missing++) {
        const values = Array.from({ length: 27 }, (_, i) => (i < missing ? Number.NaN : value));
        const fit = stepFit(values, { detector, interesting: 1e-20 }, statistics);
        expect(fit, `${value}, ${missing} missing`).toMatchObject({
          status: 'uninteresting',
          regression: 0,
          stepSize: 0,
        });
      }
    }
  },
);
