// Runs of a history, turned round: a series for each thing measured, with a point a commit. Figures of different machines, lines of Node or units
// must never come into one series.
import type { Direction } from '../detect/direction.js';
import { type BenchFigure, keptSamples, medianOf } from './figure.js';
import type { BenchRun } from './run-record.js';

/** What makes figures comparable: all of it must agree. */
export interface SeriesName extends Pick<BenchFigure, 'bench' | 'metric' | 'unit'> {
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
      const series = found.get(key) ?? { name: { bench, metric, unit, node, machine }, byCommit: new Map() };
      found.set(key, series);
      series.byCommit.set(commit, [...(series.byCommit.get(commit) ?? []), figure]);
    }
  }
  return [...found.values()].map(({ name, byCommit }) => ({
    ...name,
    points: [...byCommit].map(([hash, figures]) => merged(hash, figures)),
  }));
};
