// The percentile of durations that the page shows: the nearest rank, a value that really was.

/** The value that `share` of the ascending ones do not exceed; at least one is needed. */
export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)];
