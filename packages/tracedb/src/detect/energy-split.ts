// Where a stretch of a series divides best, by the energy statistic of E-divisive. It must never judge whether that split means anything.

/** Two neighbouring parts that differ much: `[0, index)` and `[index, until)`. */
export interface EnergySplit {
  readonly index: number;
  /** End of the right part: before the end when a later change would dilute it. */
  readonly until: number;
  /** The statistic Q: larger means that the two parts differ more. */
  readonly q: number;
}

/** Longest stretches of which every pair of parts is tried, since that takes time in the square of the length. */
const MAX_PAIRS = 512;

/** Values on each side of a place found among means of blocks in which the best place is looked for. */
const CLOSER_LOOK = 64;

const search = (values: Float64Array, minSize: number, earliestEnd: number): EnergySplit | null => {
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
    if (last + 1 < earliestEnd) continue;
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

const blockMeans = (values: Float64Array, block: number): Float64Array => {
  const means = new Float64Array(Math.floor(values.length / block));
  for (let i = 0; i < means.length; i++) {
    let sum = 0;
    for (let j = i * block; j < (i + 1) * block; j++) sum += values[j];
    means[i] = sum / block;
  }
  return means;
};

const searchBlocks = (values: Float64Array, minSize: number): EnergySplit | null => {
  const block = Math.ceil(values.length / MAX_PAIRS);
  const means = blockMeans(values, block);
  const coarse = search(means, Math.max(2, Math.ceil(minSize / block)), 0);
  if (coarse === null) return null;
  const until = coarse.until === means.length ? values.length : coarse.until * block;
  const middle = coarse.index * block;
  const from = Math.max(0, middle - CLOSER_LOOK - block);
  const to = Math.min(until, middle + CLOSER_LOOK + block);
  const near = search(values.slice(from, to), minSize, to - from);
  return { index: near === null ? middle : from + near.index, until, q: coarse.q };
};

/**
 * The pair of neighbouring parts from the start of `values`, each of at least `minSize` values (2 or more), with the largest statistic
 * Q = mn/(m+n) * (2 E|X-Y| - E|X-X'| - E|Y-Y'|); `null` when there are too few or all its values are equal. Beyond 512 values the pair is
 * chosen by means of blocks, and only the place of the cut by the values. Takes memory in the length, and time in the square of it up to
 * 512 values, in the length beyond. Source: D. S. Matteson and N. A. James, JASA 109 (2014), section 2.2, alpha = 1.
 */
export const energySplit = (values: Float64Array, minSize: number): EnergySplit | null =>
  values.length > MAX_PAIRS ? searchBlocks(values, minSize) : search(values, minSize, 0);
