// Where a stretch of a series divides best, by the energy statistic of E-divisive. It must never judge whether that split means anything.

/** The two neighbouring parts that differ most: `[0, index)` and `[index, until)`. */
export interface EnergySplit {
  readonly index: number;
  /** End of the right part: before the end when a later change would dilute it. */
  readonly until: number;
  /** The statistic Q: larger means that the two parts differ more. */
  readonly q: number;
}

/**
 * The pair of neighbouring parts from the start of `values`, each of at least `minSize` values (2 or more), with the largest statistic
 * Q = mn/(m+n) * (2 E|X-Y| - E|X-X'| - E|Y-Y'|); `null` when there are too few or all its values are equal. Takes time in the
 * square of the length and memory in the length. Source: D. S. Matteson and N. A. James, JASA 109 (2014), section 2.2, alpha = 1.
 */
export const energySplit = (values: Float64Array, minSize: number): EnergySplit | null => {
  const size = values.length;
  // For a split after `left` values: the sums of distances between the parts, and within each.
  const between = new Float64Array(size);
  const withinLeft = new Float64Array(size + 1);
  const withinRight = new Float64Array(size);
  let best: EnergySplit | null = null;
  let bestQ = 0;
  for (let last = 0; last < size; last++) {
    const value = values[last];
    let total = 0;
    for (let i = 0; i < last; i++) total += Math.abs(value - values[i]);
    withinLeft[last + 1] = withinLeft[last] + total;
    let toLeft = 0;
    for (let left = 1; left <= last; left++) {
      toLeft += Math.abs(value - values[left - 1]);
      between[left] += toLeft;
      withinRight[left] += total - toLeft;
    }
    for (let left = minSize; left <= last + 1 - minSize; left++) {
      const right = last + 1 - left;
      const q =
        (2 * between[left] -
          (2 * right * withinLeft[left]) / (left - 1) -
          (2 * left * withinRight[left]) / (right - 1)) /
        (left + right);
      if (q > bestQ) {
        bestQ = q;
        best = { index: left, until: last + 1, q };
      }
    }
  }
  return best;
};
