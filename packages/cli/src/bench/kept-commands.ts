// `spanline bench compare` and `history`: what changed between two commits whose results `spanline bench run` has kept, and how figures went over the
// commits, as a table or drawn. Whether results come from a history file or a Perf store must make no difference to what is said of them. They
// measure nothing: whoever wants to be sure gates. A word for a commit must never pick one of several that begin alike, and a series must be of one
// machine and one line of Node.

import { type Direction, loadStatistics, type Params, type PerfSeries, readSeries } from '@spanline/tracedb';
import { readBenchHistory } from '@spanline/tracedb/bench-history';
import {
  type ComparedPoint,
  comparePoints,
  declaredDirection,
  gitCommit,
  type KeptPoint,
  type KeptSeries,
  seriesLabel,
  seriesOfRuns,
} from '@spanline/tracedb/internal';
import { getOrMake } from 'spanline/internal/base';
import { type Commands, command, options, type Values } from '../command.js';
import { ExitCode, endWith, notFound, wrongUsage } from '../exit-code.js';
import { share, wholeNumber } from '../options.js';
import { columns, digits, note, printAnswer, signedPercent, terminalWidth, trendText } from '../output.js';
import { STORE, withPerf } from '../perf/perf-options.js';

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

/** Where results were kept. */
const KEPT = options({ ...STORE, file: ['-f, --file <file>', 'history file that bench run has written'] });

type KeptOptions = Values<typeof KEPT>;

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
      getOrMake(samples, key, () => []).push(values[i]);
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

/** The hash that begins with the word, else the commit that git has under that name, such as `HEAD` or `main`. */
const keptCommit = async (series: readonly KeptSeries[], name: string): Promise<string> => {
  const hashes = [...new Set(series.flatMap(({ points }) => points.map(({ hash }) => hash)))];
  if (hashes.includes(name)) return name;
  const beginning = hashes.filter((hash) => hash.startsWith(name));
  if (beginning.length === 1) return beginning[0];
  if (beginning.length > 1)
    throw wrongUsage(`${beginning.length} measured commits begin with ${name}; write more of it`);
  const named = await gitCommit(process.cwd(), name).catch(() => undefined);
  const found = hashes.find((hash) => named?.hash.startsWith(hash));
  if (found !== undefined) return found;
  const newest = hashes.slice(-3).map((hash) => hash.slice(0, 10));
  throw notFound(
    hashes.length === 0
      ? 'no results are kept there; spanline bench run keeps some'
      : `no results are kept for ${name}${named === undefined ? '' : ` (${named.hash.slice(0, 10)})`}; there are some for ${newest.join(', ')}`,
  );
};

const COMPARE = options({
  ...KEPT,
  minEffect: ['--min-effect <share>', 'smallest relative change that counts, such as 5%', share, 0.05],
  alpha: [
    '--alpha <share>',
    'largest chance of calling anything changed when nothing is, over all series',
    share,
    0.05,
  ],
  all: ['--all', 'list unchanged series too'],
});

type CompareOptions = Values<typeof COMPARE>;

const comparedRow = (one: ComparedPoint): string[] => [
  seriesLabel(one),
  digits(one.before, 5),
  digits(one.after, 5),
  one.unit,
  signedPercent(one.change),
  one.pValue === undefined ? '' : one.pValue.toPrecision(2),
  one.verdict,
];

const compare = async (given: CompareOptions, beforeName: string, afterName: string): Promise<void> => {
  const { series, directions } = await readKept(given, true);
  const before = await keptCommit(series, beforeName);
  const after = await keptCommit(series, afterName);
  const { minEffect, alpha } = given;
  const compared = comparePoints(series, before, after, { minEffect, alpha, directions }, await loadStatistics());
  const shown = given.all ? compared : compared.filter(({ verdict }) => verdict !== 'same');
  const [worse, unsure] = ['worse', 'unsure'].map((name) => compared.filter(({ verdict }) => verdict === name).length);
  const table = columns(['series', 'before', 'after', 'unit', 'change', 'p', ''], shown.map(comparedRow), 'lrrlrrl');
  const text = `${table}${compared.length} series at both commits, ${worse} worse, ${unsure} unsure\n`;
  printAnswer(given.json, { before, after, minEffect, alpha, worse, unsure, series: shown }, text);
  // Two commits without a series in common compare nothing: no reason to call them fine.
  if (worse > 0 || compared.length === 0) endWith(ExitCode.findings);
};

/** Plots that a screen has room for, about. */
const MAX_DRAWN = 6;

const seriesRow = (series: KeptSeries): string[] => {
  const values = series.points.map(({ value }) => value);
  const [first] = values;
  const last = values[values.length - 1];
  const change = (last - first) / Math.abs(first);
  const shown = Number.isFinite(change) ? signedPercent(change) : '';
  return [seriesLabel(series), String(values.length), digits(first, 5), digits(last, 5), series.unit, shown];
};

const drawn = (series: KeptSeries): Promise<string> => {
  const { points, unit } = series;
  const trend = {
    key: `${seriesLabel(series)}, ${unit}`,
    commits: points,
    values: points.map(({ value }) => value),
  };
  return trendText(trend, terminalWidth());
};

const HISTORY = options({
  ...KEPT,
  last: ['-n, --last <commits>', 'only the newest so many of a series', wholeNumber(1)],
});

type HistoryOptions = Values<typeof HISTORY>;

const history = async ({ last, ...given }: HistoryOptions, figure: string | undefined): Promise<void> => {
  const { series } = await readKept(given, false);
  const chosen = series
    .filter((one) => figure === undefined || seriesLabel(one).includes(figure))
    .map((one) => ({ ...one, points: last === undefined ? one.points : one.points.slice(-last) }))
    .filter(({ points }) => points.length > 0);
  if (chosen.length === 0) {
    throw notFound(
      figure === undefined ? 'no results are kept there' : `no figure kept there has ${figure} in its name`,
    );
  }
  const table = columns(['series', 'commits', 'first', 'last', 'unit', 'change'], chosen.map(seriesRow), 'lrrrlr');
  if (figure === undefined || given.json) {
    printAnswer(given.json, { series: chosen }, table);
    return;
  }
  const plots: string[] = [];
  for (const one of chosen.slice(0, MAX_DRAWN)) plots.push(await drawn(one));
  process.stdout.write(`${plots.join('\n')}\n${table}`);
  if (chosen.length > MAX_DRAWN) note(`${chosen.length} series have ${figure} in their names; ${MAX_DRAWN} are drawn`);
};

export const commands = {
  compare: command({
    words: '<before> <after>',
    what: 'what changed between two commits whose results were kept: the beginnings of their hashes, or names that git knows',
    options: COMPARE,
    help: `
p is that of the test of Mann and Whitney on the samples that were kept. A change that they do not show is "unsure"; where none were kept its
size decides alone.

Examples:
  $ spanline bench compare -f bench/history.jsonl HEAD~1 HEAD
  $ spanline bench compare -s ./perf 5ce32c0 9122561 --min-effect 10%

Exit codes: 0 nothing is worse, 1 something is, or there is no such commit or nothing in common, 2 wrong usage, 3 the file or store failed.`,
    run: compare,
  }),

  history: command({
    words: '[figure]',
    what: 'how figures that were kept went over the commits: all as a table, or those with this in their names drawn',
    options: HISTORY,
    help: `
Examples:
  $ spanline bench history -f bench/history.jsonl
  $ spanline bench history -f bench/history.jsonl 'local-span 100' --last 50
  $ spanline bench history -s ./perf encode

Exit codes: 0 done, 1 there is no such figure, 2 wrong usage, 3 the file or store failed.`,
    run: history,
  }),
} satisfies Commands;
