// What History reads, wherever it is kept: a Perf store, or the files of runs that `spanline bench run --file` has written, one or all of a
// directory, with what people said of changes beside them as JSON lines, so that it can be committed with them. Both must mean the same by a series,
// a commit and a query. Files are read again only when they changed. Only a judgement changes the store; a line of judgements is only ever added; the
// last one of a change counts, and a line that is none must not hide the others.
import { readdirSync, statSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HttpError } from '@spanline/archive/internal';
import {
  type Commit,
  type ComparedSeries,
  cleaningRule,
  compareCommits,
  compileQuery,
  forceValid,
  ParamSet,
  type Params,
  type PerfSeries,
  type PerfStore,
  parseQuery,
  structuredKeyOf,
} from '@spanline/tracedb';
import { BenchError, type BenchRun, readBenchHistory } from '@spanline/tracedb/bench-history';
import {
  type ChangeTriage,
  checkedTriage,
  compareValues,
  type KeptSeries,
  RegressionTriage,
  seriesOfRuns,
  type TriagedChange,
  type ValuesAtCommit,
} from '@spanline/tracedb/internal';
import { attempt, isGone } from 'spanline/internal/base';

const SUFFIX = '.jsonl';
const JUDGEMENTS = 'triage.jsonl';

/** Any character but those that part a key, and control characters. */
const RULE = cleaningRule(' -+\\--<>-~\\u{a0}-\\u{d7ff}\\u{e000}-\\u{10ffff}');

/** Runs of several files at one moment. */
interface BenchHistory {
  /** By time; the place of each is its number. */
  readonly commits: readonly Commit[];
  /** Sorted by key. */
  readonly series: readonly PerfSeries[];
  readonly params: ParamSet;
}

interface ReadFile {
  readonly state: string;
  readonly runs: readonly BenchRun[];
}

/** Oldest first: by the time of the commit where it is known, else by that of its first measurement. */
const commitsOf = (runs: readonly BenchRun[]): Commit[] => {
  const times = new Map<string, { readonly orderMs: number; readonly timestampMs?: number }>();
  for (const { commit, commitMs, measuredMs } of runs) {
    const known = times.get(commit);
    const timestampMs = commitMs ?? known?.timestampMs;
    const firstMs = Math.min(measuredMs, known?.orderMs ?? measuredMs);
    times.set(commit, timestampMs === undefined ? { orderMs: firstMs } : { orderMs: timestampMs, timestampMs });
  }
  return [...times]
    .sort(([, a], [, b]) => a.orderMs - b.orderMs)
    .map(([hash, { timestampMs }], number) => ({ hash, number, ...(timestampMs !== undefined && { timestampMs }) }));
};

const seriesOf = (
  { points, bench, metric, unit, node, machine }: KeptSeries,
  file: string,
  byHash: ReadonlyMap<string, Commit>,
): PerfSeries => {
  const named = { bench, metric, unit, node, machine, file };
  const params = forceValid(Object.fromEntries(Object.entries(named).filter(([, value]) => value !== '')), RULE);
  const found = points.map(({ hash, value }) => ({ commit: byHash.get(hash) as Commit, value }));
  found.sort((a, b) => a.commit.number - b.commit.number);
  const commits = found.map(({ commit }) => commit);
  return { key: structuredKeyOf(params), params, commits, values: found.map(({ value }) => value) };
};

/** History files at one place. */
class BenchFiles {
  readonly #files = new Map<string, ReadFile>();
  #state: string | undefined;
  #history: BenchHistory = { commits: [], series: [], params: new ParamSet() };

  /** A file, or a directory whose `.jsonl` files are meant. */
  constructor(readonly path: string) {}

  /** Where judgements are kept. */
  get judgementsFile(): string {
    if (this.#isDirectory()) return join(this.path, JUDGEMENTS);
    return join(dirname(this.path), `${basename(this.path, SUFFIX)}.${JUDGEMENTS}`);
  }

  /** What the files say now; it parses only those that changed. Throws `ERR_SPANLINE_BENCH_HISTORY`, which names the file and the line. */
  read(): BenchHistory {
    const isDirectory = this.#isDirectory();
    const paths = isDirectory ? this.#names().map((name) => join(this.path, name)) : [this.path];
    const files = paths.map((path) => [path, this.#file(path)] as const);
    const state = files.map(([path, file]) => `${path} ${file.state}`).join('\n');
    if (state === this.#state) return this.#history;
    for (const path of this.#files.keys()) if (!paths.includes(path)) this.#files.delete(path);
    const commits = commitsOf(files.flatMap(([, { runs }]) => runs));
    const byHash = new Map(commits.map((commit) => [commit.hash, commit]));
    const series = files.flatMap(([path, { runs }]) =>
      seriesOfRuns(runs).map((one) => seriesOf(one, isDirectory ? basename(path, SUFFIX) : '', byHash)),
    );
    const params = new ParamSet();
    for (const one of series) params.add(one.params);
    this.#history = { commits, series: series.sort((a, b) => (a.key < b.key ? -1 : 1)), params };
    this.#state = state;
    return this.#history;
  }

  #isDirectory(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  #names(): string[] {
    return readdirSync(this.path)
      .filter((name) => name.endsWith(SUFFIX) && !name.endsWith(JUDGEMENTS))
      .sort();
  }

  #file(path: string): ReadFile {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new BenchError('ERR_SPANLINE_BENCH_HISTORY', `${path} is not there any more`);
    const state = `${found.size} ${found.mtimeMs}`;
    const known = this.#files.get(path);
    if (known?.state === state) return known;
    const file = { state, runs: readBenchHistory(path) };
    this.#files.set(path, file);
    return file;
  }
}

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
  return {
    async params(call) {
      const tile = await perf.latestTile(call);
      return tile === undefined ? undefined : { tile, set: await perf.paramSet(tile, call) };
    },
    async count(query, call) {
      const tile = await perf.latestTile(call);
      return tile === undefined ? 0 : perf.count(tile, query, call);
    },
    series: (query, last, call) => perf.querySeries(query, { ...call, last }),
    async reason(query, call) {
      const tile = await perf.latestTile(call);
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
  const value: unknown = attempt(() => JSON.parse(line));
  return isKept(value) ? value : undefined;
};

/** The last judgement of each change; none where there is no file. */
const readJudgements = async (file: string): Promise<readonly KeptJudgement[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (isGone(error)) return '';
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
