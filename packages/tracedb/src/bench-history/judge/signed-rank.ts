// Wilcoxon's signed rank test, one-sided and exact: Mann and Whitney's idea for values that come in pairs. It must never lean on a normal
// approximation: a gate decides on a handful of rounds, where the tails are far from normal.

/** More differences would take seconds to count. */
export const MAX_PAIRS = 300;

/** Twice the ranks of the sizes, so that ties, which share the mean of their ranks, stay whole numbers. */
const doubledRanks = (sizes: readonly number[]): Int32Array => {
  const order = sizes.map((_, i) => i).sort((a, b) => sizes[a] - sizes[b]);
  const ranks = new Int32Array(sizes.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && sizes[order[to]] === sizes[order[from]]) to++;
    // The ranks from + 1 to `to` of a group of ties.
    for (let i = from; i < to; i++) ranks[order[i]] = from + 1 + to;
    from = to;
  }
  return ranks;
};

/**
 * The chance of ranks at least as high for positive differences as these have, when each difference had its sign by the toss of a coin: small
 * where the differences lie above 0. Zeros keep their ranks and count for neither side. At most {@link MAX_PAIRS} differences.
 * Source: F. Wilcoxon, Biometrics Bulletin 1 (1945); zeros as J. W. Pratt, JASA 54 (1959).
 */
export const signedRankP = (differences: readonly number[]): number => {
  const ranks = doubledRanks(differences.map(Math.abs));
  const signed = Array.from(ranks, (rank, i) => ({ rank, difference: differences[i] })).filter(
    (one) => one.difference !== 0,
  );
  const max = signed.reduce((sum, { rank }) => sum + rank, 0);
  const seen = signed.reduce((sum, { rank, difference }) => sum + (difference > 0 ? rank : 0), 0);
  // chance[s]: that the ranks of positive differences, doubled, add up to s.
  const chance = new Float64Array(max + 1);
  chance[0] = 1;
  let reached = 0;
  for (const { rank } of signed) {
    reached += rank;
    for (let s = reached; s >= 0; s--) chance[s] = (chance[s] + (s >= rank ? chance[s - rank] : 0)) / 2;
  }
  return Math.min(
    1,
    chance.subarray(seen).reduce((sum, p) => sum + p, 0),
  );
};

/** The means of all pairs of differences, each with itself too, rising. */
const walshAverages = (differences: readonly number[]): Float64Array => {
  const averages = new Float64Array((differences.length * (differences.length + 1)) / 2);
  let at = 0;
  for (let i = 0; i < differences.length; i++) {
    for (let j = i; j < differences.length; j++) averages[at++] = (differences[i] + differences[j]) / 2;
  }
  return averages.sort();
};

/** Where the middle of the differences lies. */
export interface Shift {
  /** The estimate of Hodges and Lehmann: the median of the means of all pairs. */
  readonly estimate: number;
  /** From where to where it may lie, with the confidence asked for; of few differences the whole range, which is all they can say. */
  readonly low: number;
  readonly high: number;
}

/** The middle of at least one difference, and its interval: the values that a two-sided test with `1 - confidence` would not refuse. */
export const shiftOf = (differences: readonly number[], confidence = 0.95): Shift => {
  const averages = walshAverages(differences);
  const last = averages.length - 1;
  // As many averages lie below the interval as the sum of ranks may reach by chance: of untied ranks 1 to n.
  const allowed = (1 - confidence) / 2;
  const chance = new Float64Array(averages.length + 1);
  chance[0] = 1;
  for (let rank = 1, reached = 0; rank <= differences.length; rank++) {
    reached += rank;
    for (let s = reached; s >= 0; s--) chance[s] = (chance[s] + (s >= rank ? chance[s - rank] : 0)) / 2;
  }
  let outside = 0;
  for (let sum = chance[0]; outside < last / 2 && sum <= allowed; sum += chance[++outside]);
  const cut = Math.max(0, outside - 1);
  const estimate = (averages[last >> 1] + averages[(last + 1) >> 1]) / 2;
  return { estimate, low: averages[cut], high: averages[last - cut] };
};
