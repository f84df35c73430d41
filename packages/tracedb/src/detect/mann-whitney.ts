// The Mann-Whitney U test, two-sided, and whether p is counted or approximated. It must never approximate where counting is cheap: the
// tails of small samples are far from normal.
import { countingSteps, lowerTail } from './rank-distribution.js';
import type { Statistics } from './statistics.js';

/** Steps of counting that one p-value may cost, some milliseconds; enough for any two samples of 25 values each. */
const LARGEST_COUNT = 2_000_000;

type Sample = readonly number[] | Float64Array;

/** The answer of {@link mannWhitney}. */
interface MannWhitney {
  /** Pairs in which the value of the first sample is larger; a tie counts one half. */
  readonly u: number;
  /** Two-sided. */
  readonly pValue: number;
}

interface Ranks {
  /** Twice U: a whole number, also with ties. */
  readonly doubledU: number;
  /** Sizes of the groups of equal values, in rising order of value. */
  readonly groups: readonly number[];
}

const rank = (first: Sample, second: Sample): Ranks => {
  const a = Float64Array.from(first).sort();
  const b = Float64Array.from(second).sort();
  const groups: number[] = [];
  let doubledU = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const value = Math.min(
      i < a.length ? a[i] : Number.POSITIVE_INFINITY,
      j < b.length ? b[j] : Number.POSITIVE_INFINITY,
    );
    const [i0, j0] = [i, j];
    while (i < a.length && a[i] === value) i++;
    while (j < b.length && b[j] === value) j++;
    doubledU += (i - i0) * (j0 + j);
    groups.push(i - i0 + j - j0);
  }
  return { doubledU, groups };
};

const exactP = (groups: readonly number[], dealt: number, doubledU: number): number => {
  const { atMost, exactly } = lowerTail(groups, dealt, doubledU);
  return Math.min(1, 2 * Math.min(atMost, 1 - atMost + exactly));
};

/**
 * The Mann-Whitney U test of two samples, two-sided. Use it to ask whether one sample tends to be larger without trusting that the
 * values are normal. p is exact, counted over all ways to deal the given values (ties included), for two samples of up to 25 values and
 * wherever else that takes at most 2 million steps, as when a small sample lies at the edge of a large one; otherwise it is the normal
 * approximation with corrections for ties and continuity, as it is wherever that is above `roughAbove` (default: nowhere). Both samples need a value, and every value must be finite.
 * Source: H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18 (1947).
 */
export const mannWhitney = (
  first: Sample,
  second: Sample,
  statistics: Statistics,
  roughAbove = Number.POSITIVE_INFINITY,
): MannWhitney => {
  const [m, n] = [first.length, second.length];
  const ranks = rank(first, second);
  const u = ranks.doubledU / 2;
  // The tail is counted from its near end, and the smaller sample is dealt; either choice turns the order of the values round.
  const doubledU = Math.min(ranks.doubledU, 2 * m * n - ranks.doubledU);
  const total = m + n;
  const ties = ranks.groups.reduce((sum, group) => sum + (group ** 3 - group), 0);
  const variance = ((m * n) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance === 0) return { u, pValue: 1 };
  const distance = Math.max(0, (m * n) / 2 - doubledU / 2 - 0.5);
  const normalP = statistics.normalTwoSided(distance / Math.sqrt(variance));
  if (normalP > roughAbove) return { u, pValue: normalP };
  const isTurned = ranks.doubledU > doubledU !== m > n;
  const groups = isTurned ? ranks.groups.toReversed() : ranks.groups;
  const dealt = Math.min(m, n);
  if (countingSteps(groups, dealt, doubledU) > LARGEST_COUNT) return { u, pValue: normalP };
  return { u, pValue: exactP(groups, dealt, doubledU) };
};
