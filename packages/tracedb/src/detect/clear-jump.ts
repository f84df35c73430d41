// Whether a jump is clear beside the values right around it: beside the quieter of its two sides, at once, and larger than a walk jumps. It must never
// look farther away: old noise, however wide, must not hide a later, tight step.
import { drawOutliersIn } from './outliers.js';

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
