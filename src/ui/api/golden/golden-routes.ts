// The endpoints of Golden. Triage and ignore rules change the store; everything else reads.
import { HttpError } from '../../../archive/server/http-error.js';
import type { Call, Route } from '../../../archive/server/route.js';
import { whoRuns } from '../../../base/calls/who-runs.js';
import { TRIAGE_STATUSES } from '../../../tracedb/gold/expectation.js';
import { type GoldStore, type TriageStatus, unseenDigests } from '../../../tracedb/index.js';
import { apiGet, apiPost } from '../api-route.js';
import { numberOf } from '../number-of.js';
import type { SearchAnswer } from './answers.js';

const PAGE = 100;
const DAY_MS = 86_400_000;

const search = async (store: GoldStore, call: Call): Promise<SearchAnswer> => {
  const { query, signal } = call;
  const commits = numberOf(call, 'commits', 1, 10_000, 100);
  const status = query.get('status') ?? 'untriaged';
  const statuses = status === 'all' ? TRIAGE_STATUSES : [status as TriageStatus];
  const offset = numberOf(call, 'offset', 0, 1_000_000, 0);
  const ignored = query.get('ignored') === 'include' ? 'include' : 'exclude';
  const asked = {
    query: query.get('query') ?? '',
    statuses,
    offset,
    ignored,
    limit: PAGE,
    head: !query.has('all'),
  } as const;
  const { results, total, totals, ignoredTraces, reason } = await store.search(commits, asked, { signal });
  const blames = await store.blame(commits, undefined, { signal });
  const suspectsOf = new Map(
    blames.map(({ test, digest, suspects }) => [`${test} ${digest}`, suspects.map(({ commit }) => commit)]),
  );
  return {
    results: results.map(({ traces, paramSet, closest: _, ...one }) => ({
      ...one,
      traces: traces.length,
      suspects: suspectsOf.get(`${one.test} ${one.digest}`) ?? [],
      params: paramSet.toJSON(),
    })),
    total,
    totals,
    ignoredTraces,
    reason,
  };
};

/** What a post says; the store checks each of it. */
type Said = Readonly<Record<string, never>>;
const saidIn = (body: unknown): Said => (body ?? {}) as Said;

const triage = async (store: GoldStore, body: unknown, signal: AbortSignal): Promise<{ changed: number }> => {
  const { test, digest, status, note } = saidIn(body);
  const change = { test, digest, status };
  const [unseen] = await unseenDigests(store, [change], { signal });
  if (unseen !== undefined) throw new HttpError(404, `nothing is triaged: ${unseen.reason}`);
  return { changed: await store.expectations.triage([change], { by: whoRuns(), note, signal }) };
};

const addIgnore = (store: GoldStore, body: unknown, signal: AbortSignal): unknown => {
  const { query, days, note } = saidIn(body);
  if (!(days > 0 && days <= 3650)) throw new HttpError(400, 'days must be a number above 0, at most 3650');
  return store.ignores.create({ query, note, by: whoRuns(), expires: Date.now() + days * DAY_MS }, { signal });
};

const deleteIgnore = async (store: GoldStore, body: unknown, signal: AbortSignal): Promise<unknown> => {
  const { id } = saidIn(body);
  if (await store.ignores.delete(id, { signal })) return { deleted: id };
  throw new HttpError(404, `there is no ignore rule ${String(id)}; somebody else may have deleted it`);
};

/** The endpoints over a Gold store; without one each says how to get it. */
export const goldenRoutes = (gold: GoldStore | undefined): Route[] => {
  const store = (): GoldStore => {
    if (gold !== undefined) return gold;
    throw new HttpError(404, 'no Gold store is open; start spanline ui with --gold-store');
  };
  return [
    apiGet('golden/search', (call) => search(store(), call)),
    apiGet('golden/history', ({ query, signal }) =>
      store().expectations.history(query.get('test') ?? '', query.get('digest') ?? '', { signal }),
    ),
    apiGet('golden/ignores', ({ signal }) => store().ignores.list({ signal })),
    apiPost('golden/triage', (body, { signal }) => triage(store(), body, signal)),
    apiPost('golden/ignores/add', (body, { signal }) => addIgnore(store(), body, signal)),
    apiPost('golden/ignores/delete', (body, { signal }) => deleteIgnore(store(), body, signal)),
  ];
};
