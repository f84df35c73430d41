// How `spanline perf regressions` looks for changes: options of the command line before those of the config file, each only where it
// means something. A setting must never be ignored without a word.
import {
  type DetectionConfig,
  type Direction,
  findRegressions,
  findSteps,
  loadStatistics,
  type PerfSeries,
  type Regression,
  type Step,
  type StepDetectorName,
  type StepScanOptions,
} from '@spanline/tracedb';
import { historyOf } from '@spanline/tracedb/internal';
import { wrongUsage } from '../exit-code.js';

/** What the size of a step is, by detector; the column of the table and the help of --interesting. */
export const INTERESTING: Readonly<Record<StepDetectorName, string>> = {
  original: 'step over error of the fit, such as 25',
  absolute: "a size in the values' unit",
  const: "a limit in the values' unit",
  percent: 'a share, such as 0.1 for 10 %',
  cohen: 'deviations, such as 2',
  'mann-whitney': 'the largest p-value, such as 0.01',
};

export const DETECTORS = ['e-divisive', 'original', 'absolute', 'const', 'percent', 'cohen', 'mann-whitney'] as const;

/** What the command line says. */
export interface DetectionOptions {
  readonly detector?: (typeof DETECTORS)[number];
  readonly interesting?: number;
  readonly radius?: number;
  readonly minEffect?: number;
  readonly falsePositiveRate?: number;
}

/** A change, by either kind of detector. */
export type Found = Regression | Step;

/** How changes are looked for: what the command line says, and where it is silent the config file. */
type Detection =
  | { readonly detector: 'e-divisive'; readonly falsePositiveRate?: number; readonly minEffect?: number }
  | StepScanOptions;

/** An option that a detector does not look at is a mistake, not a detail. */
export const detectionOf = (options: DetectionOptions, configured: DetectionConfig | undefined): Detection => {
  const detector = options.detector ?? configured?.detector ?? 'e-divisive';
  // What the file says of another detector means nothing to this one.
  const file = configured?.detector === detector ? configured : undefined;
  const minEffect = options.minEffect ?? configured?.minimumEffect;
  if (detector === 'e-divisive') {
    for (const name of ['interesting', 'radius'] as const) {
      if (options[name] !== undefined) throw wrongUsage(`--${name} means nothing to e-divisive; name a --detector`);
    }
    return { detector, falsePositiveRate: options.falsePositiveRate ?? file?.significance, minEffect };
  }
  if (options.falsePositiveRate !== undefined) {
    throw wrongUsage(`--false-positive-rate means nothing to ${detector}; only e-divisive has one`);
  }
  const interesting = options.interesting ?? file?.interesting;
  if (interesting === undefined) throw wrongUsage(`${detector} needs --interesting: ${INTERESTING[detector]}`);
  const radius = options.radius ?? file?.radius;
  return { detector, interesting, radius, stddevThreshold: file?.stddevThreshold, minEffect };
};

/** The changes of all series, by commit. */
export const detect = async (
  detection: Detection,
  series: readonly PerfSeries[],
  directions: Readonly<Record<string, Direction>>,
): Promise<Found[]> => {
  const statistics = await loadStatistics();
  const histories = series.map(historyOf);
  if (detection.detector === 'e-divisive') {
    const { falsePositiveRate, minEffect } = detection;
    // The store and --from bound a series already; the time grows about with its length.
    const maxPoints = Number.MAX_SAFE_INTEGER;
    return findRegressions(histories, { minEffect, directions, falsePositiveRate, maxPoints }, statistics);
  }
  return histories
    .flatMap((one) => findSteps(one, { ...detection, directions }, statistics))
    .sort((a, b) => a.commit.number - b.commit.number);
};

/** Head of the column with what the detector measured. */
export const MEASURE: Readonly<Record<Detection['detector'], string>> = {
  'e-divisive': 'p-value',
  original: 'step/error',
  absolute: 'step',
  const: 'value',
  percent: 'share',
  cohen: 'deviations',
  'mann-whitney': 'p-value',
};
