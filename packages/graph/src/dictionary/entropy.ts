// What bytes will take once they are compressed, without compressing them: choices are made by it, so it must be cheap and always the
// same, and may be wrong by a little.

/** What Huffman codes take besides the bits of the symbols. */
const CODE_TABLE_BYTES = 24;

/** Bytes whose symbols are that even will not shrink, whatever is tried. */
export const RANDOM_SHARE = 0.96;

/** `n` log2 `n`, for the counts that blocks have. */
const weights = Float64Array.from({ length: 4096 }, (_, n) => (n === 0 ? 0 : n * Math.log2(n)));

const weight = (n: number): number => (n < weights.length ? weights[n] : n * Math.log2(n));

const histogram = new Uint32Array(256);

/** Bytes that `bytes` take when each symbol costs what its share says; never more than they have. Repeated strings are not seen. */
export const entropyBytes = (bytes: Uint8Array): number => {
  histogram.fill(0);
  for (let i = 0; i < bytes.length; i++) histogram[bytes[i]]++;
  let bits = weight(bytes.length);
  for (let i = 0; i < 256; i++) bits -= weight(histogram[i]);
  return Math.min(bytes.length, bits / 8 + CODE_TABLE_BYTES);
};

/** Whether trying to compress `bytes`, in which nothing is expected to repeat, would be in vain: hashes, packed numbers. */
export const isRandom = (bytes: Uint8Array): boolean => entropyBytes(bytes) > bytes.length * RANDOM_SHARE;
