// What History reads, wherever it is kept: a Perf store, or files of runs with what people said of changes beside them as JSON lines, so that it can
// be committed with them. Both must mean the same by a series, a commit and a query. Only a judgement changes the store. A line of judgements is only
// ever added; the last one of a change counts, and a line that is none must not hide the others.

import { appendFile, readFile } from 'node:fs/promises';
import { HttpError } from '@spanline/archive/internal';
import {
  type Commit,
  type ComparedSeries,
  compareCommits,
  compileQuery,
  type ParamSet,
  type Params,
  type PerfSeries,
  type PerfStore,
  parseQuery,
} from '@spanline/tracedb';
import {
  type ChangeTriage,
  checkedTriage,
  compareValues,
  RegressionTriage,
  type TriagedChange,
  type ValuesAtCommit,
} from '@spanline/tracedb/internal';
import { BenchFiles } from './bench-files.js';

/** A caller that may go away. */
export interface Asked {
  readonly signal: AbortSignal;
}

/** A history of values by commit, queried by params. */
export interface HistorySource {
  /** What a query can be built of; the tile whose params these are, where they are of one. Undefined where there is nothing yet. */
  params(call: Asked): Promise<{ readonly set: ParamSet; readonly tile?: number } | undefined>;
  /** How many series of these params a query selects. Rejects with `ERR_SPANLINE_INVALID_INPUT`. */
  count(query: string, call: Asked): Promise<number>;
  /** The histories that a query selects, over the newest `last` commits, sorted by key, some at a time. */
  series(query: string, last: number, call: Asked): AsyncIterable<readonly PerfSeries[]>;
  /** Why a query selects nothing. */
  reason(query: string, call: Asked): Promise<string>;
  /** The commits with these numbers, both included, oldest first. */
  commits(from: number, to: number, call: Asked): Promise<readonly Commit[]>;
  /** Series of a query that have a value at both commits, the largest change first. */
  compare(from: number, to: number, query: string, call: Asked): Promise<readonly ComparedSeries[]>;
  /** What was said of changes at these commits, both included. */
  judgements(from: number, to: number, call: Asked): Promise<readonly TriagedChange[]>;
  /** Keep what somebody says of a change. */
  judge(said: ChangeTriage, call: Asked): Promise<TriagedChange>;
}

/** The store as a history. */
export const perfHistory = (perf: PerfStore): HistorySource => {
  const triage = new RegressionTriage(perf.table);
  const newestTile = (call: Asked): Promise<number | undefined> => perf.latestTile(call);
  return {
    async params(call) {
      const tile = await newestTile(call);
      return tile === undefined ? undefined : { tile, set: await perf.paramSet(tile, call) };
    },
    async count(query, call) {
      const tile = await newestTile(call);
      return tile === undefined ? 0 : perf.count(tile, query, call);
    },
    series: (query, last, call) => perf.querySeries(query, { ...call, last }),
    async reason(query, call) {
      const tile = await newestTile(call);
      if (tile === undefined) return 'the store has no values yet';
      const plan = await perf.planOf(tile, query, call);
      return plan.kind === 'empty' ? plan.reason : 'no series that meets the query has a value at these commits';
    },
    commits: (from, to, call) => perf.commits.list({ from, to }, call),
    compare: (from, to, query, call) => compareCommits(perf, from, to, query, call),
    judgements: (from, to, call) => triage.list({ from, to }, call),
    judge: (said, call) => triage.set(said, call),
  };
};

/** A judgement, of a commit by its hash: numbers change when files do. */
interface KeptJudgement extends Omit<TriagedChange, 'commit'> {
  readonly commit: string;
}

const isKept = (value: unknown): value is KeptJudgement => {
  const { commit, key, status, by, atMs } = (value ?? {}) as Partial<KeptJudgement>;
  return [commit, key, status, by].every((text) => typeof text === 'string') && typeof atMs === 'number';
};

const parsed = (line: string): KeptJudgement | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isKept(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The last judgement of each change; none where there is no file. */
const readJudgements = async (file: string): Promise<readonly KeptJudgement[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new HttpError(400, `${file} cannot be read: ${error.message}`);
  });
  const last = new Map<string, KeptJudgement>();
  for (const line of text.split('\n')) {
    const judgement = parsed(line);
    if (judgement !== undefined) last.set(`${judgement.commit} ${judgement.key}`, judgement);
  }
  return [...last.values()];
};

/** Keep a judgement. */
const addJudgement = async (file: string, judgement: KeptJudgement): Promise<void> => {
  await appendFile(file, `${JSON.stringify(judgement)}\n`).catch((error: Error) => {
    throw new HttpError(400, `${file} cannot be written, so nothing was kept: ${error.message}`);
  });
};

const selectedBy = async (query: string, series: readonly PerfSeries[]): Promise<readonly PerfSeries[]> => {
  const matches = await compileQuery(parseQuery(query));
  return series.filter(({ params }) => matches(params));
};

/** The series from commit `first` on; undefined without a value there. */
const since = (series: PerfSeries, first: number): PerfSeries | undefined => {
  const at = series.commits.findIndex(({ number }) => number >= first);
  if (at < 0) return undefined;
  return { ...series, commits: series.commits.slice(at), values: series.values.slice(at) };
};

const valuesAt = (series: readonly PerfSeries[], commit: number): ValuesAtCommit => {
  const found = new Map<string, { readonly params: Params; readonly value: number }>();
  for (const { key, params, commits, values } of series) {
    const at = commits.findIndex(({ number }) => number === commit);
    if (at >= 0) found.set(key, { params, value: values[at] });
  }
  return found;
};

/** The files at a path, one or all of a directory, as a history. */
export const fileHistory = (path: string): HistorySource => {
  const files = new BenchFiles(path);
  return {
    async params() {
      const { series, params } = files.read();
      return series.length === 0 ? undefined : { set: params };
    },
    async count(query) {
      return (await selectedBy(query, files.read().series)).length;
    },
    async *series(query, last) {
      const { commits, series } = files.read();
      const first = Math.max(0, commits.length - last);
      const selected = await selectedBy(query, series);
      yield selected.flatMap((one) => since(one, first) ?? []);
    },
    async reason() {
      if (files.read().series.length === 0) return `${path} has no runs yet`;
      return 'no series that meets the query has a value at these commits';
    },
    async commits(from, to) {
      return files.read().commits.slice(from, to + 1);
    },
    async compare(from, to, query) {
      const series = await selectedBy(query, files.read().series);
      return compareValues(valuesAt(series, from), valuesAt(series, to), {});
    },
    async judgements(from, to) {
      const numbers = new Map(files.read().commits.map(({ hash, number }) => [hash, number]));
      const kept = await readJudgements(files.judgementsFile);
      return kept
        .map(({ commit, ...said }) => ({ ...said, commit: numbers.get(commit) ?? -1 }))
        .filter(({ commit }) => commit >= from && commit <= to);
    },
    async judge(triage) {
      const said = checkedTriage(triage);
      const commit = files.read().commits[said.commit];
      if (commit === undefined) throw new HttpError(404, `the history has no commit ${said.commit}`);
      await addJudgement(files.judgementsFile, { ...said, commit: commit.hash });
      return said;
    },
  };
};
