// Whether a jump is larger than what happens elsewhere in the same history. It must never trust a model of the noise: walks, waves and
// trends move the means of neighbours apart everywhere, a step does so in one place.
import { drawOutliersIn } from './outliers.js';
import type { Statistics } from './statistics.js';

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
