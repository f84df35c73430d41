// The endpoints of Golden: digests, changes, and what a digest is held against, which is what its traces had before, and the closest of those that
// people said something of; how far two are apart is told by the lines that only one of both has, and without texts nothing is close. Triage and
// ignore rules change the store; everything else reads.

import { type Call, HttpError, type Route } from '@spanline/archive/internal';
import {
  type ClosestDigests,
  type DigestDistance,
  type DigestResult,
  digestChanges,
  type GoldStore,
  type TriageStatus,
  unseenDigests,
} from '@spanline/tracedb';
import { DEFAULT_TEST_KEY, TRIAGE_STATUSES } from '@spanline/tracedb/internal';
import { timers, userName } from 'spanline/internal/base';
import { apiGet, apiPost, numberOf } from '../api-route.js';
import type {
  ChangesAnswer,
  DigestAnswer,
  FoundDigest,
  KnownCommits,
  ReferenceDigest,
  SearchAnswer,
} from './answers.js';

/** A caller that may go away. */
interface Asked {
  readonly signal: AbortSignal;
}

const countLines = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};

/** Lines that only one of two texts has. */
const differingLines = (a: string, b: string): number => {
  const counts = countLines(a);
  for (const [line, count] of countLines(b)) counts.set(line, (counts.get(line) ?? 0) - count);
  return [...counts.values()].reduce((sum, count) => sum + Math.abs(count), 0);
};

/** The distance of digests of a store by their texts. */
const textDistance = (store: GoldStore, call: Asked): DigestDistance => {
  const texts = new Map<string, Promise<string | undefined>>();
  const textOf = (digest: string): Promise<string | undefined> => {
    const known = texts.get(digest) ?? store.texts([digest], call).then((found) => found.get(digest));
    texts.set(digest, known);
    return known;
  };
  return async (digest, reference) => {
    const [own, other] = await Promise.all([textOf(digest), textOf(reference)]);
    return own === undefined || other === undefined ? undefined : differingLines(own, other);
  };
};

/** The digest that traces of the test had when they took on `digest` last. */
const before = async (
  store: GoldStore,
  query: string,
  { test, digest }: { readonly test: string; readonly digest: string },
  commits: number,
  call: Asked & { readonly last?: number },
): Promise<{ readonly digest: string; readonly status: TriageStatus } | undefined> => {
  const { commits: changed } = await digestChanges(store, commits, { query, ignored: 'include' }, call);
  const changes = changed.flatMap((one) => one.changes);
  return changes.find((change) => change.test === test && change.digest === digest && change.before)?.before;
};

/** What to hold a digest of a test against, the most telling first; `query` selects the test. */
const referencesOf = async (
  store: GoldStore,
  query: string,
  found: { readonly test: string; readonly digest: string; readonly closest?: ClosestDigests },
  commits: number,
  call: Asked & { readonly last?: number },
): Promise<ReferenceDigest[]> => {
  const was = await before(store, query, found, commits, call);
  const { positive, negative } = found.closest ?? {};
  const named = [
    { ...was, role: 'before' as const },
    { digest: positive?.digest, status: 'positive' as const, role: 'closest positive' as const },
    { digest: negative?.digest, status: 'negative' as const, role: 'closest negative' as const },
  ];
  const byDigest = new Map<string, ReferenceDigest>();
  for (const { digest, status = 'untriaged', role } of named) {
    if (digest === undefined) continue;
    const known = byDigest.get(digest);
    byDigest.set(digest, { digest, status, roles: [...(known?.roles ?? []), role] });
  }
  const texts = await store.texts([...byDigest.keys()], { signal: call.signal });
  return [...byDigest.values()].map((one) => {
    const text = texts.get(one.digest);
    return { ...one, ...(text !== undefined && { text }) };
  });
};

const PAGE = 100;
const MAX_CHANGES = 500;
const MAX_DIGESTS = 10_000;
const DAY_MS = 86_400_000;

/** Of what is asked: how many commits, up to which one, and digests of which status. */
const commitsOf = (call: Call): number => numberOf(call, 'commits', 1, 10_000, 100);
const upTo = (call: Call): { readonly signal: AbortSignal; readonly last?: number } => ({
  signal: call.signal,
  ...(call.query.has('last') && { last: numberOf(call, 'last', 0, Number.MAX_SAFE_INTEGER) }),
});
const statusesOf = (status: string): readonly TriageStatus[] =>
  status === 'all' ? TRIAGE_STATUSES : [status as TriageStatus];
const ignoredOf = ({ query }: Call) => (query.get('ignored') === 'include' ? 'include' : 'exclude');

/** What the store knows of these commits. */
const knownOf = async (store: GoldStore, commits: readonly number[], { signal }: Call): Promise<KnownCommits> =>
  Object.fromEntries(await store.commitInfos([...new Set(commits)], { signal }));

/** Results of a search with the commits that blame names for them. */
const withSuspects = async (store: GoldStore, results: readonly DigestResult[], call: Call): Promise<FoundDigest[]> => {
  const blames = await store.blame(commitsOf(call), undefined, upTo(call));
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

const commitsIn = (found: readonly FoundDigest[]): number[] =>
  found.flatMap(({ firstCommit, lastCommit, suspects }) => [firstCommit, lastCommit, ...suspects]);

const search = async (store: GoldStore, call: Call): Promise<SearchAnswer> => {
  const { query } = call;
  const asked = {
    query: query.get('query') ?? '',
    statuses: statusesOf(query.get('status') ?? 'untriaged'),
    offset: numberOf(call, 'offset', 0, 1_000_000, 0),
    ignored: ignoredOf(call),
    limit: PAGE,
    head: !query.has('all'),
  } as const;
  const { results, ...counts } = await store.search(commitsOf(call), asked, upTo(call));
  const found = await withSuspects(store, results, call);
  return { results: found, known: await knownOf(store, commitsIn(found), call), ...counts };
};

/** One digest of a test, also where it is gone again, ignored, or beyond the page of a search; with what to hold it against. */
const digest = async (store: GoldStore, call: Call): Promise<DigestAnswer> => {
  const { signal } = call;
  const [test, wanted] = [call.query.get('test') ?? '', call.query.get('digest') ?? ''];
  const commits = commitsOf(call);
  // Behind a second = a value is taken as it stands.
  const query = `${DEFAULT_TEST_KEY}==${encodeURIComponent(test)}`;
  const asked = { query, statuses: TRIAGE_STATUSES, ignored: 'include', limit: MAX_DIGESTS, head: false } as const;
  const { results } = await store.search(commits, asked, upTo(call));
  const at = results.findIndex((one) => one.test === test && one.digest === wanted);
  if (at < 0) throw new HttpError(404, `the last ${commits} commits have no digest ${wanted} of the test ${test}`);
  // Distances are asked for of this one alone.
  const near = { ...asked, offset: at, limit: 1, distance: textDistance(store, { signal }) };
  const nearest = (await store.search(commits, near, upTo(call))).results[0];
  // Somebody may have put results meanwhile.
  const closest = nearest?.test === test && nearest.digest === wanted ? nearest.closest : undefined;
  const [found] = await withSuspects(store, [results[at]], call);
  const text = (await store.texts([wanted], { signal })).get(wanted);
  return {
    ...found,
    ...(text !== undefined && { text }),
    references: await referencesOf(store, query, { test, digest: wanted, closest }, commits, upTo(call)),
    known: await knownOf(store, commitsIn([found]), call),
  };
};

const changes = async (store: GoldStore, call: Call): Promise<ChangesAnswer> => {
  const { query } = call;
  const asked = {
    query: query.get('query') ?? '',
    statuses: statusesOf(query.get('status') ?? 'all'),
    ignored: ignoredOf(call),
    limit: MAX_CHANGES,
  } as const;
  const found = await digestChanges(store, commitsOf(call), asked, upTo(call));
  const numbers = found.commits.flatMap(({ commit, changes: all }) => [commit, ...all.map((one) => one.firstSuspect)]);
  return { ...found, known: await knownOf(store, numbers, call) };
};

/** What a post says; the store checks each of it. */
type Said = Readonly<Record<string, never>>;
const saidIn = (body: unknown): Said => (body ?? {}) as Said;

const triage = async (store: GoldStore, body: unknown, signal: AbortSignal): Promise<{ changed: number }> => {
  const { test, digest, status, note } = saidIn(body);
  const change = { test, digest, status };
  const [unseen] = await unseenDigests(store, [change], { signal });
  if (unseen !== undefined) throw new HttpError(404, `nothing is triaged: ${unseen.reason}`);
  return { changed: await store.expectations.triage([change], { by: userName(), note, signal }) };
};

const addIgnore = (store: GoldStore, body: unknown, signal: AbortSignal): unknown => {
  const { query, days, note } = saidIn(body);
  if (!(days > 0 && days <= 3650)) throw new HttpError(400, 'days must be a number above 0, at most 3650');
  return store.ignores.create({ query, note, by: userName(), expires: timers.wallMs() + days * DAY_MS }, { signal });
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
