// The series that `spanline bench run` has kept, from a history file or a Perf store, for the commands that look back. Which of both they came from
// must make no difference to what is said of them.

import { type Direction, type Params, type PerfSeries, readSeries } from '@spanline/tracedb';
import { readBenchHistory } from '@spanline/tracedb/bench-history';
import { declaredDirection, type KeptPoint, type KeptSeries, seriesOfRuns } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { wrongUsage } from '../exit-code.js';
import { type StoreOptions, withPerf, withStore } from '../perf/perf-options.js';

/** Where results were kept. */
export interface KeptOptions extends StoreOptions {
  readonly file?: string;
}

/** What was found there. */
interface Kept {
  readonly series: readonly KeptSeries[];
  readonly directions: Readonly<Record<string, Direction>>;
}

/** What `bench run` gives every series: others of the store are not its own. */
const VALUES = 'bench=*&metric=*&stat=value';
const SAMPLES = 'bench=*&metric=*&stat=sample';
/** A series has up to 32 of samples. */
const MAX_SERIES = 100_000;

/** Give a command the options that say where results were kept. */
export const withKept = (command: Command): Command =>
  withStore(command).option('-f, --file <file>', 'history file that bench run has written');

const nameOf = ({ bench = '', metric = '', unit = '', node = '', machine = '' }: Params) => ({
  bench,
  metric,
  unit,
  node,
  machine,
});
const idOf = (params: Params): string => JSON.stringify(nameOf(params));

const samplesByPoint = (series: readonly PerfSeries[]): ReadonlyMap<string, readonly number[]> => {
  const samples = new Map<string, number[]>();
  for (const { params, commits, values } of series) {
    for (const [i, { number }] of commits.entries()) {
      const key = `${idOf(params)} ${number}`;
      const some = samples.get(key);
      if (some === undefined) samples.set(key, [values[i]]);
      else some.push(values[i]);
    }
  }
  return samples;
};

/** As in a file: by the time of the commits where all are known, else in the order in which the store took them in. */
const byTime = (points: readonly (KeptPoint & { readonly timestampMs?: number })[]): readonly KeptPoint[] => {
  const isKnown = points.every(({ timestampMs = 0 }) => timestampMs > 0);
  const sorted = isKnown ? points.toSorted((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0)) : points;
  return sorted.map(({ hash, value, samples }) => ({ hash, value, samples }));
};

const fromStore = async (options: KeptOptions, takesSamples: boolean): Promise<Kept> => {
  let kept: Kept = { series: [], directions: {} };
  await withPerf(options, async ({ perf, config, call }) => {
    const reading = { ...call, maxSeries: MAX_SERIES };
    const values = await readSeries(perf, VALUES, reading);
    const samples = samplesByPoint(takesSamples ? await readSeries(perf, SAMPLES, reading) : []);
    const pointsOf = ({ params, commits, values: own }: PerfSeries): readonly KeptPoint[] =>
      byTime(
        commits.map(({ hash, number, timestampMs }, i) => ({
          hash,
          timestampMs,
          value: own[i],
          samples: samples.get(`${idOf(params)} ${number}`) ?? [],
        })),
      );
    kept = {
      series: values.map((one) => ({
        ...nameOf(one.params),
        direction: declaredDirection(one.params),
        points: pointsOf(one),
      })),
      directions: Object.fromEntries(config?.directions ?? []),
    };
  });
  return kept;
};

/** The series of the file or store that the options name; samples of a store only where they are wanted, which are most of it. */
export const readKept = async (options: KeptOptions, takesSamples: boolean): Promise<Kept> => {
  const { file, store, config } = options;
  if (file !== undefined && (store !== undefined || config !== undefined)) {
    throw wrongUsage('give --file or --store, not both');
  }
  if (file !== undefined) return { series: seriesOfRuns(readBenchHistory(file)), directions: {} };
  return fromStore(options, takesSamples);
};
