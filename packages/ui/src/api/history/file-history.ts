// The history in files of runs. Queries mean what they mean in a store; judgements lie beside the files.

import { HttpError } from '@spanline/archive/internal';
import { compileQuery, type Params, type PerfSeries, parseQuery } from '@spanline/tracedb';
import { checkedTriage, compareValues, type ValuesAtCommit } from '@spanline/tracedb/internal';
import { BenchFiles } from './bench-files.js';
import type { HistorySource } from './history-source.js';
import { addJudgement, readJudgements } from './judgements-file.js';

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
