// A binary fuse filter: a set of hashes in about nine bits each, that answers "may be in it" or "is not". It must never say that a
// member is not there; it is wrong about one stranger in 256, or in 4,096 with prints of 12 bits in place of 8. Construction and sizes follow Graf and Lemire, "Binary Fuse Filters: Fast
// and Smaller Than Xor Filters" (2022). Hashes are 64 bits, as two 32-bit halves, since numbers hold no more exactly. They are kept in files,
// so they must never change. The finaliser is that of MurmurHash3 (Austin Appleby, public domain).

/** Where hashes leave their halves: high, low. */
type Hash64 = Uint32Array;

/** Spread every bit of `value` over all. */
const mix32 = (value: number): number => {
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

const ARITY = 3;
const MAX_TRIES = 24;
const MAX_SEGMENT_BITS = 16;

/** The sizes of a filter: segments of a power of two of one-byte slots. */
export interface FuseShape {
  readonly seed: number;
  readonly segmentBits: number;
  /** Segments in which a hash may have its first slot; two more follow. */
  readonly segments: number;
}

/** Slots of a filter of this shape. */
export const slotsOf = ({ segmentBits, segments }: FuseShape): number => (segments + ARITY - 1) * 2 ** segmentBits;

const shapeFor = (count: number): Omit<FuseShape, 'seed'> => {
  const size = Math.max(2, count);
  const segmentBits = Math.min(MAX_SEGMENT_BITS, Math.max(2, Math.floor(Math.log(size) / Math.log(3.33) + 2.25)));
  const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1_000_000)) / Math.log(size));
  const segments = Math.ceil(Math.round(size * factor) / 2 ** segmentBits) - (ARITY - 1);
  return { segmentBits, segments: Math.max(1, segments) };
};

/** What the slots have: a number of 8 or 12 bits each. */
export type FusePrints = Uint8Array | Uint16Array;

const BYTE_PRINTS = 8;

/** Where a hash has its three slots, and the number that they must give together. */
class Slots {
  first = 0;
  second = 0;
  third = 0;
  print = 0;
  readonly #shape: FuseShape;
  readonly #mask: number;
  readonly #firsts: number;
  readonly #shift: number;

  constructor(shape: FuseShape, printBits: number) {
    this.#shape = shape;
    this.#shift = 32 - printBits;
    this.#mask = 2 ** shape.segmentBits - 1;
    this.#firsts = shape.segments * 2 ** shape.segmentBits;
  }

  set(high: number, low: number): void {
    const { seed, segmentBits } = this.#shape;
    const a = mix32(high + seed);
    const b = mix32(low ^ a);
    const c = mix32(high ^ b);
    const segment = 2 ** segmentBits;
    // 26 bits of the hash times 26 bits of slots: exact.
    this.first = Math.floor(((a >>> 6) * this.#firsts) / 2 ** 26);
    this.second = (this.first + segment) ^ (b & this.#mask);
    this.third = (this.first + 2 * segment) ^ (c & this.#mask);
    // Its highest bits: the lowest chose the third slot.
    this.print = c >>> this.#shift;
  }
}

/** Whether the hash may be in the filter of this shape that begins at `start` of `prints`. */
export const mayContain = (
  shape: FuseShape,
  prints: FusePrints,
  start: number,
  high: number,
  low: number,
  printBits = BYTE_PRINTS,
): boolean => {
  const slots = new Slots(shape, printBits);
  slots.set(high, low);
  return (prints[start + slots.first] ^ prints[start + slots.second] ^ prints[start + slots.third]) === slots.print;
};

/** A filter of hashes `start` to `end` of `hashes` (two numbers each), or undefined when two of them are equal. */
const tryBuild = <P extends FusePrints>(
  hashes: Hash64,
  start: number,
  end: number,
  shape: FuseShape,
  printBits: number,
  newPrints: (size: number) => P,
): P | undefined => {
  const count = end - start;
  const slots = new Slots(shape, printBits);
  const size = slotsOf(shape);
  const members = new Uint32Array(size);
  // All members of a slot, xored: once one is left it is that one.
  const which = new Uint32Array(size);
  for (let i = 0; i < count; i++) {
    slots.set(hashes[2 * (start + i)], hashes[2 * (start + i) + 1]);
    for (const slot of [slots.first, slots.second, slots.third]) {
      members[slot]++;
      which[slot] ^= i;
    }
  }
  // Take a hash that has a slot for itself, until none is left; then fill slots in the reverse order.
  const taken = new Uint32Array(count);
  const own = new Uint32Array(count);
  const alone = new Uint32Array(size);
  let aloneCount = 0;
  let takenCount = 0;
  for (let slot = 0; slot < size; slot++) if (members[slot] === 1) alone[aloneCount++] = slot;
  while (aloneCount > 0) {
    const slot = alone[--aloneCount];
    if (members[slot] !== 1) continue;
    const i = which[slot];
    taken[takenCount] = i;
    own[takenCount++] = slot;
    slots.set(hashes[2 * (start + i)], hashes[2 * (start + i) + 1]);
    for (const other of [slots.first, slots.second, slots.third]) {
      which[other] ^= i;
      if (--members[other] === 1) alone[aloneCount++] = other;
    }
  }
  if (takenCount < count) return undefined;
  const prints = newPrints(size);
  while (takenCount > 0) {
    const i = taken[--takenCount];
    slots.set(hashes[2 * (start + i)], hashes[2 * (start + i) + 1]);
    // The own slot is still zero, so it may take part.
    prints[own[takenCount]] = slots.print ^ prints[slots.first] ^ prints[slots.second] ^ prints[slots.third];
  }
  return prints;
};

/** What was built. */
export interface Fuse<P extends FusePrints = Uint8Array> {
  readonly shape: FuseShape;
  readonly prints: P;
}

const build = <P extends FusePrints>(
  hashes: Hash64,
  start: number,
  end: number,
  printBits: number,
  newPrints: (size: number) => P,
): Fuse<P> | undefined => {
  const sizes = shapeFor(end - start);
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const shape = { ...sizes, seed: mix32(attempt + 1) };
    const prints = tryBuild(hashes, start, end, shape, printBits, newPrints);
    if (prints !== undefined) return { shape, prints };
  }
  return undefined;
};

/** A filter of the hashes `start` to `end`; undefined when none was found, as when two hashes are equal. The same hashes give the same. */
export const buildFuse = (hashes: Hash64, start: number, end: number): Fuse | undefined =>
  build(hashes, start, end, BYTE_PRINTS, (size) => new Uint8Array(size));

/** The same of all hashes, with prints of so many bits, 16 at most. */
export const buildWideFuse = (hashes: Hash64, printBits: number): Fuse<Uint16Array> | undefined =>
  build(hashes, 0, hashes.length / 2, printBits, (size) => new Uint16Array(size));
