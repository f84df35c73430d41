// Steps by the detectors of Skia Perf: is there a step in the middle of a window, and which steps does a whole history have, over which the window
// slides? Each detector measures in its own way; none may search for the best place of a step. One step makes many windows interesting: only the most
// marked one of each neighbourhood may be reported.

import { wholeNumber } from 'spanline/internal/base';
import { invalidInput } from '../tracedb-error.js';
import { type Direction, directionOf, relativeChange } from './direction.js';
import { mannWhitney } from './mann-whitney.js';
import { checkSeries, kindOf, type Series, type SeriesCommit } from './regressions.js';
import type { Statistics } from './statistics.js';

/** `low`: the values fell. `high`: they rose. `uninteresting`: no step of the asked size. */
export type StepStatus = 'low' | 'high' | 'uninteresting';

/** The answer of {@link stepFit}. */
export interface StepFit {
  readonly status: StepStatus;
  /** What is compared with `interesting`; positive for a fall, negative for a rise. For `mann-whitney` it is p, negated on a rise. */
  readonly regression: number;
  /** Size of the step, first half minus second: negative for a rise. Its unit depends on the detector. */
  readonly stepSize: number;
  /** Index in the window where the second half begins. */
  readonly turningPoint: number;
  /** Error of the fitted step for `original`, the statistic U for `mann-whitney`, -1 where nothing is fitted. */
  readonly leastSquares: number;
}

/** The names of the detectors. */
export type StepDetectorName = 'original' | 'absolute' | 'const' | 'percent' | 'cohen' | 'mann-whitney';

/** A window cut in the middle; missing values are gone from the halves. */
interface StepWindow {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Values in the window, missing ones included. */
  readonly length: number;
  /** The value at the turning point; NaN if it is missing. */
  readonly middle: number;
}

interface StepThresholds {
  /** Smallest size of a reported step. */
  readonly interesting: number;
  /** Spreads below it count as this much, so that a flat series does not turn a hair into a step. */
  readonly stddevThreshold: number;
}

/** What a detector measures; `null` where the window has too few values for it. */
type StepMeasure = Omit<StepFit, 'turningPoint'> | null;

type StepDetector = (window: StepWindow, thresholds: StepThresholds, statistics: Statistics) => StepMeasure;

/** `leastSquares` of a detector that fits nothing. */
const NOTHING_FITTED = -1;

/** A step by its size or, where it is judged by something else, by that. */
const stepOf = (
  stepSize: number,
  { interesting }: StepThresholds,
  regression = stepSize,
  leastSquares = NOTHING_FITTED,
): StepMeasure => {
  const falls = regression <= -interesting ? 'high' : 'uninteresting';
  return { status: regression >= interesting ? 'low' : falls, regression, stepSize, leastSquares };
};

const sumOfSquares = (values: readonly number[], centre: number): number =>
  values.reduce((sum, value) => sum + (value - centre) ** 2, 0);

/**
 * `original`: scales the window to mean 0 and deviation 1, fits a step, and divides its size by the error of the fit. Never scales by a
 * deviation at or below the threshold.
 */
const originalStep: StepDetector = ({ before, after, length }, thresholds, { mean, populationSd }) => {
  const { stddevThreshold } = thresholds;
  const spread = populationSd([...before, ...after]);
  const scale = spread > stddevThreshold ? spread : 1;
  const first = mean(before);
  const second = mean(after);
  const stepSize = (first - second) / scale;
  // The root is taken before the division by the length. A standard error would have both under the root, but the thresholds people
  // have chosen are for this form.
  const leastSquares = Math.sqrt(sumOfSquares(before, first) + sumOfSquares(after, second)) / scale / length;
  return stepOf(stepSize, thresholds, stepSize / Math.max(leastSquares, stddevThreshold), leastSquares);
};

/** `absolute`: the difference of the two means, in the unit of the values; never scaled. */
const absoluteStep: StepDetector = ({ before, after }, thresholds, { mean }) =>
  stepOf(mean(before) - mean(after), thresholds);

/**
 * `const`: is the one value at the turning point at least `interesting` in size? Never looks at any other value.
 *
 * With v the value at the turning point: regression = -|v|, stepSize = |v| - interesting, and the status is `high` from |v| >= interesting
 * on. This is the definition of Skia Perf from June 2021 to May 2026. Since then Perf answers regression = |v|, stepSize = -1, and `Low`
 * for the same window. Reaching the limit counts as a rise here, so that it is a regression where less is better.
 */
const constStep: StepDetector = ({ middle }, thresholds) => {
  if (Number.isNaN(middle)) return null;
  const size = Math.abs(middle);
  return stepOf(size - thresholds.interesting, thresholds, -size);
};

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** `percent`: the difference of the means as a share of the first (0.1 = 10 %). Never infinite: answers are kept as JSON and as float32. */
const percentStep: StepDetector = ({ before, after }, thresholds, { mean }) => {
  const first = mean(before);
  const difference = first - mean(after);
  const share = difference === 0 ? 0 : difference / first;
  return stepOf(Number.isFinite(share) ? share : Math.sign(difference) * LARGEST_FLOAT32, thresholds);
};

// Fewer than two values in each half have no spread.
const SMALLEST_COHEN_WINDOW = 4;

/**
 * `cohen`: Cohen's d, the difference of the means in units of the spread within the halves. Never divides by a spread below the threshold.
 */
const cohenStep: StepDetector = ({ before, after, length }, thresholds, { mean, sampleSd }) => {
  if (length < SMALLEST_COHEN_WINDOW) return null;
  // The mean of the two deviations, not the pooled one of the textbook: the thresholds people have chosen are for this form.
  const spread = before.length > 1 && after.length > 1 ? (sampleSd(before) + sampleSd(after)) / 2 : 0;
  return stepOf((mean(before) - mean(after)) / Math.max(spread, thresholds.stddevThreshold), thresholds);
};

/** `mann-whitney`: the p-value of the rank test between the halves. p is never read as a size: here, small is interesting. */
const mannWhitneyStep: StepDetector = ({ before, after }, { interesting }, statistics) => {
  // Values that are all equal are no evidence of anything; p = 1 would read as a regression of that size.
  if ([...before, ...after].every((value) => value === before[0])) return null;
  const { u, pValue } = mannWhitney(before, after, statistics);
  const stepSize = statistics.mean(before) - statistics.mean(after);
  let status: StepStatus = 'uninteresting';
  if (pValue <= interesting) status = stepSize < 0 ? 'high' : 'low';
  return { status, regression: status === 'high' ? -pValue : pValue, stepSize, leastSquares: u };
};

export const STEP_DETECTORS: Readonly<Record<StepDetectorName, StepDetector>> = {
  original: originalStep,
  absolute: absoluteStep,
  const: constStep,
  percent: percentStep,
  cohen: cohenStep,
  'mann-whitney': mannWhitneyStep,
};

const SMALLEST_WINDOW = 3;
const DEFAULT_STDDEV_THRESHOLD = 0.001;

/** How {@link stepFit} looks for a step. */
export interface StepFitOptions {
  readonly detector: StepDetectorName;
  /**
   * From where on a step is reported, above 0: a size in the values' unit (`absolute`, `const`), a share (`percent`: 0.1 = 10 %),
   * deviations (`cohen`), step over error (`original`), or the largest p-value (`mann-whitney`).
   */
  readonly interesting: number;
  /** Smallest spread that is divided by, above 0; for `original` and `cohen`. Default 0.001. */
  readonly stddevThreshold?: number;
}

const check = (options: StepFitOptions): void => {
  const { detector, interesting, stddevThreshold } = options;
  if (!Object.hasOwn(STEP_DETECTORS, detector)) {
    throw invalidInput(
      `step detector ${JSON.stringify(detector)} is unknown; use one of ${Object.keys(STEP_DETECTORS).join(', ')}`,
    );
  }
  for (const [name, value] of Object.entries({ interesting, stddevThreshold })) {
    if (value === undefined && name === 'stddevThreshold') continue;
    if (!Number.isFinite(value) || Number(value) <= 0) {
      throw invalidInput(`${name} must be a finite number above 0, not ${value}`);
    }
  }
};

const present = (values: readonly number[] | Float32Array, start: number, end: number): number[] =>
  Array.from(values.slice(start, end)).filter(Number.isFinite);

/**
 * Looks for a step in the middle of a window, with the detectors of Skia Perf. Use it on a window of 2n + 1 values, n of them before the
 * commit in question; all detectors but `original` leave the last value of such a window out, so that both halves have n. A value that is
 * not finite (NaN = missing) is left out of its half; a half without values, a window of fewer than 3 values (`cohen`: 4), or a missing
 * middle (`const`) is `uninteresting`.
 * Throws ERR_SPANLINE_INVALID_INPUT for an unknown detector or a threshold that is not above 0.
 * Source: the definitions in perf/go/stepfit of google/skia-buildbot as of 2021 to May 2026; since then its `const` gives |v| and `Low`
 * where this one gives -|v| and `high`, v being the value in the middle. Equal values are
 * `uninteresting` with a `regression` and `stepSize` of 0 by every detector but `const`. For `mann-whitney`, p is exact up to 25 values in each half, ties
 * included; beyond, where counting is long, it is the normal approximation with corrections for ties and continuity.
 *
 * @example
 * ```ts
 * import { loadStatistics, stepFit } from '@spanline/tracedb';
 * const statistics = await loadStatistics();
 * const fit = stepFit([10, 10, 10, 8, 8, 8, 8], { detector: 'percent', interesting: 0.1 }, statistics);
 * console.assert(fit.status === 'low' && fit.turningPoint === 3 && Math.abs(fit.stepSize - 0.2) < 1e-9);
 * ```
 */
export const stepFit = (
  values: readonly number[] | Float32Array,
  options: StepFitOptions,
  statistics: Statistics,
): StepFit => {
  check(options);
  const { detector, interesting, stddevThreshold = DEFAULT_STDDEV_THRESHOLD } = options;
  const turningPoint = Math.floor(values.length / 2);
  const length = detector === 'original' ? values.length : 2 * turningPoint;
  const nothing: StepFit = {
    status: 'uninteresting',
    regression: 0,
    stepSize: 0,
    turningPoint,
    leastSquares: NOTHING_FITTED,
  };
  if (values.length < SMALLEST_WINDOW) return nothing;
  const before = present(values, 0, turningPoint);
  const after = present(values, turningPoint, length);
  if (before.length === 0 || after.length === 0) return nothing;
  const middle = Number.isFinite(values[turningPoint]) ? values[turningPoint] : Number.NaN;
  const measure = STEP_DETECTORS[detector](
    { before, after, length, middle },
    { interesting, stddevThreshold },
    statistics,
  );
  if (measure === null) return nothing;
  // Means of equal values differ in the last digit where one half has fewer of them.
  const isFlat = detector !== 'const' && [...before, ...after].every((value) => value === before[0]);
  return isFlat ? { ...nothing, leastSquares: measure.leastSquares } : { ...measure, turningPoint };
};

/** How {@link findSteps} looks. */
export interface StepScanOptions extends StepFitOptions {
  /** Values on each side of a window, 1 to 500. Default 10. */
  readonly radius?: number;
  /** Smallest relative change of the medians that counts. Default 0. */
  readonly minEffect?: number;
  readonly directions?: Readonly<Record<string, Direction>>;
}

/** A step of one series. */
export interface Step {
  readonly key: string;
  readonly unit: string;
  readonly kind: 'regression' | 'improvement' | 'changed';
  /** The first commit after the step. */
  readonly commit: SeriesCommit;
  /** Medians of the two halves of the window. */
  readonly before: number;
  readonly after: number;
  /** (after - before) / |before|. */
  readonly change: number;
  /** What the detector compared with `interesting`: positive for a fall, negative for a rise. */
  readonly regression: number;
}

interface Found {
  readonly at: number;
  readonly status: StepStatus;
  readonly regression: number;
  readonly strength: number;
}

const DEFAULT_RADIUS = 10;
const MAX_RADIUS = 500;

/** How marked a fit is, the same way for all detectors: of a p-value, smaller is more. */
const strengthOf = (regression: number, detector: StepFitOptions['detector']): number =>
  detector === 'mann-whitney' ? -Math.abs(regression) : Math.abs(regression);

/**
 * The steps of one series, oldest first. Use it where a detector with a fixed threshold is wanted, as in Skia Perf's alerts; use
 * `findRegressions` where significance is. Missing values (NaN) are left out before. Throws `ERR_SPANLINE_INVALID_INPUT` for
 * options out of range, and for a series whose commits do not rise or do not match its values.
 *
 * @example
 * ```ts
 * import { findSteps, loadStatistics } from '@spanline/tracedb';
 * const values = Array.from({ length: 40 }, (_, i) => (i < 20 ? 100 : 130));
 * const commits = values.map((_, i) => ({ number: i, hash: `c${i}`, timestampMs: i }));
 * const options = { detector: 'percent', interesting: 0.1 } as const;
 * const [step] = findSteps({ key: ',test=a,', unit: 'ms', commits, values }, options, await loadStatistics());
 * console.assert(step?.kind === 'regression' && step.commit.number === 20);
 * ```
 */
export const findSteps = (series: Series, options: StepScanOptions, statistics: Statistics): Step[] => {
  const { radius = DEFAULT_RADIUS, minEffect = 0, directions, ...fit } = options;
  wholeNumber('radius', radius, [1, MAX_RADIUS], invalidInput);
  checkSeries(series);
  // A series too short for a window must not hide options that are wrong.
  stepFit([], fit, statistics);
  const values: number[] = [];
  const commits: SeriesCommit[] = [];
  series.values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    values.push(value);
    commits.push(series.commits[i]);
  });
  const found: Found[] = [];
  for (let at = radius; at + radius <= values.length; at++) {
    // One value more than two halves: most detectors leave the last one out.
    const { status, regression } = stepFit(values.slice(at - radius, at + radius + 1), fit, statistics);
    if (status === 'uninteresting') continue;
    const strength = strengthOf(regression, fit.detector);
    const last = found.at(-1);
    const one = { at, status, regression, strength };
    if (last === undefined || at - last.at > radius || last.status !== status) found.push(one);
    else if (strength > last.strength) found[found.length - 1] = one;
  }
  const direction = directionOf(series.unit, directions, series.direction);
  return found.flatMap(({ at, status, regression }) => {
    const before = statistics.median(values.slice(at - radius, at));
    const after = statistics.median(values.slice(at, at + radius));
    const change = relativeChange(before, after);
    if (!(Math.abs(change) >= minEffect)) return [];
    const { key, unit } = series;
    // By what the detector saw: the medians may stand still where it looks at means, or at one value.
    return [
      { key, unit, kind: kindOf(status === 'high', direction), commit: commits[at], before, after, change, regression },
    ];
  });
};
