// The files of runs that `spanline bench run --file` has written, one or all of a directory, as series over their commits. They are read again only
// when they changed. Judgements that lie beside them are not runs.
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Commit, cleaningRule, forceValid, ParamSet, type PerfSeries, structuredKeyOf } from '@spanline/tracedb';
import { BenchError, type BenchRun, readBenchHistory } from '@spanline/tracedb/bench-history';
import { type KeptSeries, seriesOfRuns } from '@spanline/tracedb/internal';

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
export class BenchFiles {
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
