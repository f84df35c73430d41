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
