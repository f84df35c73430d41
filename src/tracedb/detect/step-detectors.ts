// The step detectors by name: each measures the step in the middle of a window in its own way. None may search for the best place of a step.
import { mannWhitney } from './mann-whitney.js';
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
export interface StepWindow {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Values in the window, missing ones included. */
  readonly length: number;
  /** The value at the turning point; NaN if it is missing. */
  readonly middle: number;
}

export interface StepThresholds {
  /** Smallest size of a reported step. */
  readonly interesting: number;
  /** Spreads below it count as this much, so that a flat series does not turn a hair into a step. */
  readonly stddevThreshold: number;
}

/** What a detector measures; `null` where the window has too few values for it. */
export type StepMeasure = Omit<StepFit, 'turningPoint'> | null;

export type StepDetector = (window: StepWindow, thresholds: StepThresholds, statistics: Statistics) => StepMeasure;

/** `leastSquares` of a detector that fits nothing. */
export const NOTHING_FITTED = -1;

export const statusOf = (regression: number, interesting: number): StepStatus => {
  if (regression >= interesting) return 'low';
  return regression <= -interesting ? 'high' : 'uninteresting';
};

const sumOfSquares = (values: readonly number[], centre: number): number =>
  values.reduce((sum, value) => sum + (value - centre) ** 2, 0);

/**
 * `original`: scales the window to mean 0 and deviation 1, fits a step, and divides its size by the error of the fit. Never scales by a
 * deviation at or below the threshold.
 */
const originalStep: StepDetector = (window, { interesting, stddevThreshold }, { mean, populationSd }) => {
  const { before, after, length } = window;
  const spread = populationSd([...before, ...after]);
  const scale = spread > stddevThreshold ? spread : 1;
  const first = mean(before);
  const second = mean(after);
  const stepSize = (first - second) / scale;
  // The root is taken before the division by the length. A standard error would have both under the root, but the thresholds people
  // have chosen are for this form.
  const leastSquares = Math.sqrt(sumOfSquares(before, first) + sumOfSquares(after, second)) / scale / length;
  const regression = stepSize / Math.max(leastSquares, stddevThreshold);
  return { status: statusOf(regression, interesting), regression, stepSize, leastSquares };
};

/** `absolute`: the difference of the two means, in the unit of the values; never scaled. */
const absoluteStep: StepDetector = ({ before, after }, { interesting }, { mean }) => {
  const stepSize = mean(before) - mean(after);
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
};

/**
 * `const`: is the one value at the turning point at least `interesting` in size? Never looks at any other value.
 *
 * With v the value at the turning point: regression = -|v|, stepSize = |v| - interesting, and the status is `high` from |v| >= interesting
 * on. This is the definition of Skia Perf from June 2021 to May 2026. Since then Perf answers regression = |v|, stepSize = -1, and `Low`
 * for the same window. Reaching the limit counts as a rise here, so that it is a regression where less is better.
 */
const constStep: StepDetector = ({ middle }, { interesting }) => {
  if (Number.isNaN(middle)) return null;
  const size = Math.abs(middle);
  const regression = -size;
  return {
    status: statusOf(regression, interesting),
    regression,
    stepSize: size - interesting,
    leastSquares: NOTHING_FITTED,
  };
};

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** `percent`: the difference of the means as a share of the first (0.1 = 10 %). Never infinite: answers are kept as JSON and as float32. */
const percentStep: StepDetector = ({ before, after }, { interesting }, { mean }) => {
  const first = mean(before);
  const difference = first - mean(after);
  const share = difference === 0 ? 0 : difference / first;
  const stepSize = Number.isFinite(share) ? share : Math.sign(difference) * LARGEST_FLOAT32;
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
};

// Fewer than two values in each half have no spread.
const SMALLEST_COHEN_WINDOW = 4;

/**
 * `cohen`: Cohen's d, the difference of the means in units of the spread within the halves. Never divides by a spread below the threshold.
 */
const cohenStep: StepDetector = (window, { interesting, stddevThreshold }, { mean, sampleSd }) => {
  const { before, after, length } = window;
  if (length < SMALLEST_COHEN_WINDOW) return null;
  // The mean of the two deviations, not the pooled one of the textbook: the thresholds people have chosen are for this form.
  const spread = before.length > 1 && after.length > 1 ? (sampleSd(before) + sampleSd(after)) / 2 : 0;
  const stepSize = (mean(before) - mean(after)) / Math.max(spread, stddevThreshold);
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
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
