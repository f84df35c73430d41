// Draws far outliers in, so that a disturbed run neither hides a step nor makes one. It must never drop a value: the count of values
// carries the significance.

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
