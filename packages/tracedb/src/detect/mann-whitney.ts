// Exact tests of two samples: that of Mann and Whitney, by the distribution of U under chance, where all ways to deal some of the given values are
// equally likely, or by an approximation; and Fisher's of the shares above some level, for values of a few levels, or of two kinds of runs, where
// ranks overlap though hardly a value is the same. Neither must approximate where counting is cheap: the tails are what is asked for. Counting must
// never take more steps than were estimated.
import type { Statistics } from './statistics.js';

/** Levels that are tried, at equal shares of all values. */
const LEVELS = 32;

/** Levels nearer to the one before than this part of their mean distance are the same one: the noise of one kind of runs holds no levels. */
const NARROW = 0.25;

/** Terms of a tail below this share of the first add nothing. */
const NEGLIGIBLE = 1e-6;

let logs = Float64Array.of(0, 0);

/** log(n!) */
const logFactorial = (n: number): number => {
  if (n >= logs.length) {
    const longer = new Float64Array(Math.max(n + 1, 2 * logs.length));
    longer.set(logs);
    for (let i = logs.length; i < longer.length; i++) longer[i] = longer[i - 1] + Math.log(i);
    logs = longer;
  }
  return logs[n];
};

/** log of the ways to take `take` of `from`. */
const logWays = (from: number, take: number): number =>
  logFactorial(from) - logFactorial(take) - logFactorial(from - take);

/** The two-sided p of Fisher's test: of `marked` among m + n values, `dealt` are among the m; twice the smaller tail. */
const fisherP = (m: number, n: number, marked: number, dealt: number): number => {
  const expected = (marked * m) / (m + n);
  const step = dealt > expected ? 1 : -1;
  const last = step > 0 ? Math.min(m, marked) : Math.max(0, marked - n);
  let sum = 0;
  let first = 0;
  for (let k = dealt; step > 0 ? k <= last : k >= last; k += step) {
    const p = Math.exp(logWays(m, k) + logWays(n, marked - k) - logWays(m + n, marked));
    first ||= p;
    sum += p;
    if (p < NEGLIGIBLE * first) break;
  }
  return Math.min(1, 2 * sum);
};

/** Up to 32 levels of sorted values, each the first value above the widest gap within an equal share of them. Equal values have none between them. */
const levelsOf = (sorted: Float64Array): readonly number[] => {
  const size = sorted.length;
  const placeOf = (level: number): number => Math.floor((level * size) / (LEVELS + 1));
  const narrow = (NARROW * (sorted[placeOf(LEVELS)] - sorted[placeOf(1)])) / LEVELS;
  const levels: number[] = [];
  let last = 0;
  for (let level = 1; level <= LEVELS; level++) {
    const place = placeOf(level);
    const distance = sorted[place] - sorted[last];
    let widest = place;
    for (let i = last + 1; i < place; i++) {
      if (sorted[i] - sorted[i - 1] > sorted[widest] - sorted[widest - 1]) widest = i;
    }
    last = place;
    if (distance > 0 && distance >= narrow) levels.push(sorted[widest]);
  }
  return levels;
};

/**
 * The smallest two-sided p of Fisher's exact test over up to 32 levels, times their number: how likely shares above a level differ so much when
 * the values are dealt at random. Source: R. A. Fisher, Journal of the Royal Statistical Society 98 (1935).
 */
export const sharesP = (first: Float64Array, second: Float64Array): number => {
  const [a, b] = [first.toSorted(), second.toSorted()];
  const [m, n] = [a.length, b.length];
  const all = new Float64Array(m + n);
  all.set(a);
  all.set(b, m);
  all.sort();
  const levels = levelsOf(all);
  let best = 1;
  let [i, j] = [0, 0];
  for (const level of levels) {
    while (i < m && a[i] < level) i++;
    while (j < n && b[j] < level) j++;
    best = Math.min(best, fisherP(m, n, i + j, i));
  }
  return Math.min(1, best * levels.length);
};

/** Where the shares of `values` above some level differ most before and after, with at least `minSize` on each side; null where no value differs. */
export const sharesCut = (values: Float64Array, minSize: number): number | null => {
  const size = values.length;
  let best = 0;
  let cut: number | null = null;
  for (const level of levelsOf(values.toSorted())) {
    let marked = 0;
    for (const one of values) if (one < level) marked++;
    const share = marked / size;
    const variance = share * (1 - share);
    let before = 0;
    for (let i = 1; i <= size - minSize; i++) {
      if (values[i - 1] < level) before++;
      if (i < minSize) continue;
      // The square of the distance from what chance deals, in variances of it.
      const apart = (before - i * share) ** 2 / (variance * i * (1 - i / size));
      if (apart > best) {
        best = apart;
        cut = i;
      }
    }
  }
  return cut;
};

/** What {@link lowerTail} costs at most, in additions. */
const countingSteps = (groups: readonly number[], dealt: number, doubledU: number): number =>
  groups.reduce((sum, group) => sum + Math.min(group, dealt) + 1, 0) * (dealt + 1) * (doubledU + 1);

/**
 * P(2U <= doubledU) and P(2U = doubledU) when `dealt` of the values are taken at random, where U counts the pairs in which a taken value
 * is larger than one left (ties one half). `groups` are the sizes of the groups of equal values in rising order.
 */
const lowerTail = (
  groups: readonly number[],
  dealt: number,
  doubledU: number,
): { readonly atMost: number; readonly exactly: number } => {
  const total = groups.reduce((sum, group) => sum + group, 0);
  // chance[k][s]: that k of the values seen so far are taken and their pairs so far make 2U = s.
  const chance = Array.from({ length: dealt + 1 }, () => new Float64Array(doubledU + 1));
  chance[0][0] = 1;
  let seen = 0;
  for (const group of groups) {
    const rest = total - seen;
    // Each value that is left makes a pair with every one taken later: beyond so many left, none can be taken within doubledU.
    const fewestTaken = Math.max(0, seen - Math.floor(doubledU / 2));
    // Downwards, so that a row is read before anything of this group is added to it. The row of all that are dealt stays as it is.
    for (let taken = Math.min(dealt - 1, seen); taken >= fewestTaken; taken--) {
      const row = chance[taken];
      const missing = dealt - taken;
      // Where too few values are left to take, nothing is, and no later group reads the row.
      const fewest = Math.max(0, missing - (rest - group));
      for (let take = Math.min(group, missing); take >= fewest; take--) {
        const pairs = take * (2 * (seen - taken) + group - take);
        if (pairs > doubledU) continue;
        const p = Math.exp(logWays(group, take) + logWays(rest - group, missing - take) - logWays(rest, missing));
        if (take === 0) {
          for (let s = 0; s <= doubledU; s++) row[s] *= p;
          continue;
        }
        const target = chance[taken + take];
        for (let s = doubledU; s >= pairs; s--) target[s] += p * row[s - pairs];
      }
    }
    seen += group;
  }
  const last = chance[dealt];
  return { atMost: last.reduce((sum, p) => sum + p, 0), exactly: last[doubledU] };
};

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
