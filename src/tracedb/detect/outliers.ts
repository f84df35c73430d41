// Draws far outliers in, so that a disturbed run neither hides a step nor makes one. It must never drop a value: the count of values
// carries the significance.

/** Distance of the fences from the quartiles, in interquartile ranges: Tukey's limit for values that are "far out". */
const FAR_OUT = 3;

const quantile = (sorted: Float64Array, share: number): number => {
  const position = (sorted.length - 1) * share;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - low);
};

/**
 * The values with those beyond Tukey's outer fences (quartile -/+ 3 interquartile ranges) moved onto the fence; unchanged where the
 * quartiles are equal.
 * Source: J. W. Tukey, Exploratory Data Analysis (1977).
 */
export const drawOutliersIn = (values: Float64Array): Float64Array => {
  const sorted = values.toSorted();
  const lower = quantile(sorted, 0.25);
  const upper = quantile(sorted, 0.75);
  // Most values are equal, as counts of bytes are. Any other value would be far out, also those after a real step.
  if (lower === upper) return values;
  const reach = FAR_OUT * (upper - lower);
  return values.map((value) => Math.min(Math.max(value, lower - reach), upper + reach));
};
