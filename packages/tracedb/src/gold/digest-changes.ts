// What changed at which commit: the digests that traces took on, commit by commit. A trace that has no result at a commit must not pass for
// one that changed there, nor its first result in the tile for a change when there may be earlier ones.

import { traced } from 'spanline';
import { wholeNumber } from 'spanline/internal/base';
import { compareTexts } from '../params/param-text.js';
import { fitQuery } from '../query/known-query.js';
import { invalidInput } from '../tracedb-error.js';
import { type StatusOf, TRIAGE_STATUSES, type TriageStatus } from './expectations.js';
import type { GoldStore, TileOptions } from './gold-store.js';
import type { GoldTile, GoldTrace } from './gold-tile-reader.js';
import { checkStatuses, type SearchTotals, selectTraces, type TraceSelection } from './search-digests.js';
import { MISSING_DIGEST } from './values.js';

/** Traces of a test that took on the same digest in place of the same other one. */
export interface DigestChange {
  readonly test: string;
  /** What they have from this commit on. */
  readonly digest: string;
  readonly status: TriageStatus;
  /** What they had before; undefined for their first results of all. */
  readonly before?: { readonly digest: string; readonly status: TriageStatus };
  /** How many traces changed so here. */
  readonly traces: number;
  /** The first commit that may have brought it: traces without a result in between may have changed earlier than it shows. */
  readonly firstSuspect: number;
}

/** What changed at one commit. */
export interface CommitChanges {
  readonly commit: number;
  /** By test, then by the digest that it has now. */
  readonly changes: readonly DigestChange[];
}

/** Changes of commits. */
export interface DigestChanges extends SearchTotals {
  /** Commits at which anything changed, newest first; the oldest of them is whole. */
  readonly commits: readonly CommitChanges[];
  /** Older changes are told with this as `last`; undefined where there are none. */
  readonly older?: number;
}

/** Which changes are told. */
export interface ChangeSearch extends TraceSelection {
  /** Of the new digest. Default: all. */
  readonly statuses?: readonly TriageStatus[];
  /** Changes to give, 1 to 10,000; those of one commit stay together. Default 1,000. */
  readonly limit?: number;
}

const MAX_LIMIT = 10_000;

interface Found {
  readonly at: number;
  readonly test: string;
  readonly digest: string;
  readonly before: string;
  traces: number;
  firstSuspect: number;
}

/** The changes of the traces of one test; places of commits in the tile. */
const changesOfTest = (test: string, traces: readonly GoldTrace[], isFromStart: boolean): Iterable<Found> => {
  const found = new Map<string, Found>();
  for (const { digests } of traces) {
    let before = MISSING_DIGEST;
    let last = -1;
    for (let at = 0; at < digests.length; at++) {
      const digest = digests[at];
      if (digest === MISSING_DIGEST) continue;
      const isFirst = before === MISSING_DIGEST;
      // There may be an earlier result that is not in the tile.
      const isChange = digest !== before && (!isFirst || isFromStart);
      if (isChange) {
        const firstSuspect = isFirst ? at : last + 1;
        const key = `${at} ${digest} ${before}`;
        const known = found.get(key);
        if (known === undefined) found.set(key, { at, test, digest, before, traces: 1, firstSuspect });
        else {
          known.traces++;
          // One of them may have changed at a commit at which it has no result, and the others later.
          known.firstSuspect = Math.min(known.firstSuspect, firstSuspect);
        }
      }
      before = digest;
      last = at;
    }
  }
  return found.values();
};

const inOrder = (a: Found, b: Found): number =>
  b.at - a.at || compareTexts(a.test, b.test) || compareTexts(a.digest, b.digest) || compareTexts(a.before, b.before);

/** Where the next older changes are: behind those that `limit` left out, or behind what the tile has. */
const olderThan = (
  { commits, isFromStart }: GoldTile,
  listed: readonly CommitChanges[],
  total: number,
): number | undefined => {
  const count = listed.reduce((sum, { changes }) => sum + changes.length, 0);
  if (count < total) return listed[listed.length - 1].commit - 1;
  // What changed at its first commit only the tile before it can tell.
  return isFromStart ? undefined : commits[0];
};

/** Commits, newest first, until `limit` changes are told; the commit that passes it is left out, unless it is the first. */
const byCommit = (
  { commits }: GoldTile,
  found: readonly Found[],
  statusOf: StatusOf,
  limit: number,
): readonly CommitChanges[] => {
  const listed: { commit: number; changes: DigestChange[] }[] = [];
  for (let from = 0; from < found.length; ) {
    let to = from;
    while (to < found.length && found[to].at === found[from].at) to++;
    if (to > limit && listed.length > 0) break;
    const changes = found.slice(from, to).map(({ test, digest, before, traces, firstSuspect }) => ({
      test,
      digest,
      status: statusOf(test, digest),
      ...(before !== MISSING_DIGEST && { before: { digest: before, status: statusOf(test, before) } }),
      traces,
      firstSuspect: commits[firstSuspect],
    }));
    listed.push({ commit: commits[found[from].at], changes });
    from = to;
  }
  return listed;
};

/**
 * What changed at which of the last `nCommits` commits with data: for each commit the tests whose traces took on another digest, what they had
 * before, and what people said of both. Use it to read a history backwards from what is wrong now; `GoldStore.search` lists what is there
 * now, and `GoldStore.blame` names the suspects of one digest over all its traces. Rejects with `ERR_SPANLINE_INVALID_INPUT`.
 *
 * @example
 * ```ts
 * import { digestChanges, GOLD_SCHEMA, GoldStore, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-changes', GOLD_SCHEMA);
 * const gold = await GoldStore.open(table);
 * const [one, other] = ['0cc175b9c0f1b6a831c399e269772661', '92eb5ffee6ae2fec3ad71c777531578f'];
 * for (const [commit, digest] of [one, one, other].entries()) {
 *   await gold.put(commit, [{ params: { name: 'circle' }, digest }], Date.now());
 * }
 * const { commits } = await digestChanges(gold, 100);
 * console.assert(commits[0].commit === 2 && commits[0].changes[0].before?.digest === one);
 * await table.close();
 * ```
 */
export const digestChanges = traced(
  'gold.changes',
  async (
    store: GoldStore,
    nCommits: number,
    search: ChangeSearch = {},
    options: TileOptions = {},
  ): Promise<DigestChanges> => {
    const { statuses = TRIAGE_STATUSES, rule = store.rule } = search;
    const limit = wholeNumber('limit', search.limit ?? 1000, [1, MAX_LIMIT], invalidInput);
    checkStatuses(statuses);
    const tile = await store.getDenseTile(nCommits, options);
    const ignoreOf = await store.ignores.matcher(undefined, options, (query) => fitQuery(query, tile.paramSet, rule));
    const { byTest, ignoredTraces, reason } = await selectTraces(tile, ignoreOf, { ...search, rule });
    const statusOf = await store.expectations.statuses(byTest.keys(), options);
    const found: Found[] = [];
    const totals = { untriaged: 0, positive: 0, negative: 0 };
    for (const [test, traces] of byTest) {
      for (const change of changesOfTest(test, traces, tile.isFromStart)) {
        const status = statusOf(test, change.digest);
        if (!statuses.includes(status)) continue;
        totals[status]++;
        found.push(change);
      }
    }
    const commits = byCommit(tile, found.sort(inOrder), statusOf, limit);
    const older = olderThan(tile, commits, found.length);
    return {
      commits,
      total: found.length,
      ...(older !== undefined && { older }),
      totals,
      ignoredTraces,
      ...(reason !== undefined && { reason }),
    };
  },
);
