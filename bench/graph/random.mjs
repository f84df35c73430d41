// Numbers by a seed, so that every subject and every run has the same data.

/** Numbers from 0 to 1 (mulberry32). */
export const seededRandom = (seed) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** `length` random bytes, at most 2^32 at a time. */
export const randomBytes = (random, length) => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = Math.floor(random() * 256);
  return bytes;
};

/** `count` of `items`, any of them more than once. */
export const sample = (items, count, seed) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => items[Math.floor(random() * items.length)]);
};
