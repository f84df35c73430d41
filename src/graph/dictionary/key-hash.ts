// 64-bit hashes of keys for the filter, as two 32-bit halves, since numbers hold no more exactly. They are kept in files, so they must
// never change. The finaliser is that of MurmurHash3 (Austin Appleby, public domain).

/** Where hashes leave their halves: high, low. */
export type Hash64 = Uint32Array;

/** Spread every bit of `value` over all. */
export const mix32 = (value: number): number => {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

/** The hash of `bytes` from `start` to `end`, put into `into` from `at` on. */
export const hashBytes = (bytes: Uint8Array, start: number, end: number, into: Hash64, at: number): void => {
  let a = 0x9e3779b9 ^ (end - start);
  let b = 0x7f4a7c15 + (end - start);
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const word = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    a = Math.imul(a ^ word, 0xcc9e2d51);
    a = ((a << 15) | (a >>> 17)) + b;
    b = Math.imul(b + word, 0x1b873593);
    b = ((b << 13) | (b >>> 19)) ^ a;
  }
  for (; i < end; i++) {
    a = Math.imul(a ^ bytes[i], 0xcc9e2d51);
    b = (Math.imul(b + bytes[i], 0x1b873593) + (a >>> 11)) | 0;
  }
  const high = mix32(a ^ (b >>> 7));
  into[at] = high;
  into[at + 1] = mix32(b + high);
};
