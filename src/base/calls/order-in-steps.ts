// Sorts without holding the event loop: in steps, between which a caller can pause. For lists that may be too long to be sorted at once.

/** Sorted at once, and merged between two steps. */
const STEP = 512;

/** Merge two runs of `order` that follow one another into `to`. */
const merge = function* (
  keys: ArrayLike<number>,
  order: Int32Array,
  to: Int32Array,
  [from, middle, end]: readonly [number, number, number],
): Generator<undefined> {
  let [left, right] = [from, middle];
  for (let at = from; at < end; at++) {
    const isLeft = right >= end || (left < middle && keys[order[left]] <= keys[order[right]]);
    to[at] = isLeft ? order[left++] : order[right++];
    if (at % STEP === 0) yield;
  }
};

/** The places of `keys` from the least key to the greatest; equal ones as they stand. */
export const orderInSteps = function* (keys: ArrayLike<number>): Generator<undefined, Int32Array> {
  const { length } = keys;
  let order = new Int32Array(length);
  for (let from = 0; from < length; from += STEP) {
    const end = Math.min(from + STEP, length);
    for (let at = from; at < end; at++) order[at] = at;
    order.subarray(from, end).sort((a, b) => keys[a] - keys[b] || a - b);
    yield;
  }
  let to = new Int32Array(length > STEP ? length : 0);
  for (let width = STEP; width < length; width *= 2) {
    for (let from = 0; from < length; from += width * 2)
      yield* merge(keys, order, to, [from, Math.min(from + width, length), Math.min(from + width * 2, length)]);
    [order, to] = [to, order];
  }
  return order;
};
