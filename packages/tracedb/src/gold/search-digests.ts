// Search: the traces of a tile that meet a query, without those that an ignore rule leaves out, and their digests by status. It must tell how many a
// rule left out, and why none can meet the query: nobody may take either for a store without faults. Every digest comes once per test, with the
// traces that have it; a page must never depend on the order in which traces were read.
import { oneOf, wholeNumber } from 'spanline/internal/base';
import { ParamSet } from '../params/param-set.js';
import { type CleaningRule, compareTexts, DEFAULT_RULE } from '../params/param-text.js';
import { fitQuery, unknownIn } from '../query/known-query.js';
import { compileQuery, parseQuery } from '../query/query.js';
import { invalidInput } from '../tracedb-error.js';
import { tracesByTest } from './blame.js';
import { type StatusOf, TRIAGE_STATUSES, type TriageStatus } from './expectations.js';
import { type GoldTile, type GoldTrace, searchedParams } from './gold-tile-reader.js';
import type { IgnoreMatcher } from './ignore-rules.js';
import { MISSING_DIGEST } from './values.js';

/** Which traces are looked at. */
export interface TraceSelection {
  /** Over params and options of traces; '' (default): all. What no trace has as it stands is looked for as `rule` cleans it. */
  readonly query?: string;
  /** How params were cleaned. Default: that of the store, and where there is only a tile `DEFAULT_RULE`. */
  readonly rule?: CleaningRule;
  /** Traces to which an ignore rule applies. Default 'exclude'. */
  readonly ignored?: 'exclude' | 'include' | 'only';
  /** The param that names the test. Default 'name'. */
  readonly testKey?: string;
}

/** The traces that were selected. */
interface SelectedTraces {
  /** By the name of their test; no test without a trace. */
  readonly byTest: ReadonlyMap<string, readonly GoldTrace[]>;
  /** Traces that an ignore rule left out (`ignored: 'exclude'`). */
  readonly ignoredTraces: number;
  /** Why no trace can meet the query: a key or value that none of them has. */
  readonly reason: string | undefined;
}

const IGNORED = ['exclude', 'include', 'only'] as const;

/** Throws `ERR_SPANLINE_INVALID_INPUT` for what is not a status. */
export const checkStatuses = (statuses: readonly TriageStatus[]): void => {
  for (const status of statuses) oneOf('each of statuses', status, TRIAGE_STATUSES, invalidInput);
};

/** The traces of `tile` that a search selects. Rejects with `ERR_SPANLINE_INVALID_INPUT`. */
export const selectTraces = async (
  tile: GoldTile,
  ignoreOf: IgnoreMatcher,
  { query = '', rule = DEFAULT_RULE, ignored = 'exclude', testKey }: TraceSelection,
): Promise<SelectedTraces> => {
  oneOf('ignored', ignored, IGNORED, invalidInput);
  const fitted = fitQuery(parseQuery(query), tile.paramSet, rule);
  const matches = await compileQuery(fitted);
  const byTest = new Map<string, readonly GoldTrace[]>();
  let ignoredTraces = 0;
  const isSelected = (trace: GoldTrace): boolean => {
    const params = searchedParams(trace);
    if (!matches(params)) return false;
    if (ignored === 'include') return true;
    const isIgnored = ignoreOf(params) !== undefined;
    if (isIgnored && ignored === 'exclude') ignoredTraces++;
    return isIgnored === (ignored === 'only');
  };
  for (const [test, traces] of tracesByTest(tile, testKey)) {
    const selected = traces.filter(isSelected);
    if (selected.length > 0) byTest.set(test, selected);
  }
  return { byTest, ignoredTraces, reason: unknownIn(fitted, tile.paramSet) };
};

/** How far two digests are apart, from 0 (equal); undefined when that cannot be said. */
export type DigestDistance = (digest: string, reference: string) => number | undefined | Promise<number | undefined>;

/** A digest and how far it is. */
export interface ClosestDigest {
  readonly digest: string;
  readonly distance: number;
}

/** The closest positive and the closest negative digest of the test; undefined when there is none. */
export interface ClosestDigests {
  readonly positive: ClosestDigest | undefined;
  readonly negative: ClosestDigest | undefined;
  /** Triaged digests of the test that were not measured: beyond the bound of 1,000. */
  readonly unmeasured: number;
}

const MAX_MEASURED = 1000;

/** The closest triaged digests among those that `traces`, all those of a test, have; of equal ones the smaller digest. */
const closestDigests = async (
  test: string,
  digest: string,
  traces: readonly GoldTrace[],
  statusOf: StatusOf,
  distance: DigestDistance,
): Promise<ClosestDigests> => {
  const candidates = new Set<string>();
  for (const trace of traces) for (const candidate of trace.digests) candidates.add(candidate);
  candidates.delete(MISSING_DIGEST);
  candidates.delete(digest);
  const triaged = [...candidates].filter((candidate) => statusOf(test, candidate) !== 'untriaged').sort();
  const closest: { positive?: ClosestDigest; negative?: ClosestDigest } = {};
  for (const candidate of triaged.slice(0, MAX_MEASURED)) {
    const measured = await distance(digest, candidate);
    if (measured === undefined) continue;
    if (typeof measured !== 'number' || !(measured >= 0)) {
      throw invalidInput(`the distance of ${digest} and ${candidate} must be a number from 0, not ${measured}`);
    }
    const side = statusOf(test, candidate) === 'positive' ? 'positive' : 'negative';
    if (measured < (closest[side]?.distance ?? Number.POSITIVE_INFINITY)) {
      closest[side] = { digest: candidate, distance: measured };
    }
  }
  return {
    positive: closest.positive,
    negative: closest.negative,
    unmeasured: Math.max(0, triaged.length - MAX_MEASURED),
  };
};

/** What to search for. */
export interface DigestSearch extends TraceSelection {
  /** Default: only 'untriaged'. */
  readonly statuses?: readonly TriageStatus[];
  /** Only what a trace has at its last result in the tile. Default true: what is gone needs no triage. */
  readonly head?: boolean;
  /** Results to skip. Default 0. */
  readonly offset?: number;
  /** Results to give, 1 to 10,000. Default 100. */
  readonly limit?: number;
  /** How far two digests are apart; when given, results carry the closest digests of the same test that were triaged. */
  readonly distance?: DigestDistance;
}

/** One digest of one test. */
export interface DigestResult {
  readonly test: string;
  readonly digest: string;
  readonly status: TriageStatus;
  /** Ids of the selected traces that have it, sorted. */
  readonly traces: readonly string[];
  /** Keys and values of the params and options of these traces. */
  readonly paramSet: ParamSet;
  /** The first and the last commit of the tile at which one of these traces has it. */
  readonly firstCommit: number;
  readonly lastCommit: number;
  /** Present when the search has a `distance`. */
  readonly closest?: ClosestDigests;
}

/** Figures of a search, beside what it found. */
export interface SearchTotals {
  /** Found in all, also beyond a page or a limit. */
  readonly total: number;
  /** Number of these by the status of the digest. */
  readonly totals: Readonly<Record<TriageStatus, number>>;
  /** Traces that an ignore rule left out (`ignored: 'exclude'`). */
  readonly ignoredTraces: number;
  /** Why no trace can meet the query: a key or value that none of them has. */
  readonly reason?: string;
}

/** A page of results. */
export interface DigestResults extends SearchTotals {
  /** By test, then digest. */
  readonly results: readonly DigestResult[];
}

interface Found {
  readonly test: string;
  readonly digest: string;
  readonly status: TriageStatus;
  readonly traces: GoldTrace[];
}

const MAX_LIMIT = 10_000;

const digestsOf = ({ digests }: GoldTrace, isHeadOnly: boolean): Iterable<string> => {
  if (!isHeadOnly) return new Set(digests.filter((digest) => digest !== MISSING_DIGEST));
  const last = digests.findLast((digest) => digest !== MISSING_DIGEST);
  return last === undefined ? [] : [last];
};

/**
 * The digests of `tile` that a search selects. `statusOf` comes from `Expectations.statuses`, `ignoreOf` from
 * `IgnoreRules.matcher`; `GoldStore.search` does it all. Rejects with `ERR_SPANLINE_INVALID_INPUT`.
 *
 * @example
 * ```ts
 * import { ParamSet, searchDigests } from '@spanline/tracedb';
 * const trace = { id: ',name=circle,', params: { name: 'circle' }, options: {}, digests: ['a', 'b'] };
 * const tile = { commits: [0, 1], traces: [trace], paramSet: new ParamSet(), isFromStart: true };
 * const { results } = await searchDigests(tile, () => 'untriaged', () => undefined, { query: 'name=circle' });
 * console.assert(results.length === 1 && results[0].digest === 'b');
 * ```
 */
export const searchDigests = async (
  tile: GoldTile,
  statusOf: StatusOf,
  ignoreOf: IgnoreMatcher,
  search: DigestSearch = {},
): Promise<DigestResults> => {
  const { statuses = ['untriaged'], head = true } = search;
  const offset = wholeNumber('offset', search.offset ?? 0, [0], invalidInput);
  const limit = wholeNumber('limit', search.limit ?? 100, [1, MAX_LIMIT], invalidInput);
  checkStatuses(statuses);
  const { byTest, ignoredTraces, reason } = await selectTraces(tile, ignoreOf, search);
  const found: Found[] = [];
  for (const [test, traces] of byTest) {
    const ofTest = new Map<string, Found>();
    for (const trace of traces) {
      for (const digest of digestsOf(trace, head)) {
        const known = ofTest.get(digest);
        if (known !== undefined) {
          known.traces.push(trace);
          continue;
        }
        const status = statusOf(test, digest);
        if (statuses.includes(status)) ofTest.set(digest, { test, digest, status, traces: [trace] });
      }
    }
    found.push(...ofTest.values());
  }
  found.sort((a, b) => compareTexts(a.test, b.test) || compareTexts(a.digest, b.digest));
  const allByTest = search.distance === undefined ? byTest : tracesByTest(tile, search.testKey);
  const results: DigestResult[] = [];
  for (const one of found.slice(offset, offset + limit)) {
    const result = resultOf(tile, one);
    const { distance } = search;
    if (distance === undefined) results.push(result);
    else {
      const closest = await closestDigests(one.test, one.digest, allByTest.get(one.test) ?? [], statusOf, distance);
      results.push({ ...result, closest });
    }
  }
  const totals = { untriaged: 0, positive: 0, negative: 0 };
  for (const { status } of found) totals[status]++;
  return { results, total: found.length, totals, ignoredTraces, ...(reason !== undefined && { reason }) };
};

const resultOf = (tile: GoldTile, { test, digest, status, traces }: Found): DigestResult => {
  const paramSet = new ParamSet();
  let first = tile.commits.length;
  let last = -1;
  for (const trace of traces) {
    paramSet.add(searchedParams(trace));
    first = Math.min(first, trace.digests.indexOf(digest));
    last = Math.max(last, trace.digests.lastIndexOf(digest));
  }
  return {
    test,
    digest,
    status,
    traces: traces.map(({ id }) => id),
    paramSet,
    firstCommit: tile.commits[first],
    lastCommit: tile.commits[last],
  };
};
