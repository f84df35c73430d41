// The endpoints of Golden. Triage and ignore rules change the store; everything else reads.
import { HttpError } from '../../../archive/server/http-error.js';
import type { Call, Route } from '../../../archive/server/route.js';
import { whoRuns } from '../../../base/calls/who-runs.js';
import { DEFAULT_TEST_KEY } from '../../../tracedb/gold/blame.js';
import { TRIAGE_STATUSES } from '../../../tracedb/gold/expectation.js';
import {
  type DigestResult,
  digestChanges,
  type GoldStore,
  type TriageStatus,
  unseenDigests,
} from '../../../tracedb/index.js';
import { apiGet, apiPost } from '../api-route.js';
import { numberOf } from '../number-of.js';
import type { ChangesAnswer, FoundDigest, SearchAnswer } from './answers.js';

const PAGE = 100;
const MAX_CHANGES = 500;
const MAX_DIGESTS = 10_000;
const DAY_MS = 86_400_000;

/** Of what is asked: how many of the newest commits, and digests of which status. */
const commitsOf = (call: Call): number => numberOf(call, 'commits', 1, 10_000, 100);
const statusesOf = (status: string): readonly TriageStatus[] =>
  status === 'all' ? TRIAGE_STATUSES : [status as TriageStatus];
const ignoredOf = ({ query }: Call) => (query.get('ignored') === 'include' ? 'include' : 'exclude');

/** Results of a search with the commits that blame names for them. */
const withSuspects = async (
  store: GoldStore,
  results: readonly DigestResult[],
  commits: number,
  signal: AbortSignal,
): Promise<FoundDigest[]> => {
  const blames = await store.blame(commits, undefined, { signal });
  const suspectsOf = new Map(
    blames.map(({ test, digest, suspects }) => [`${test} ${digest}`, suspects.map(({ commit }) => commit)]),
  );
  return results.map(({ traces, paramSet, closest: _, ...one }) => ({
    ...one,
    traces: traces.length,
    suspects: suspectsOf.get(`${one.test} ${one.digest}`) ?? [],
    params: paramSet.toJSON(),
  }));
};

const search = async (store: GoldStore, call: Call): Promise<SearchAnswer> => {
  const { query, signal } = call;
  const commits = commitsOf(call);
  const asked = {
    query: query.get('query') ?? '',
    statuses: statusesOf(query.get('status') ?? 'untriaged'),
    offset: numberOf(call, 'offset', 0, 1_000_000, 0),
    ignored: ignoredOf(call),
    limit: PAGE,
    head: !query.has('all'),
  } as const;
  const { results, ...counts } = await store.search(commits, asked, { signal });
  return { results: await withSuspects(store, results, commits, signal), ...counts };
};

/** One digest of a test, also where it is gone again, ignored, or beyond the page of a search. */
const digest = async (store: GoldStore, call: Call): Promise<FoundDigest> => {
  const { query, signal } = call;
  const [test, wanted] = [query.get('test') ?? '', query.get('digest') ?? ''];
  const commits = commitsOf(call);
  // Behind a second = a value is taken as it stands.
  const asked = {
    query: `${DEFAULT_TEST_KEY}==${encodeURIComponent(test)}`,
    statuses: TRIAGE_STATUSES,
    ignored: 'include',
    limit: MAX_DIGESTS,
    head: false,
  } as const;
  const { results } = await store.search(commits, asked, { signal });
  const found = results.filter((one) => one.test === test && one.digest === wanted);
  const [answer] = await withSuspects(store, found, commits, signal);
  if (answer !== undefined) return answer;
  throw new HttpError(404, `the last ${commits} commits have no digest ${wanted} of the test ${test}`);
};

const changes = (store: GoldStore, call: Call): Promise<ChangesAnswer> => {
  const { query, signal } = call;
  const asked = {
    query: query.get('query') ?? '',
    statuses: statusesOf(query.get('status') ?? 'all'),
    ignored: ignoredOf(call),
    limit: MAX_CHANGES,
  } as const;
  return digestChanges(store, commitsOf(call), asked, { signal });
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
    apiGet('golden/changes', (call) => changes(store(), call)),
    apiGet('golden/digest', (call) => digest(store(), call)),
    apiGet('golden/history', ({ query, signal }) =>
      store().expectations.history(query.get('test') ?? '', query.get('digest') ?? '', { signal }),
    ),
    apiGet('golden/ignores', ({ signal }) => store().ignores.list({ signal })),
    apiPost('golden/triage', (body, { signal }) => triage(store(), body, signal)),
    apiPost('golden/ignores/add', (body, { signal }) => addIgnore(store(), body, signal)),
    apiPost('golden/ignores/delete', (body, { signal }) => deleteIgnore(store(), body, signal)),
  ];
};
