// Step detection in one window of a series: is there a step in the middle? It must never search for the best place of a step; the
// window slides over the series instead.
import { invalidInput } from '../tracedb-error.js';
import type { Statistics } from './statistics.js';
import { NOTHING_FITTED, STEP_DETECTORS, type StepDetectorName, type StepFit } from './step-detectors.js';

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
 * import { loadStatistics, stepFit } from 'spanline/tracedb';
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
