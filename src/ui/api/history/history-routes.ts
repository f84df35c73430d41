// The endpoints of History. Only triage changes the store; everything else reads.

import { HttpError } from '../../../archive/server/http-error.js';
import type { Call, Route } from '../../../archive/server/route.js';
import { whoRuns } from '../../../base/calls/who-runs.js';
import type { PerfStore } from '../../../tracedb/index.js';
import { RegressionTriage } from '../../../tracedb/perf/regression-triage.js';
import { apiGet, apiPost } from '../api-route.js';
import { numberOf } from '../number-of.js';
import type { TriageBody } from './answers.js';
import { readHistories, readKeys, readStep } from './read-history.js';

const DEFAULT_COMMITS = 1000;
const MAX_COMMITS = 20_000;

const queryOf = ({ query }: Call): string => query.get('query') ?? '';

/** The endpoints over a Perf store; without one each says how to get it. */
export const historyRoutes = (perf: PerfStore | undefined): Route[] => {
  const store = (): PerfStore => {
    if (perf !== undefined) return perf;
    throw new HttpError(404, 'no Perf store is open; start spanline ui with --store');
  };
  return [
    apiGet('history/keys', (call) => readKeys(store(), queryOf(call), { signal: call.signal })),
    apiGet('history/series', (call) =>
      readHistories(store(), queryOf(call), numberOf(call, 'last', 1, MAX_COMMITS, DEFAULT_COMMITS), {
        signal: call.signal,
      }),
    ),
    apiGet('history/step', (call) => {
      const from = numberOf(call, 'from', 0, Number.MAX_SAFE_INTEGER);
      const to = numberOf(call, 'to', from + 1, Number.MAX_SAFE_INTEGER);
      return readStep(store(), queryOf(call), from, to, { signal: call.signal });
    }),
    apiPost('history/triage', (body, { signal }) => {
      const { by = whoRuns(), ...said } = (body ?? {}) as TriageBody;
      return new RegressionTriage(store().table).set({ ...said, by }, { signal });
    }),
  ];
};
