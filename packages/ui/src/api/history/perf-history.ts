// The history in a Perf store. Only a judgement changes the store.
import { compareCommits, type PerfStore } from '@spanline/tracedb';
import { RegressionTriage } from '@spanline/tracedb/internal';
import type { Asked, HistorySource } from './history-source.js';

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
