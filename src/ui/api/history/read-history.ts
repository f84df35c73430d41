// Reads what History shows of a Perf store: keys and values, histories with their changes, the commits of a step. It must hold a bounded
// number of series and values, whatever a query selects.

import { RegressionSearch } from '../../../tracedb/detect/regression-search.js';
import {
  type Commit,
  compareCommits,
  loadStatistics,
  type PerfSeries,
  type PerfStore,
  type Regression,
} from '../../../tracedb/index.js';
import { historyOf } from '../../../tracedb/perf/history-of.js';
import { RegressionTriage, type TriagedChange } from '../../../tracedb/perf/regression-triage.js';
import type { ChangeAnswer, CommitColumns, KeysAnswer, SeriesAnswer, StepAnswer } from './answers.js';

/** Series that are drawn at once: more cannot be told apart. */
export const MAX_SERIES = 100;
const MAX_VALUES_A_KEY = 200;
const MAX_STEP_COMMITS = 1000;
const MAX_COMPARED = 1000;

// Of all stores: what it keeps is keyed by content.
const search = new RegressionSearch();

/** A caller that may go away. */
interface Asked {
  readonly signal: AbortSignal;
}

/** Keys and values of the newest tile, and how many of its traces a query selects. */
export const readKeys = async (perf: PerfStore, query: string, call: Asked): Promise<KeysAnswer> => {
  const tile = await perf.latestTile(call);
  if (tile === undefined) return { count: 0, keys: [] };
  const paramSet = await perf.paramSet(tile, call);
  const keys = paramSet.keys().map((key) => {
    const values = paramSet.values(key);
    return { key, values: values.slice(0, MAX_VALUES_A_KEY), total: values.length };
  });
  return { tile, count: await perf.count(tile, query, call), keys };
};

const columnsOf = (commits: readonly Commit[]): CommitColumns => ({
  numbers: commits.map(({ number }) => number),
  hashes: commits.map(({ hash }) => hash),
  times: commits.map(({ timestampMs }) => timestampMs ?? null),
});

const nameOf = (commit: number, key: string): string => `${commit} ${key}`;

const changeOf = (found: Regression, said: TriagedChange | undefined): ChangeAnswer => ({
  key: found.key,
  unit: found.unit,
  kind: found.kind,
  commit: found.commit.number,
  hash: found.commit.hash,
  lastBefore: found.lastBefore.number,
  before: found.before,
  after: found.after,
  change: found.change,
  pValue: found.pValue,
  status: said?.status ?? 'untriaged',
  ...(said !== undefined && { by: said.by, atMs: said.atMs, note: said.note }),
});

/** The lasting changes of these series, with what was said of them. */
const changesOf = async (perf: PerfStore, series: readonly PerfSeries[], call: Asked): Promise<ChangeAnswer[]> => {
  if (series.length === 0) return [];
  const options = { maxPoints: Number.MAX_SAFE_INTEGER };
  const found = await search.find(series.map(historyOf), options, await loadStatistics(), call.signal);
  const numbers = found.map(({ commit }) => commit.number);
  const said =
    found.length === 0
      ? []
      : await new RegressionTriage(perf.table).list({ from: numbers[0], to: numbers.at(-1) }, call);
  const byName = new Map(said.map((one) => [nameOf(one.commit, one.key), one]));
  return found.map((one) => changeOf(one, byName.get(nameOf(one.commit.number, one.key))));
};

const reasonOf = async (perf: PerfStore, query: string, call: Asked): Promise<string> => {
  const tile = await perf.latestTile(call);
  if (tile === undefined) return 'the store has no values yet';
  const plan = await perf.planOf(tile, query, call);
  return plan.kind === 'empty' ? plan.reason : 'no series that meets the query has a value at these commits';
};

/** The histories that a query selects, over the newest `last` commits, the first of them by key. */
export const readHistories = async (
  perf: PerfStore,
  query: string,
  last: number,
  call: Asked,
): Promise<SeriesAnswer> => {
  const series: PerfSeries[] = [];
  let left = 0;
  for await (const some of perf.querySeries(query, { ...call, last })) {
    const taken = some.slice(0, MAX_SERIES - series.length);
    series.push(...taken);
    left += some.length - taken.length;
  }
  const known = new Map(series.flatMap(({ commits }) => commits.map((commit) => [commit.number, commit] as const)));
  const commits = [...known.values()].sort((a, b) => a.number - b.number);
  const placeOf = new Map(commits.map(({ number }, i) => [number, i]));
  return {
    commits: columnsOf(commits),
    series: series.map((one) => {
      const values = new Array<number | null>(commits.length).fill(null);
      for (const [i, { number }] of one.commits.entries())
        values[placeOf.get(number) as number] = one.values[i] ?? null;
      return { key: one.key, unit: one.params.unit ?? '', values };
    }),
    left,
    changes: await changesOf(perf, series, call),
    ...(series.length === 0 && { reason: await reasonOf(perf, query, call) }),
  };
};

/** What lies behind commit `from` up to commit `to`, and how the series of a query differ between the two. */
export const readStep = async (
  perf: PerfStore,
  query: string,
  from: number,
  to: number,
  call: Asked,
): Promise<StepAnswer> => {
  const commits = await perf.commits.list({ from: from + 1, to }, call);
  const compared = await compareCommits(perf, from, to, query, call);
  return {
    commits: columnsOf(commits.slice(-MAX_STEP_COMMITS)),
    left: Math.max(0, commits.length - MAX_STEP_COMMITS),
    compared: compared.slice(0, MAX_COMPARED).map(({ params: _, ...one }) => one),
  };
};
