// The endpoints of History. Only triage changes anything; everything else reads.
import { type Call, HttpError, type Route } from '@spanline/archive/internal';
import { userName } from 'spanline/internal/base';
import type { UiSources } from '../../sources.js';
import { apiGet, apiPost, numberOf } from '../api-route.js';
import type { SourceName, TriageBody } from './answers.js';
import { fileHistory, type HistorySource, perfHistory } from './history-source.js';
import { readHistories, readKeys, readStep } from './read-history.js';

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
