// The triaged digests that look most like another one. What a digest stands for is not in this store, so the caller measures.
import { invalidInput } from '../tracedb-error.js';
import { MISSING_DIGEST } from './digest.js';
import type { StatusOf } from './expectations.js';
import type { GoldTrace } from './gold-tile.js';

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
export const closestDigests = async (
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
