// Whether a jump is more than the values themselves explain: clear beside the values right around it, larger than what happens elsewhere in the
// history, or between sides in random order, for which a test of ranks or shares is enough. Far outliers are drawn in first, so that a disturbed run
// neither hides a step nor makes one; no value is dropped, for their count carries the significance. It must never trust a model of the noise: walks,
// waves and trends move the means of neighbours apart everywhere, a step does so in one place.
import { sharesP } from './mann-whitney.js';
import type { Statistics } from './statistics.js';

/** Distance of the fences from the quartiles, in interquartile ranges: Tukey's limit for values that are "far out". */
const FAR_OUT = 3;

/** Values in a row, to each side, that a level must outlast to be one: a run of five stays, a run of four does not. */
const REACH = 4;

const quantile = (sorted: Float64Array, share: number): number => {
  const position = (sorted.length - 1) * share;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - low);
};

/** Smallest and largest median of nine neighbours: what does not last has no part in them. */
const lastingRange = (values: Float64Array): readonly [number, number] => {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  const last = Math.max(REACH, values.length - 1 - REACH);
  for (let i = REACH; i <= last; i++) {
    const near = values.slice(i - REACH, i + REACH + 1).sort();
    const median = near[near.length >> 1];
    lowest = Math.min(lowest, median);
    highest = Math.max(highest, median);
  }
  return [lowest, highest];
};

const fencesOf = (values: Float64Array): readonly [number, number] => {
  const sorted = values.toSorted();
  const lower = quantile(sorted, 0.25);
  const upper = quantile(sorted, 0.75);
  // Most values are equal, as counts of bytes are. Any other value would be far out, also those after a real step, but a step lasts.
  if (lower === upper) return sorted[0] === sorted[sorted.length - 1] ? [lower, upper] : lastingRange(values);
  const reach = FAR_OUT * (upper - lower);
  return [lower - reach, upper + reach];
};

/**
 * The values with the far ones moved onto a fence. The fences are Tukey's outer ones (quartile -/+ 3 interquartile ranges); where the
 * quartiles are equal, the lowest and the highest level that lasts, a level being the median of nine neighbours.
 * Source: J. W. Tukey, Exploratory Data Analysis (1977).
 */
export const drawOutliersIn = (values: Float64Array): Float64Array => {
  const [lowest, highest] = fencesOf(values);
  return values.map((value) => Math.min(Math.max(value, lowest), highest));
};

/** Values on each side that are compared; fewer where others changes are near, but as many as the last. */
export const LONGEST_NEAR = 30;
const LENGTHS = [LONGEST_NEAR, 24];
const SHORTEST = 16;

/** Values on each side that must be apart already: a walk gets there step by step. */
const AT_ONCE = 5;

/** Lags whose correlations are summed as a measure of how much the values lean on each other. */
const LAGS = 5;

/**
 * Jump in deviations of the quieter side, for sides of 30 values that do not lean, in a history of up to 280 values. Of all noise walks, and values
 * correlated by 0.9 and more, jump farthest: with it some 3 in 100 of their histories show a clear jump, as measured at 200, 300 and 1,000 values.
 * A longer history has more places, so more is asked.
 */
const CLEAR = 3.82;
const PER_LOG_LENGTH = 1.2;
const MEASURED_LENGTH = 280;

/** Shorter sides of a walk spread less, by this power of their length. */
const SPREAD_POWER = 0.6;

interface Side {
  readonly mean: number;
  readonly deviation: number;
  /** Variance of the mean over that of independent values. */
  readonly leaning: number;
}

/** Of at least one value. */
export const meanOf = (values: Float64Array): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
};

const sideOf = (values: Float64Array): Side => {
  const mean = meanOf(values);
  let squares = 0;
  let products = 0;
  for (let i = 0; i < values.length; i++) {
    const distance = values[i] - mean;
    squares += distance ** 2;
    for (let j = Math.max(0, i - LAGS); j < i; j++) products += distance * (values[j] - mean);
  }
  const leaning = squares === 0 ? 1 : 1 + (2 * products) / squares;
  return { mean, deviation: Math.sqrt(squares / values.length), leaning };
};

const isClear = (values: Float64Array, cut: number, length: number): boolean => {
  const before = drawOutliersIn(values.subarray(cut - length, cut));
  const after = drawOutliersIn(values.subarray(cut, cut + length));
  const [left, right] = [sideOf(before), sideOf(after)];
  const jump = right.mean - left.mean;
  const atOnce = meanOf(after.subarray(0, AT_ONCE)) - meanOf(before.subarray(length - AT_ONCE));
  const size = Math.min(Math.abs(jump), atOnce * Math.sign(jump));
  const leaning = Math.sqrt(Math.max(1, (left.leaning + right.leaning) / 2));
  const longer = Math.max(0, Math.log(values.length / MEASURED_LENGTH));
  const asked = (CLEAR + PER_LOG_LENGTH * longer) * (LONGEST_NEAR / length) ** SPREAD_POWER;
  return size > 0 && size >= asked * leaning * Math.min(left.deviation, right.deviation);
};

/** Whether the jump at `cut` is clear, seen from the 24 or the 30 values on each side of it, or as many as `[start, end)` has. */
export const isClearJump = (
  values: Float64Array,
  [start, cut, end]: readonly [start: number, cut: number, end: number],
): boolean => {
  const max = Math.min(cut - start, end - cut);
  if (max < SHORTEST) return false;
  const lengths = new Set(LENGTHS.map((length) => Math.min(length, max)));
  return [...lengths].some((length) => isClear(values, cut, length));
};

/** Values of a side that are looked at, at most and at least. */
const LONGEST_SIDE = 192;
const SHORTEST_SIDE = 40;

/** Lags whose correlations are summed, and how much they may widen the variance of a mean. */
const LAGS_OF_SIDE = 6;
const MAX_LEANING = 2;

/** Slow waves of a side, the slowest of half a period, and what they may have on average, in variances of a value, at the smallest power. */
const WAVES = 3;
const MAX_WAVING = 3.2;

/** Powers of ten by which chance must be excluded per value. A slow walk below noise and a long wave give less. */
const POWER_PER_VALUE = 0.075;
const POWER_PER_NEAR_VALUE = 0.073;
const NEAR = 48;

const powerOf = (values: Float64Array, cut: number, m: number, n: number): number =>
  (-Math.log10(sharesP(values.subarray(cut - m, cut), values.subarray(cut, cut + n))) * (m + n)) / (4 * m * n);

interface Order {
  readonly leaning: number;
  readonly waving: number;
}

const orderOf = (side: Float64Array): Order => {
  const size = side.length;
  let mean = 0;
  for (const value of side) mean += value / size;
  let squares = 0;
  let products = 0;
  const waves = new Float64Array(WAVES);
  for (let i = 0; i < size; i++) {
    const distance = side[i] - mean;
    squares += distance ** 2;
    for (let j = Math.max(0, i - LAGS_OF_SIDE); j < i; j++) products += distance * (side[j] - mean);
    for (let wave = 0; wave < WAVES; wave++) {
      waves[wave] += distance * Math.cos((Math.PI * (wave + 1) * (i + 0.5)) / size);
    }
  }
  if (squares === 0) return { leaning: 1, waving: 0 };
  const variance = squares / (size - 1);
  let waving = 0;
  for (const wave of waves) waving += (wave ** 2 * 2) / size / variance / WAVES;
  return { leaning: 1 + (2 * products) / squares + (2 * LAGS_OF_SIDE) / size, waving };
};

/**
 * Whether the up to 192 values on each side of `cut` show no sign of an order, and their shares above some level differ by more than a slow walk below
 * noise makes them.
 */
export const differsIndependently = (values: Float64Array, cut: number): boolean => {
  const m = Math.min(LONGEST_SIDE, cut);
  const n = Math.min(LONGEST_SIDE, values.length - cut);
  if (Math.min(m, n) < SHORTEST_SIDE) return false;
  const power = powerOf(values, cut, m, n);
  if (power < POWER_PER_VALUE) return false;
  // What rises slowly has not risen near the cut.
  if (powerOf(values, cut, Math.min(NEAR, m), Math.min(NEAR, n)) < POWER_PER_NEAR_VALUE) return false;
  const before = orderOf(values.subarray(cut - m, cut));
  const after = orderOf(values.subarray(cut, cut + n));
  const leaning = (m * before.leaning + n * after.leaning) / (m + n);
  return leaning <= MAX_LEANING && Math.max(before.waving, after.waving) <= (MAX_WAVING * power) / POWER_PER_VALUE;
};

/** Values on each side whose means are compared. */
const SIDES = [5, 16, 48];

/** Sides to the left and to the right of the cut from which the other jumps are taken. */
const AROUND = 20;

/** Jumps that overlap by half are nearly as good as apart, so there are more to choose from than sides that fit beside each other. */
const PLACES_PER_SIDE = 4;

/** As many are taken for granted: few jumps would else prove nothing. */
const FEWEST_APART = 6;

/** The median of |z| of a normal z. */
const NORMAL_MEDIAN = 0.6745;

interface Jumps {
  readonly atCut: number;
  /** Deviation of the jumps elsewhere; by their median, so that other steps do not hide this one. */
  readonly deviation: number;
  /** How many of them do not overlap. */
  readonly apart: number;
}

const jumpsOf = (values: Float64Array, cuts: readonly number[], side: number): Jumps => {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i] + values[i];
  const jump = (at: number): number => Math.abs(sums[at + side] - 2 * sums[at] + sums[at - side]) / side;
  const elsewhere = new Float64Array(values.length);
  let count = 0;
  for (let at = side; at + side <= values.length; at++) {
    if (cuts.every((cut) => Math.abs(at - cut) >= side)) elsewhere[count++] = jump(at);
  }
  const sorted = elsewhere.subarray(0, count).sort();
  const deviation = count === 0 ? 0 : sorted[count >> 1] / NORMAL_MEDIAN;
  return { atCut: jump(cuts[0]), deviation, apart: count / side };
};

/**
 * Whether the jump at `cut`, measured within `[start, end)`, is larger than the jumps of the history around it by so much that chance makes
 * one anywhere in `values` with a probability of at most `pValue`. Takes the time to sort some hundred values.
 */
export const standsOut = (
  values: Float64Array,
  [start, cut, end]: readonly [start: number, cut: number, end: number],
  pValue: number,
  statistics: Statistics,
): boolean => {
  const shorter = Math.min(cut - start, end - cut);
  for (const side of new Set(SIDES.map((longest) => Math.min(longest, shorter)))) {
    const from = Math.max(0, cut - AROUND * side);
    const near = drawOutliersIn(values.subarray(from, cut + AROUND * side));
    const { atCut, deviation, apart } = jumpsOf(near, [cut - from, start - from, end - from], side);
    // Nothing to compare with: the other tests alone decide.
    if (apart === 0) return true;
    if (apart < 1) continue;
    const places = (SIDES.length * PLACES_PER_SIDE * values.length) / side;
    // Where nothing else moves, any jump stands out.
    if (
      deviation === 0
        ? atCut > 0
        : statistics.studentTwoSided(atCut / deviation, Math.max(FEWEST_APART, apart)) * places <= pValue
    ) {
      return true;
    }
  }
  return false;
};
