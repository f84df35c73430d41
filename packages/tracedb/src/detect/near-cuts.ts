// Where a history steps within a few values: two windows of one length slide over it side by side, and their ranks are compared at every place. It
// must never depend on anything outside of the windows: old noise hides no later step, and a change back hides none.

/** Values on each side of a place, short ones first. */
export const SIDES = [12, 24, 30, 48, 96, 192];

/** Deviations that ranks must be apart for a place to be looked at; what is reported needs more. */
const WORTH_A_LOOK = 3.5;

/** A place, and the values on each side of it that tell it. */
export interface NearCut {
  readonly cut: number;
  readonly side: number;
}

/** Places that are looked at. */
export const nearPlaces = (size: number): number =>
  SIDES.reduce((sum, side) => sum + Math.max(0, size - 2 * side + 1), 0);

/** Pairs of a value and those of `[from, until)` that are larger, less those that are smaller. */
const above = (values: Float64Array, value: number, from: number, until: number): number => {
  let count = 0;
  for (let i = from; i < until; i++) {
    if (values[i] > value) count++;
    else if (values[i] < value) count--;
  }
  return count;
};

/** For each place with `side` values on either side: pairs in which the later value is larger, less those in which it is smaller. */
const apartAt = (values: Float64Array, side: number): Int32Array => {
  const apart = new Int32Array(values.length + 1);
  let pairs = 0;
  for (let i = 0; i < side; i++) pairs += above(values, values[i], side, 2 * side);
  apart[side] = pairs;
  for (let at = side; at + side < values.length; at++) {
    // The oldest leaves, the one at the place changes sides, and one comes in.
    pairs -= above(values, values[at - side], at, at + side);
    pairs += above(values, values[at], at - side + 1, at) + above(values, values[at], at + 1, at + side);
    pairs -= above(values, values[at + side], at - side + 1, at + 1);
    apart[at + 1] = pairs;
  }
  return apart;
};

/**
 * The places at which `side` values before and after differ more than at any place nearby, for all lengths of sides. Two places that differ
 * by as much are both given: which is better is for whoever judges them. Takes time in the length times 400.
 */
export function* nearCuts(values: Float64Array): Generator<readonly NearCut[]> {
  for (const side of SIDES) {
    if (2 * side > values.length) return;
    const apart = apartAt(values, side);
    const min = WORTH_A_LOOK * Math.sqrt((side * side * (2 * side + 1)) / 3);
    const reach = side >> 1;
    const found: NearCut[] = [];
    for (let cut = side; cut + side <= values.length; cut++) {
      const size = Math.abs(apart[cut]);
      if (size < min) continue;
      // Where the windows cannot slide any farther, more may lie beyond.
      const isEdge = cut === side || cut + side === values.length;
      if (isEdge && size < side * side) continue;
      let isTop = true;
      const until = Math.min(values.length - side, cut + reach);
      for (let at = Math.max(side, cut - reach); at <= until && isTop; at++) isTop = Math.abs(apart[at]) <= size;
      if (isTop) found.push({ cut, side });
    }
    yield found;
  }
}
