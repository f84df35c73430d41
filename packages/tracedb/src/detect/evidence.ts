// What speaks for a change at a place of a history: a rank test, and the size of the jump against the noise around it. It must never trust one alone:
// order that means something, such as drift, breaks the first, and values that tell no variance break the second. Noise is read from differences of
// near values, and must never be fooled by steps: a step lies in one difference of many, where it lies in half of all distances from a mean.
import { differsIndependently, drawOutliersIn, isClearJump, meanOf, standsOut } from './jumps.js';
import { mannWhitney, sharesP } from './mann-whitney.js';
import type { Statistics } from './statistics.js';

/** Noise of the form x[i] = phi x[i-1] + e: what a mean of some values is worth. */
interface Noise {
  /** Variance of a value. */
  readonly variance: number;
  /** Correlation of neighbours, 0 to {@link LARGEST_PHI}. */
  readonly phi: number;
}

// Nearer 1 the noise is a walk, whose variance is not a number; differences over small windows are the same up to there.
const LARGEST_PHI = 0.98;

// The largest tenth of the differences is where steps and outliers are.
const KEPT = 0.9;

/** E min(z^2, c^2) of a normal z whose |z| is at most c nine times in ten. */
const CLIPPED_NORMAL = 0.8313;

/** The noise of some values that may have steps in them; at least three values. */
const noiseOf = (values: Float64Array, caution: number): Noise => {
  const size = values.length - 1;
  const differences = new Float64Array(size);
  const sizes = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    differences[i] = values[i + 1] - values[i];
    sizes[i] = Math.abs(differences[i]);
  }
  const largest = sizes.sort()[Math.floor((size - 1) * KEPT)];
  if (largest === 0) return { variance: 0, phi: 0 };
  let squares = 0;
  let products = 0;
  let last = 0;
  for (const difference of differences) {
    const clipped = Math.min(Math.max(difference, -largest), largest);
    squares += clipped ** 2;
    products += clipped * last;
    last = clipped;
  }
  // Neighbouring differences of such noise are correlated by -(1 - phi) / 2: what goes up by chance comes down again.
  const seen = 1 + (2 * products) / squares;
  const phi = Math.min(Math.max(seen + caution / Math.sqrt(size), 0), LARGEST_PHI);
  return { variance: squares / size / CLIPPED_NORMAL / (2 * (1 - phi)), phi };
};

/** Variance of the difference of the means of two neighbouring stretches of m and n values. */
const varianceOfDifference = ({ variance, phi }: Noise, m: number, n: number): number => {
  const rest = 1 - phi;
  const ofMean = (size: number): number => (1 + phi) / rest / size - (2 * phi * (1 - phi ** size)) / (size * rest) ** 2;
  const shared = (phi * (1 - phi ** m) * (1 - phi ** n)) / (m * n * rest ** 2);
  return variance * (ofMean(m) + ofMean(n) - 2 * shared);
};

/** Values on each side of the cut whose ranks are compared, besides those of the whole stretch, which may hold other changes. */
const RANK_REACHES = [Number.POSITIVE_INFINITY, 30];

/** The two reaches of ranks have nearly the whole chance. Shares above a level need little of it: where long sides say more they say far more. */
const WEIGHT_OF_RANKS = 2.05;
const WEIGHT_OF_SHARES = 50;

/** Values on each side whose means are compared: near ones tell a step from a walk, many show a small step. */
const JUMP_REACHES = [Number.POSITIVE_INFINITY, 48, 16, 5];

/** Fewest values of a side whose blocks tell how far its mean can be trusted. */
const BLOCKS_FROM = 16;

/** Values on each side that tell the noise, and the standard errors of caution: few do where it changes, but they tell less. */
const NOISE_REACHES = [
  { reach: 250, caution: 0.5 },
  { reach: 60, caution: 2 },
  { reach: 30, caution: 2 },
];

// All means against the widest noise count half of the whole chance, the other pairs of reaches share the rest, and blocks count as one of
// them for each reach. That is a little more than the whole: the rank test, which must agree, is what keeps the declared rate.
const WEIGHT_OF_FIRST = 2;
const WEIGHT_OF_OTHERS = 2 * (JUMP_REACHES.length * NOISE_REACHES.length - 1);

/** Deviations that must be left of a jump when a slope that both sides share is taken away: drift has none left. */
const BESIDE_SLOPE = 3.3;

/** Sides longer than this are compared in blocks too: their means must differ by far more than those of blocks of one side do. */
const LONG_SIDE = 48;
const BLOCKS = 4;
const BESIDE_WAVES = 8;

/** Sides of so many values are compared by shares too. */
const SHARES_FROM = 40;

/** Asked of walks and waves at least: a smaller chance would cost steps of short histories, which have few other jumps to compare with. */
const MIN_CHANCE = 0.05;

/** The exact p of ranks may be as small as the square of the normal one where all values of one side are larger, and a little below. */
const FAR_ABOVE = 0.4;

/** A cut and the stretch it is in, `[start, end)`. */
type Place = readonly [start: number, cut: number, end: number];

/** The sides of a cut within each reach; where neither is longer than the reach, the first has said it all. */
const sidesOf = (
  values: Float64Array,
  [start, cut, end]: Place,
  reaches: readonly number[],
): { readonly before: Float64Array; readonly after: Float64Array; readonly isFirst: boolean }[] =>
  reaches.flatMap((reach, i) => {
    const before = values.subarray(Math.max(start, cut - reach), cut);
    const after = values.subarray(cut, Math.min(end, cut + reach));
    return i > 0 && before.length < reach && after.length < reach ? [] : [{ before, after, isFirst: i === 0 }];
  });

interface Jump {
  readonly size: number;
  /** The size left when both sides slope alike. */
  readonly besideSlope: number;
  /** Sum of squared distances in time from the middles of the sides. */
  readonly squares: number;
}

const jumpOf = (before: Float64Array, after: Float64Array): Jump => {
  let products = 0;
  let squares = 0;
  const means = [before, after].map((side) => {
    const mean = meanOf(side);
    const middle = (side.length - 1) / 2;
    for (let i = 0; i < side.length; i++) {
      products += (i - middle) * (side[i] - mean);
      squares += (i - middle) ** 2;
    }
    return mean;
  });
  const size = means[1] - means[0];
  const distance = (before.length + after.length) / 2;
  return { size, besideSlope: size - (products / squares) * distance, squares };
};

/** Variance of the means of the blocks of a side. */
const varianceOfBlocks = (side: Float64Array): number => {
  const length = Math.floor(side.length / BLOCKS);
  const means = Float64Array.from({ length: BLOCKS }, (_, i) => meanOf(side.subarray(i * length, (i + 1) * length)));
  const mean = meanOf(means);
  return means.reduce((sum, block) => sum + (block - mean) ** 2, 0) / (BLOCKS - 1);
};

/** The jump in standard errors, these told by the blocks of the sides; undefined where the sides are too short for blocks. */
const blockT = (size: number, before: Float64Array, after: Float64Array): number | undefined =>
  Math.min(before.length, after.length) < BLOCKS_FROM
    ? undefined
    : Math.abs(size) / Math.sqrt((varianceOfBlocks(before) + varianceOfBlocks(after)) / BLOCKS);

const isOfSlope = ({ size, besideSlope, squares }: Jump, noise: Noise, variance: number, distance: number): boolean => {
  const ofSlope = (noise.variance * (1 + noise.phi)) / (1 - noise.phi) / squares;
  return besideSlope * Math.sign(size) < BESIDE_SLOPE * Math.sqrt(variance + distance ** 2 * ofSlope);
};

/** The smallest p of the jump over all reaches; `enough` is as good as any smaller one. */
const jumpP = (values: Float64Array, place: Place, enough: number, statistics: Statistics): number => {
  const [, cut] = place;
  const jumps = sidesOf(values, place, JUMP_REACHES).flatMap(({ before, after, isFirst }) => {
    const sides = [drawOutliersIn(before), drawOutliersIn(after)] as const;
    const jump = jumpOf(...sides);
    const t = blockT(jump.size, ...sides);
    const isOfWaves = t !== undefined && t < BESIDE_WAVES && Math.min(before.length, after.length) >= LONG_SIDE;
    if (jump.size === 0 || isOfWaves) return [];
    return [{ ...jump, m: before.length, n: after.length, isFirst, t }];
  });
  let best = 1;
  // What comes round again, such as a sawtooth, looks like a walk from one value to the next; the means of its blocks stay where they are.
  for (const { t } of jumps) {
    if (t === undefined) continue;
    best = Math.min(best, WEIGHT_OF_OTHERS * statistics.studentTwoSided(t, 2 * (BLOCKS - 1)));
    if (best <= enough) return best;
  }
  for (const [i, { reach, caution }] of NOISE_REACHES.entries()) {
    if (jumps.length === 0) break;
    const near = values.subarray(Math.max(0, cut - reach), Math.min(values.length, cut + reach));
    const noise = noiseOf(near, caution);
    for (const jump of jumps) {
      const variance = varianceOfDifference(noise, jump.m, jump.n);
      if (isOfSlope(jump, noise, variance, (jump.m + jump.n) / 2)) continue;
      const weight = i === 0 && jump.isFirst ? WEIGHT_OF_FIRST : WEIGHT_OF_OTHERS;
      best = Math.min(best, weight * statistics.studentTwoSided(jump.size / Math.sqrt(variance), near.length / 2));
      if (best <= enough) return best;
    }
  }
  return best;
};

const rankP = (values: Float64Array, place: Place, roughAbove: number, statistics: Statistics): number => {
  let best = 1;
  for (const { before, after } of sidesOf(values, place, RANK_REACHES)) {
    best = Math.min(best, mannWhitney(before, after, statistics, roughAbove).pValue);
  }
  return Math.min(1, best * WEIGHT_OF_RANKS);
};

/** That of shares above a level, which short sides do not tell. */
const sharesOnSidesP = (values: Float64Array, [start, cut, end]: Place): number =>
  Math.min(cut - start, end - cut) < SHARES_FROM
    ? 1
    : WEIGHT_OF_SHARES * sharesP(values.subarray(start, cut), values.subarray(cut, end));

/**
 * How likely the stretch `[start, end)` would look as if it changed at `cut` by chance, for one place known beforehand: the larger of the
 * p-values of two tests, each the smallest over several reaches times their number. Above `limit` only a rough p is given.
 */
export const evidenceP = (
  values: Float64Array,
  place: Place,
  [pValue, places]: readonly [pValue: number, places: number],
  statistics: Statistics,
): number => {
  const limit = pValue / places;
  // Counting is dear. The cheap tests come first: normal ranks, then whether any jump is enough.
  const shares = sharesOnSidesP(values, place);
  const rough = Math.min(shares, rankP(values, place, 0, statistics));
  if (rough > limit ** FAR_ABOVE) return Math.min(1, rough);
  if (isClearJump(values, place) || differsIndependently(values, place[1])) {
    return Math.min(shares, rankP(values, place, Number.POSITIVE_INFINITY, statistics));
  }
  const jump = jumpP(values, place, limit, statistics);
  if (jump > limit) return Math.min(1, jump);
  if (!standsOut(values, place, Math.max(pValue, MIN_CHANCE), statistics)) return 1;
  const rank = Math.min(shares, rankP(values, place, Number.POSITIVE_INFINITY, statistics));
  return Math.min(1, Math.max(rank, jumpP(values, place, rank, statistics)));
};
