// Order statistics of samples. Nothing here averages: one preempted sample would move a mean for good.

/** The q-quantile (0 to 1) by linear interpolation. */
export function quantile(samples, q) {
  const sorted = Float64Array.from(samples).sort();
  const at = (sorted.length - 1) * q;
  const below = Math.floor(at);
  const above = Math.ceil(at);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

export const median = (samples) => quantile(samples, 0.5);

/** Whether more is better in this unit. */
export const isRate = (unit) => unit.endsWith('/s');

/** How much samples differ, as a share of their median: 0.05 is quiet, above 0.2 the machine was busy. */
export const spread = (samples) => (quantile(samples, 0.75) - quantile(samples, 0.25)) / median(samples);

/**
 * Between which samples the median lies, 19 times of 20, whatever their distribution: order statistics half a binomial's width below and
 * above. Samples of one process are not independent, so it is the least that the run leaves open.
 */
export function medianInterval(samples) {
  const sorted = Float64Array.from(samples).sort();
  const half = 0.98 * Math.sqrt(sorted.length);
  const place = (at) => sorted[Math.min(sorted.length - 1, Math.max(0, at))];
  return { low: place(Math.floor(sorted.length / 2 - half)), high: place(Math.ceil(sorted.length / 2 + half) - 1) };
}
