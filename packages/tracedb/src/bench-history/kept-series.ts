// Runs of a history, turned round: a series for each thing measured, with a point a commit, and what two of its commits say of each other. Figures of
// different machines, lines of Node or units must never come into one series. A change must never be called worse when the samples that were kept say
// that chance may have made it.
import { getOrMake } from 'spanline/internal/base';
import { type Direction, directionOf, relativeChange, verdictOf } from '../detect/direction.js';
import { mannWhitney } from '../detect/mann-whitney.js';
import type { Statistics } from '../detect/statistics.js';
import { type BenchFigure, keptSamples, medianOf } from './figure.js';
import type { BenchRun } from './history-file.js';
import { holm } from './judge.js';

/** What makes figures comparable: all of it must agree. */
interface SeriesName extends Pick<BenchFigure, 'bench' | 'metric' | 'unit'> {
  readonly node: string;
  readonly machine: string;
}

/** A series at one commit. */
export interface KeptPoint {
  /** Hash of the commit. */
  readonly hash: string;
  readonly value: number;
  /** Empty where none were kept. */
  readonly samples: readonly number[];
}

/** One thing measured, at the commits that have it, oldest first. */
export interface KeptSeries extends SeriesName {
  /** Which way is better where the unit does not tell. */
  readonly direction?: Direction;
  readonly points: readonly KeptPoint[];
}

/** How a series is called in answers. */
export const seriesLabel = ({ bench, metric, node, machine }: SeriesName): string =>
  `${bench} ${metric}, Node ${node}, ${machine}`;

/** A commit that was measured several times is one point: the median of its runs, with the samples of all; a run that kept none is one itself. */
const merged = (hash: string, runs: readonly BenchFigure[]): KeptPoint => ({
  hash,
  value: medianOf(runs.map(({ value }) => value)),
  samples:
    runs.length === 1
      ? runs[0].samples
      : keptSamples(runs.flatMap(({ samples, value }) => (samples.length === 0 ? [value] : samples))),
});

/** The series of runs, in the order of their first figures; commits by their time where it is known, else by that of the measurement. */
export const seriesOfRuns = (runs: readonly BenchRun[]): readonly KeptSeries[] => {
  const timeOf = ({ commitMs, measuredMs }: BenchRun): number => commitMs ?? measuredMs;
  const found = new Map<string, { readonly name: SeriesName; readonly byCommit: Map<string, BenchFigure[]> }>();
  for (const { commit, node, machine, figures } of [...runs].sort((a, b) => timeOf(a) - timeOf(b))) {
    for (const figure of figures) {
      const { bench, metric, unit } = figure;
      const key = JSON.stringify([bench, metric, unit, node, machine]);
      const name = { bench, metric, unit, node, machine };
      const { byCommit } = getOrMake(found, key, () => ({ name, byCommit: new Map<string, BenchFigure[]>() }));
      getOrMake(byCommit, commit, () => []).push(figure);
    }
  }
  return [...found.values()].map(({ name, byCommit }) => ({
    ...name,
    points: [...byCommit].map(([hash, figures]) => merged(hash, figures)),
  }));
};

/** How commits are compared. */
interface CompareOptions {
  /** Smallest relative change that counts. */
  readonly minEffect: number;
  /** Largest chance of calling anything changed when nothing is, over all series. */
  readonly alpha: number;
  readonly directions?: Readonly<Record<string, Direction>>;
}

/** A series at both commits. */
export interface ComparedPoint extends SeriesName {
  readonly before: number;
  readonly after: number;
  /** after / before - 1. */
  readonly change: number;
  /** Two-sided, of the samples of both, not corrected; undefined where a commit has fewer than two. */
  readonly pValue?: number;
  /** `unsure`: the change is large enough, and may be chance. `changed`: nobody knows which way is better. */
  readonly verdict: 'worse' | 'better' | 'changed' | 'unsure' | 'same';
}

const pValueOf = (before: KeptPoint, after: KeptPoint, statistics: Statistics): number | undefined =>
  before.samples.length < 2 || after.samples.length < 2
    ? undefined
    : mannWhitney(before.samples, after.samples, statistics).pValue;

/**
 * The series that both commits have, the largest change first. Samples are compared by the test of Mann and Whitney, and Holm's method shares
 * `alpha` among the series; where no samples were kept the size of the change alone decides.
 */
export const comparePoints = (
  series: readonly KeptSeries[],
  before: string,
  after: string,
  options: CompareOptions,
  statistics: Statistics,
): readonly ComparedPoint[] => {
  const pairs = series.flatMap((one) => {
    const { points, direction: _, ...name } = one;
    const [old, now] = [before, after].map((hash) => points.find((point) => point.hash === hash));
    return old === undefined || now === undefined
      ? []
      : [{ one, name, old, now, pValue: pValueOf(old, now, statistics) }];
  });
  const tested = pairs.filter(({ pValue }) => pValue !== undefined);
  const significant = holm(
    tested.map(({ pValue = 1 }) => pValue),
    options.alpha,
  );
  const chance = new Set(tested.filter((_, i) => !significant[i]));
  return pairs
    .map((pair): ComparedPoint => {
      const { one, name, old, now, pValue } = pair;
      const change = relativeChange(old.value, now.value);
      const direction = directionOf(one.unit, options.directions, one.direction);
      const real = chance.has(pair) ? 'unsure' : verdictOf(change > 0, direction);
      const verdict = Math.abs(change) >= options.minEffect ? real : 'same';
      return { ...name, before: old.value, after: now.value, change, ...(pValue !== undefined && { pValue }), verdict };
    })
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
};
