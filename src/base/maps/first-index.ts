// The search by halves in what is in order. Only loops so hot that a call for each step would show are written out where they are.

/** The first index from `start` on at which `isReached` is so, and at all behind it; `end` where there is none. */
export const firstIndex = (start: number, end: number, isReached: (i: number) => boolean): number => {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};
