// Steps of a whole history, found by a step detector in a window that slides over it. One step makes many windows interesting: only
// the most marked one of each neighbourhood may be reported.
import { wholeNumber } from 'spanline/internal/base';
import { invalidInput } from '../tracedb-error.js';
import { type Direction, directionOf } from './direction.js';
import { checkSeries, kindOf, type Series, type SeriesCommit } from './regressions.js';
import type { Statistics } from './statistics.js';
import { type StepFitOptions, type StepStatus, stepFit } from './step-fit.js';

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
    const change = after === before ? 0 : (after - before) / Math.abs(before);
    if (!(Math.abs(change) >= minEffect)) return [];
    const { key, unit } = series;
    // By what the detector saw: the medians may stand still where it looks at means, or at one value.
    return [
      { key, unit, kind: kindOf(status === 'high', direction), commit: commits[at], before, after, change, regression },
    ];
  });
};
