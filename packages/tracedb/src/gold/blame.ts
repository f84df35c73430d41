// Blame: which commits may have brought a digest. A commit that certainly did not must never be in the list; one that may have must
// never be missing from it, which is why commits without a result count.
import { getOrMake } from 'spanline/internal/base';
import { compareTexts } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';
import type { StatusOf } from './expectations.js';
import type { GoldTile, GoldTrace } from './gold-tile-reader.js';
import { MISSING_DIGEST } from './values.js';

/** The param that names the test of a trace. */
export const DEFAULT_TEST_KEY = 'name';

/** A commit that may have brought a digest. */
export interface Suspect {
  readonly commit: number;
  /** Traces whose change this commit may explain. */
  readonly traces: number;
}

/** Where a digest of a test came from. */
export interface Blame {
  readonly test: string;
  readonly digest: string;
  /** Ascending; empty when the digest may be older than the tile. */
  readonly suspects: readonly Suspect[];
  /** The first commit of the tile that has the digest. */
  readonly firstSeen: number;
  /** Traces of the test that have the digest. */
  readonly traces: number;
  /** True: a trace has it at the first commit of the tile, and there may be earlier ones; read more commits to know. */
  readonly mayBeOlder: boolean;
}

/** Places in a trace between which the digest came: the first that may have brought it, the first that has it. */
interface Range {
  readonly from: number;
  readonly to: number;
}

// Before the first result of a trace there is nothing to compare with: only the commit itself can be named.
const rangeOf = (digests: readonly string[], digest: string): Range | undefined => {
  let lastOther = -1;
  for (const [i, found] of digests.entries()) {
    if (found === digest) return { from: lastOther === -1 ? i : lastOther + 1, to: i };
    if (found !== MISSING_DIGEST) lastOther = i;
  }
  return undefined;
};

const blameOf = (tile: GoldTile, test: string, digest: string, traces: readonly GoldTrace[]): Blame | undefined => {
  const ranges: Range[] = [];
  for (const trace of traces) {
    const range = rangeOf(trace.digests, digest);
    if (range !== undefined) ranges.push(range);
  }
  if (ranges.length === 0) return undefined;
  const end = ranges.reduce((min, { to }) => Math.min(min, to), Number.POSITIVE_INFINITY);
  const counts = new Map<number, number>();
  for (const { from } of ranges) {
    // Once one trace has the digest, later commits did not bring it, whatever the other traces look like.
    for (let i = from; i <= end; i++) counts.set(i, (counts.get(i) ?? 0) + 1);
  }
  const mayBeOlder = end === 0 && !tile.isFromStart;
  const suspects = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([i, count]) => ({ commit: tile.commits[i], traces: count }));
  return {
    test,
    digest,
    suspects: mayBeOlder ? [] : suspects,
    firstSeen: tile.commits[end],
    traces: ranges.length,
    mayBeOlder,
  };
};

/** Traces by the name of their test; those without one are left out. */
export const tracesByTest = (tile: GoldTile, testKey = DEFAULT_TEST_KEY): Map<string, GoldTrace[]> => {
  const tests = new Map<string, GoldTrace[]>();
  for (const trace of tile.traces) {
    if (!Object.hasOwn(trace.params, testKey)) continue;
    getOrMake(tests, trace.params[testKey], () => []).push(trace);
  }
  return tests;
};

/**
 * The commits that may have brought a digest of a test; undefined when no trace of the test has it in the tile.
 *
 * For each trace that is the range behind the last commit with another digest up to the first with this one, so commits without a
 * result are suspects too; over the traces, commits behind the first that has the digest are cleared. In a dense tile commits
 * without any data are not seen: a suspect then stands for those since the commit before it in the tile as well.
 * Source: the blame lists of Skia Gold.
 *
 * @example
 * ```ts
 * import { blameDigest, ParamSet } from '@spanline/tracedb';
 * const digests = ['a', 'a', '', 'b', 'b'];
 * const trace = { id: ',name=circle,', params: { name: 'circle' }, options: {}, digests };
 * const tile = { commits: [4, 5, 6, 7, 8], traces: [trace], paramSet: new ParamSet(), isFromStart: false };
 * const blame = blameDigest(tile, 'circle', 'b');
 * console.assert(blame?.suspects.map(({ commit }) => commit).join() === '6,7');
 * ```
 */
export const blameDigest = (
  tile: GoldTile,
  test: string,
  digest: string,
  testKey = DEFAULT_TEST_KEY,
): Blame | undefined => {
  if (digest === MISSING_DIGEST) throw invalidInput('a missing digest has no blame; name a digest');
  return blameOf(tile, test, digest, tracesByTest(tile, testKey).get(test) ?? []);
};

/**
 * Blame of every digest of the tile that is untriaged, by test and digest; `statusOf` comes from `Expectations.statuses`.
 *
 * @example
 * ```ts
 * import { blameUntriaged, ParamSet } from '@spanline/tracedb';
 * const trace = { id: ',name=circle,', params: { name: 'circle' }, options: {}, digests: ['a', 'b'] };
 * const tile = { commits: [0, 1], traces: [trace], paramSet: new ParamSet(), isFromStart: true };
 * const blames = blameUntriaged(tile, (_test, digest) => (digest === 'a' ? 'positive' : 'untriaged'));
 * console.assert(blames.length === 1 && blames[0].suspects[0].commit === 1);
 * ```
 */
export const blameUntriaged = (tile: GoldTile, statusOf: StatusOf, testKey = DEFAULT_TEST_KEY): readonly Blame[] => {
  const blames: Blame[] = [];
  for (const [test, traces] of tracesByTest(tile, testKey)) {
    const digests = new Set(traces.flatMap((trace) => trace.digests));
    digests.delete(MISSING_DIGEST);
    for (const digest of digests) {
      if (statusOf(test, digest) !== 'untriaged') continue;
      const blame = blameOf(tile, test, digest, traces);
      if (blame !== undefined) blames.push(blame);
    }
  }
  return blames.sort((a, b) => compareTexts(a.test, b.test) || compareTexts(a.digest, b.digest));
};
