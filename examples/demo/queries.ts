// The queries of the service. Async work is a span each (traced functions), the loops over commits are local spans.
import { LocalSpan, Span, traced } from 'spanline';
import type { Commit, History } from './history.js';

/** Values of one series, oldest first. */
type Series = readonly { readonly commit: string; readonly value: number }[];

/** What a query answers with. */
export type Answer = Record<string, unknown>;

export type Query = (history: History, parameters: URLSearchParams) => Promise<Answer>;

const CHUNK = 32;

/** One series out of the commits: the hot loop, a local span for each stretch of commits. */
const collect = (commits: readonly Commit[], name: string): Series => {
  using span = LocalSpan.start('collect');
  const series: { commit: string; value: number }[] = [];
  for (let i = 0; i < commits.length; i += CHUNK) {
    using stretch = LocalSpan.start('scan');
    const before = series.length;
    for (const { commit, benches } of commits.slice(i, i + CHUNK)) {
      for (const bench of benches) if (bench.name === name) series.push({ commit, value: bench.value });
    }
    stretch.addProperty('rows', series.length - before);
  }
  span.addProperty('series', name);
  return series;
};

const median = traced('median', (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
});

const wanted = (parameters: URLSearchParams): string => {
  const name = parameters.get('series');
  if (name === null) throw new Error('the parameter "series" is missing');
  return name;
};

/** Count, median, lowest and highest value. */
const statistics: Query = async (history, parameters) => {
  const name = wanted(parameters);
  const values = collect(await history.commitsWith([name]), name).map(({ value }) => value);
  return { name, count: values.length, median: median(values), min: Math.min(...values), max: Math.max(...values) };
};

/** The series between two positions. */
const range: Query = async (history, parameters) => {
  const name = wanted(parameters);
  const series = collect(await history.commitsWith([name]), name);
  return { name, points: series.slice(Number(parameters.get('from')), Number(parameters.get('to'))) };
};

/** Two series side by side, by commit. */
const join: Query = async (history, parameters) => {
  const left = wanted(parameters);
  const right = parameters.get('with') ?? left;
  const commits = await history.commitsWith([left, right]);
  return joinSeries(commits, left, right);
};

const joinSeries = traced('join', async (commits: readonly Commit[], left: string, right: string): Promise<Answer> => {
  const byCommit = new Map(collect(commits, left).map(({ commit, value }) => [commit, value]));
  // Lets other requests run between the two halves, as a server would.
  await new Promise(setImmediate);
  const rows: [string, number, number][] = [];
  const series = collect(commits, right);
  for (let i = 0; i < series.length; i += CHUNK) {
    using merge = LocalSpan.start('merge');
    for (const { commit, value } of series.slice(i, i + CHUNK)) {
      const other = byCommit.get(commit);
      if (other !== undefined) rows.push([commit, other, value]);
    }
    merge.addProperty('rows', rows.length);
  }
  Span.current()?.addProperty('rows', rows.length);
  return { left, right, rows: rows.length, last: rows.at(-1) };
});

/** The commits after which a series fell most, against the median of the ten before. */
const drops: Query = async (history, parameters) => {
  const name = wanted(parameters);
  const series = collect(await history.commitsWith([name]), name);
  const found: { commit: string; change: number }[] = [];
  for (let i = 10; i < series.length; i++) {
    const before = median(series.slice(i - 10, i).map(({ value }) => value));
    found.push({ commit: series[i].commit, change: series[i].value / before - 1 });
  }
  return { name, drops: found.sort((a, b) => a.change - b.change).slice(0, 3) };
};

export const QUERIES: Readonly<Record<string, Query>> = { statistics, range, join, drops };
