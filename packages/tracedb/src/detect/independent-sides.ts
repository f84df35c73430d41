// Whether the values on both sides of a place are in random order, each side for itself: then a test of ranks or shares is enough. It must never judge
// short sides: few values do not show whether they lean on each other.
import { sharesP } from './shares-above.js';

/** Values of a side that are looked at, at most and at least. */
const LONGEST = 192;
const SHORTEST = 40;

/** Lags whose correlations are summed, and how much they may widen the variance of a mean. */
const LAGS = 6;
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
    for (let j = Math.max(0, i - LAGS); j < i; j++) products += distance * (side[j] - mean);
    for (let wave = 0; wave < WAVES; wave++) {
      waves[wave] += distance * Math.cos((Math.PI * (wave + 1) * (i + 0.5)) / size);
    }
  }
  if (squares === 0) return { leaning: 1, waving: 0 };
  const variance = squares / (size - 1);
  let waving = 0;
  for (const wave of waves) waving += (wave ** 2 * 2) / size / variance / WAVES;
  return { leaning: 1 + (2 * products) / squares + (2 * LAGS) / size, waving };
};

/**
 * Whether the up to 192 values on each side of `cut` show no sign of an order, and their shares above some level differ by more than a slow walk below
 * noise makes them.
 */
export const differsIndependently = (values: Float64Array, cut: number): boolean => {
  const m = Math.min(LONGEST, cut);
  const n = Math.min(LONGEST, values.length - cut);
  if (Math.min(m, n) < SHORTEST) return false;
  const power = powerOf(values, cut, m, n);
  if (power < POWER_PER_VALUE) return false;
  // What rises slowly has not risen near the cut.
  if (powerOf(values, cut, Math.min(NEAR, m), Math.min(NEAR, n)) < POWER_PER_NEAR_VALUE) return false;
  const before = orderOf(values.subarray(cut - m, cut));
  const after = orderOf(values.subarray(cut, cut + n));
  const leaning = (m * before.leaning + n * after.leaning) / (m + n);
  return leaning <= MAX_LEANING && Math.max(before.waving, after.waving) <= (MAX_WAVING * power) / POWER_PER_VALUE;
};
