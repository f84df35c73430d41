// What every step detector takes and gives. It must never decide how a detector measures.
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
