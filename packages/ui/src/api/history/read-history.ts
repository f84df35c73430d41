// The endpoints of History and what they read of a source: keys and values, histories with their changes, the commits of a step. It must hold a
// bounded number of series and values, whatever a query selects. Only triage changes anything. A query to begin with is suggested: of many series the
// first few that belong together. Samples and spreads are not figures to look at first, and series of several units share no axis; so these keys are
// fixed first, and then those with the fewest values, until a plot of what is left can be read.

import { type Call, HttpError, type Route } from '@spanline/archive/internal';
import {
  type Commit,
  formatQuery,
  loadStatistics,
  type ParamSet,
  type PerfSeries,
  queryFromParams,
  type Regression,
} from '@spanline/tracedb';
import { historyOf, RegressionSearch, type TriagedChange, unitOfParams } from '@spanline/tracedb/internal';
import { userName } from 'spanline/internal/base';
import { apiGet, apiPost, numberOf, type UiSources } from '../api-route.js';
import type {
  ChangeAnswer,
  CommitColumns,
  KeysAnswer,
  SeriesAnswer,
  SourceName,
  StepAnswer,
  TriageBody,
} from './answers.js';
import { type Asked, fileHistory, type HistorySource, perfHistory } from './history-source.js';

/** Series that a plot can be read of. */
const READABLE = 12;
/** Queries counted before what there is must do. */
const MAX_TRIES = 12;
/** The figure of a run, by the names that tools give it. */
const STATS: readonly string[] = ['value', 'median', 'mean', 'min'];
/** Keys that tell what is measured, not of what. */
const FIRST_KEYS: readonly string[] = ['stat', 'unit', 'metric'];

const orderOf =
  (set: ParamSet) =>
  (key: string): number => {
    const first = FIRST_KEYS.indexOf(key);
    return first < 0 ? FIRST_KEYS.length + set.values(key).length : first;
  };

const chosenValue = (set: ParamSet, key: string): string => {
  const values = set.values(key);
  return (key === 'stat' ? STATS.find((stat) => values.includes(stat)) : undefined) ?? values[0];
};

/** A query that selects a readable number of series, as far as one is found; `''` where all are few. `countOf` tells how many a query selects. */
const suggestQuery = async (set: ParamSet, countOf: (query: string) => Promise<number>): Promise<string> => {
  const order = orderOf(set);
  const keys = set
    .keys()
    .filter((key) => set.values(key).length > 1)
    .sort((a, b) => order(a) - order(b));
  let values: Readonly<Record<string, string>> = {};
  let count = await countOf('');
  for (const key of keys.slice(0, MAX_TRIES)) {
    if (count <= READABLE) break;
    const next = { ...values, [key]: chosenValue(set, key) };
    const left = await countOf(formatQuery(queryFromParams(next)));
    // A value that none of these series has helps nobody.
    if (left === 0) continue;
    values = next;
    count = left;
  }
  return formatQuery(queryFromParams(values));
};

/** Series that are drawn at once: more cannot be told apart. */
const MAX_SERIES = 100;
const MAX_VALUES_A_KEY = 200;
const MAX_STEP_COMMITS = 1000;
const MAX_COMPARED = 1000;

// Of all sources: what it keeps is keyed by content.
const search = new RegressionSearch();

/** Keys and values of now, how many series a query selects, and where nothing is asked for, a query to begin with. */
const readKeys = async (source: HistorySource, query: string, call: Asked): Promise<KeysAnswer> => {
  const params = await source.params(call);
  if (params === undefined) return { count: 0, keys: [] };
  const { set, tile } = params;
  const keys = set.keys().map((key) => {
    const values = set.values(key);
    return { key, values: values.slice(0, MAX_VALUES_A_KEY), total: values.length };
  });
  const countOf = (asked: string): Promise<number> => source.count(asked, call);
  return {
    ...(tile !== undefined && { tile }),
    count: await countOf(query),
    keys,
    ...(query === '' && { suggested: await suggestQuery(set, countOf) }),
  };
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
const changesOf = async (
  source: HistorySource,
  series: readonly PerfSeries[],
  call: Asked,
): Promise<ChangeAnswer[]> => {
  if (series.length === 0) return [];
  const options = { maxPoints: Number.MAX_SAFE_INTEGER };
  const found = await search.find(series.map(historyOf), options, await loadStatistics(), call.signal);
  const numbers = found.map(({ commit }) => commit.number);
  const said = found.length === 0 ? [] : await source.judgements(numbers[0], numbers.at(-1) as number, call);
  const byName = new Map(said.map((one) => [nameOf(one.commit, one.key), one]));
  return found.map((one) => changeOf(one, byName.get(nameOf(one.commit.number, one.key))));
};

/** The histories that a query selects, over the newest `last` commits, the first of them by key. */
const readHistories = async (
  source: HistorySource,
  query: string,
  last: number,
  call: Asked,
): Promise<SeriesAnswer> => {
  const series: PerfSeries[] = [];
  let left = 0;
  for await (const some of source.series(query, last, call)) {
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
      return { key: one.key, params: one.params, unit: unitOfParams(one.params), values };
    }),
    left,
    changes: await changesOf(source, series, call),
    ...(series.length === 0 && { reason: await source.reason(query, call) }),
  };
};

/** What lies behind commit `from` up to commit `to`, and how the series of a query differ between the two. */
const readStep = async (
  source: HistorySource,
  query: string,
  from: number,
  to: number,
  call: Asked,
): Promise<StepAnswer> => {
  const commits = await source.commits(from + 1, to, call);
  const compared = await source.compare(from, to, query, call);
  return {
    commits: columnsOf(commits.slice(-MAX_STEP_COMMITS)),
    left: Math.max(0, commits.length - MAX_STEP_COMMITS),
    compared: compared.slice(0, MAX_COMPARED).map(({ params: _, ...one }) => one),
    comparedLeft: Math.max(0, compared.length - MAX_COMPARED),
  };
};

const DEFAULT_COMMITS = 1000;
const MAX_COMMITS = 20_000;
const NO_FILES = 'no history files are open; start spanline ui with --history';

const queryOf = ({ query }: Call): string => query.get('query') ?? '';

/** The endpoints over a Perf store, files of runs, or both; without any each says how to get one. */
export const historyRoutes = ({ perf, history }: Pick<UiSources, 'perf' | 'history'>): Route[] => {
  const sources: Readonly<Record<SourceName, HistorySource | undefined>> = {
    store: perf && perfHistory(perf),
    files: history === undefined ? undefined : fileHistory(history),
  };
  const sourceOf = ({ query }: Call): HistorySource => {
    const name = query.get('source') ?? (perf === undefined ? 'files' : 'store');
    if (name !== 'store' && name !== 'files')
      throw new HttpError(400, `source must be store or files, not ${JSON.stringify(name)}`);
    const source = sources[name];
    if (source !== undefined) return source;
    const remedy = name === 'store' ? 'no Perf store is open; start spanline ui with --store' : NO_FILES;
    throw new HttpError(404, remedy);
  };
  return [
    apiGet('history/keys', (call) => readKeys(sourceOf(call), queryOf(call), call)),
    apiGet('history/series', (call) =>
      readHistories(sourceOf(call), queryOf(call), numberOf(call, 'last', 1, MAX_COMMITS, DEFAULT_COMMITS), call),
    ),
    apiGet('history/step', (call) => {
      const from = numberOf(call, 'from', 0, Number.MAX_SAFE_INTEGER);
      const to = numberOf(call, 'to', from + 1, Number.MAX_SAFE_INTEGER);
      return readStep(sourceOf(call), queryOf(call), from, to, call);
    }),
    apiPost('history/triage', (body, call) => {
      const { by = userName(), ...said } = (body ?? {}) as TriageBody;
      return sourceOf(call).judge({ ...said, by }, call);
    }),
  ];
};
