// Where a history is cut into stretches, for as long as a cut is significant: where it steps within a few values, as two windows show that slide over
// it side by side, and where a stretch divides best by the energy statistic of E-divisive. It must never depend on anything outside of a window, nor
// give a stretch up because the two parts of it that differ most do not differ enough, and must cut a history read backwards at the same places.
import { differsIndependently, drawOutliersIn } from './jumps.js';
import { sharesCut } from './mann-whitney.js';

/** Values on each side of a place, short ones first. */
const SIDES = [12, 24, 30, 48, 96, 192];

/** Deviations that ranks must be apart for a place to be looked at; what is reported needs more. */
const WORTH_A_LOOK = 3.5;

/** A place, and the values on each side of it that tell it. */
interface NearCut {
  readonly cut: number;
  readonly side: number;
}

/** Places that are looked at. */
export const nearPlaces = (size: number): number =>
  SIDES.reduce((sum, side) => sum + Math.max(0, size - 2 * side + 1), 0);

/** Pairs of a value and those of `[from, until)` that are larger, less those that are smaller. */
const above = (values: Float64Array, value: number, from: number, until: number): number => {
  let count = 0;
  for (let i = from; i < until; i++) {
    if (values[i] > value) count++;
    else if (values[i] < value) count--;
  }
  return count;
};

/** For each place with `side` values on either side: pairs in which the later value is larger, less those in which it is smaller. */
const apartAt = (values: Float64Array, side: number): Int32Array => {
  const apart = new Int32Array(values.length + 1);
  let pairs = 0;
  for (let i = 0; i < side; i++) pairs += above(values, values[i], side, 2 * side);
  apart[side] = pairs;
  for (let at = side; at + side < values.length; at++) {
    // The oldest leaves, the one at the place changes sides, and one comes in.
    pairs -= above(values, values[at - side], at, at + side);
    pairs += above(values, values[at], at - side + 1, at) + above(values, values[at], at + 1, at + side);
    pairs -= above(values, values[at + side], at - side + 1, at + 1);
    apart[at + 1] = pairs;
  }
  return apart;
};

/**
 * The places at which `side` values before and after differ more than at any place nearby, for all lengths of sides. Two places that differ
 * by as much are both given: which is better is for whoever judges them. Takes time in the length times 400.
 */
function* nearCuts(values: Float64Array): Generator<readonly NearCut[]> {
  for (const side of SIDES) {
    if (2 * side > values.length) return;
    const apart = apartAt(values, side);
    const min = WORTH_A_LOOK * Math.sqrt((side * side * (2 * side + 1)) / 3);
    const reach = side >> 1;
    const found: NearCut[] = [];
    for (let cut = side; cut + side <= values.length; cut++) {
      const size = Math.abs(apart[cut]);
      if (size < min) continue;
      // Where the windows cannot slide any farther, more may lie beyond.
      const isEdge = cut === side || cut + side === values.length;
      if (isEdge && size < side * side) continue;
      let isTop = true;
      const until = Math.min(values.length - side, cut + reach);
      for (let at = Math.max(side, cut - reach); at <= until && isTop; at++) isTop = Math.abs(apart[at]) <= size;
      if (isTop) found.push({ cut, side });
    }
    yield found;
  }
}

/** Two neighbouring parts that differ much: `[0, index)` and `[index, until)`. */
interface EnergySplit {
  readonly index: number;
  /** End of the right part: before the end when a later change would dilute it. */
  readonly until: number;
  /** The statistic Q: larger means that the two parts differ more. */
  readonly q: number;
}

/** Longest stretches of which every pair of parts is tried, since that takes time in the square of the length. */
const MAX_PAIRS = 512;

/** Values on each side of a place found among means of blocks in which the best place is looked for. */
const CLOSER_LOOK = 64;

const search = (values: Float64Array, minSize: number, earliestEnd: number): EnergySplit | null => {
  const size = values.length;
  // For a split after `left` values: the sums of distances between the parts, and within each.
  const between = new Float64Array(size);
  const withinLeft = new Float64Array(size + 1);
  const withinRight = new Float64Array(size);
  let best: EnergySplit | null = null;
  let bestQ = 0;
  for (let last = 0; last < size; last++) {
    const value = values[last];
    let total = 0;
    for (let i = 0; i < last; i++) total += Math.abs(value - values[i]);
    withinLeft[last + 1] = withinLeft[last] + total;
    let toLeft = 0;
    for (let left = 1; left <= last; left++) {
      toLeft += Math.abs(value - values[left - 1]);
      between[left] += toLeft;
      withinRight[left] += total - toLeft;
    }
    if (last + 1 < earliestEnd) continue;
    for (let left = minSize; left <= last + 1 - minSize; left++) {
      const right = last + 1 - left;
      const q =
        (2 * between[left] -
          (2 * right * withinLeft[left]) / (left - 1) -
          (2 * left * withinRight[left]) / (right - 1)) /
        (left + right);
      if (q > bestQ) {
        bestQ = q;
        best = { index: left, until: last + 1, q };
      }
    }
  }
  return best;
};

const blockMeans = (values: Float64Array, block: number): Float64Array => {
  const means = new Float64Array(Math.floor(values.length / block));
  for (let i = 0; i < means.length; i++) {
    let sum = 0;
    for (let j = i * block; j < (i + 1) * block; j++) sum += values[j];
    means[i] = sum / block;
  }
  return means;
};

const searchBlocks = (values: Float64Array, minSize: number): EnergySplit | null => {
  const block = Math.ceil(values.length / MAX_PAIRS);
  const means = blockMeans(values, block);
  const coarse = search(means, Math.max(2, Math.ceil(minSize / block)), 0);
  if (coarse === null) return null;
  const until = coarse.until === means.length ? values.length : coarse.until * block;
  const middle = coarse.index * block;
  const from = Math.max(0, middle - CLOSER_LOOK - block);
  const to = Math.min(until, middle + CLOSER_LOOK + block);
  const near = search(values.slice(from, to), minSize, to - from);
  return { index: near === null ? middle : from + near.index, until, q: coarse.q };
};

/**
 * The pair of neighbouring parts from the start of `values`, each of at least `minSize` values (2 or more), with the largest statistic
 * Q = mn/(m+n) * (2 E|X-Y| - E|X-X'| - E|Y-Y'|); `null` when there are too few or all its values are equal. Beyond 512 values the pair is
 * chosen by means of blocks, and only the place of the cut by the values. Takes memory in the length, and time in the square of it up to
 * 512 values, in the length beyond. Source: D. S. Matteson and N. A. James, JASA 109 (2014), section 2.2, alpha = 1.
 */
export const energySplit = (values: Float64Array, minSize: number): EnergySplit | null =>
  values.length > MAX_PAIRS ? searchBlocks(values, minSize) : search(values, minSize, 0);

/** The p-value of a cut, corrected for all places. */
export type Judge = (start: number, index: number, end: number) => number;

/** Largest relative difference of two p-values that are one, but for rounding. */
const ROUNDING = 1e-9;

interface Found {
  readonly cut: number;
  readonly p: number;
  /** Room between the values on both sides: what is left where the least of one side is above all of the other. */
  readonly gap: number;
}

const gapAt = (values: Float64Array, cut: number, side: number): number => {
  let [min, max] = [values[cut], values[cut]];
  let [minBefore, maxBefore] = [values[cut - 1], values[cut - 1]];
  for (let i = 1; i < side; i++) {
    min = Math.min(min, values[cut + i]);
    max = Math.max(max, values[cut + i]);
    minBefore = Math.min(minBefore, values[cut - 1 - i]);
    maxBefore = Math.max(maxBefore, values[cut - 1 - i]);
  }
  return Math.max(min - maxBefore, minBefore - max);
};

/** Wherever all values of one side are larger, p is the same: the gap must decide, not the last digit. */
const isTie = (p: number, other: number): boolean => Math.abs(p - other) <= ROUNDING * Math.max(p, other);

/** The significant cuts of the shortest windows that show them, none in the window of a better one. */
const cutsNearby = (values: Float64Array, minSize: number, pValue: number, judge: Judge): number[] => {
  const cuts: number[] = [];
  for (const places of nearCuts(values)) {
    const found: Found[] = [];
    let reach = 0;
    for (const { cut, side } of places) {
      reach = side;
      if (side < minSize || cuts.some((one) => Math.abs(one - cut) < side)) continue;
      const p = judge(cut - side, cut, cut + side);
      if (p <= pValue) found.push({ cut, p, gap: gapAt(values, cut, side) });
    }
    found.sort((a, b) => (isTie(a.p, b.p) ? b.gap - a.gap : a.p - b.p));
    for (const { cut } of found) if (!cuts.some((one) => Math.abs(one - cut) < reach)) cuts.push(cut);
  }
  return cuts.sort((a, b) => a - b);
};

interface Split {
  readonly from: number;
  readonly index: number;
  readonly until: number;
}

/** The two neighbouring parts of a stretch that differ most, one of which reaches to an end of it. */
const bestSplit = (values: Float64Array, minSize: number): Split | null => {
  const ahead: EnergySplit | null = energySplit(values, minSize);
  const back = energySplit(values.toReversed(), minSize);
  if (ahead !== null && (back === null || ahead.q >= back.q)) return { from: 0, ...ahead };
  if (back === null) return null;
  const size = values.length;
  return { from: size - back.until, index: size - back.index, until: size };
};

/** A cut of a stretch that is significant: where its parts differ most by the energy statistic, or else where shares above a level do. */
const significantCut = (
  values: Float64Array,
  [start, end]: readonly [start: number, end: number],
  minSize: number,
  pValue: number,
  judge: Judge,
): number | null => {
  const drawnIn = drawOutliersIn(values.subarray(start, end));
  const split = bestSplit(drawnIn, minSize);
  if (split === null) return null;
  const cut = start + split.index;
  if (judge(start + split.from, cut, start + split.until) <= pValue) return cut;
  const other = sharesCut(drawnIn, minSize);
  if (other === null || !differsIndependently(values, start + other)) return null;
  return judge(start, start + other, end) <= pValue ? start + other : null;
};

/** Cuts the history into stretches for as long as a cut is significant; the cuts in order. */
export const divide = (values: Float64Array, minSize: number, pValue: number, judge: Judge): number[] => {
  const cuts = cutsNearby(values, minSize, pValue, judge);
  const ends = [0, ...cuts, values.length];
  const stretches = cuts.concat(values.length).map((end, i) => [ends[i], end] as const);
  for (let stretch = stretches.pop(); stretch; stretch = stretches.pop()) {
    const [start, end] = stretch;
    const cut = significantCut(values, stretch, minSize, pValue, judge);
    if (cut === null) continue;
    cuts.push(cut);
    stretches.push([start, cut], [cut, end]);
  }
  return cuts.sort((a, b) => a - b);
};
