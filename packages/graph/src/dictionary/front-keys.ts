// Keys of any length: names. Each is what it shares with the one before and the rest. Names often end in random hexadecimal digits;
// those are packed two a byte and kept apart, where they do not spoil the codes of the letters. There are no restarts: a block is
// inflated as a whole anyhow, and building its keys once makes every search after it a plain one.
import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { entropyBytes } from '../container/codec.js';
import { compareStretch, type KeyBlock, type KeysToEncode, MAX_KEY_BYTES } from './key-bytes.js';

/** Packed digits of a key at least, in bytes: fewer are not worth it. */
const MIN_PACKED_BYTES = 4;
/** Packed digits take no fewer bytes than this share of theirs when they are random. */
const RANDOM_SHARE = 0.9;

const ZERO = 0x30;
const NINE = 0x39;
const A = 0x61;
const F = 0x66;

const isDigit = (byte: number): boolean => (byte >= ZERO && byte <= NINE) || (byte >= A && byte <= F);
const digitOf = (byte: number): number => (byte <= NINE ? byte - ZERO : byte - A + 10);
/** The two letters of each packed byte. */
const LETTERS = Buffer.from(
  Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''),
  'latin1',
);

/** Pairs of lower-case hexadecimal digits with which every key ends. */
const commonPairs = ({ bytes, offsets, count }: KeysToEncode): number => {
  let pairs = MAX_KEY_BYTES;
  for (let i = 0; i < count && pairs >= MIN_PACKED_BYTES; i++) {
    const end = offsets[i + 1];
    let at = end;
    for (const min = Math.max(offsets[i], end - 2 * pairs); at > min && isDigit(bytes[at - 1]); ) at--;
    pairs = (end - at) >> 1;
  }
  return pairs >= MIN_PACKED_BYTES ? pairs : 0;
};

const packed = ({ bytes, offsets, count }: KeysToEncode, pairs: number): Uint8Array => {
  const ends = new Uint8Array(count * pairs);
  let place = 0;
  for (let i = 0; i < count; i++) {
    const end = offsets[i + 1];
    for (let at = end - 2 * pairs; at < end; at += 2) ends[place++] = digitOf(bytes[at]) * 16 + digitOf(bytes[at + 1]);
  }
  return ends;
};

/** Append any keys. Lengths come before all letters: each compresses best among its own kind. Packed digits go to `tails`. */
export const encodeFrontKeys = (writer: ByteWriter, tails: ByteWriter, keys: KeysToEncode): void => {
  const { bytes, offsets, count } = keys;
  let pairs = commonPairs(keys);
  if (pairs > 0) {
    const digits = packed(keys, pairs);
    // Digits that follow a pattern are better off among the letters.
    if (entropyBytes(digits) < digits.length * RANDOM_SHARE) pairs = 0;
    else tails.raw(digits);
  }
  writer.varint(pairs);
  const shared = new Uint32Array(count);
  for (let i = 1; i < count; i++) {
    const [previous, start] = [offsets[i - 1], offsets[i]];
    const max = Math.min(start - previous, offsets[i + 1] - start) - 2 * pairs;
    let length = 0;
    while (length < max && bytes[previous + length] === bytes[start + length]) length++;
    shared[i] = length;
    writer.varint(length);
  }
  // Whole lengths, not those of the rests: names of one kind are equally long.
  for (let i = 0; i < count; i++) writer.varint(offsets[i + 1] - offsets[i] - 2 * pairs);
  for (let i = 0; i < count; i++) writer.raw(bytes.subarray(offsets[i] + shared[i], offsets[i + 1] - 2 * pairs));
};

export const decodeFrontKeys = (reader: ByteReader, tails: ByteReader, count: number): KeyBlock => {
  const pairs = reader.varint();
  if (pairs > MAX_KEY_BYTES / 2) throw reader.corrupt(`has keys with ${pairs} pairs of digits`);
  const digits = tails.raw(count * pairs);
  const shared = new Uint16Array(count);
  for (let i = 1; i < count; i++) {
    const length = reader.varint();
    if (length > MAX_KEY_BYTES) throw reader.corrupt('shares more than a key has');
    shared[i] = length;
  }
  const offsets = new Uint32Array(count + 1);
  let last = 0;
  let restBytes = 0;
  for (let i = 0; i < count; i++) {
    const length = reader.varint();
    const keyLength = length + 2 * pairs;
    if (shared[i] > Math.min(last, length) || keyLength === 0 || keyLength > MAX_KEY_BYTES)
      throw reader.corrupt('has an impossible key');
    offsets[i + 1] = offsets[i] + keyLength;
    restBytes += length - shared[i];
    last = length;
  }
  const rests = reader.raw(restBytes);
  const bytes = Buffer.allocUnsafeSlow(offsets[count]);
  let place = 0;
  let rest = 0;
  let digit = 0;
  for (let i = 0; i < count; i++) {
    const previous = i === 0 ? 0 : offsets[i - 1];
    for (let from = previous, end = previous + shared[i]; from < end; ) bytes[place++] = bytes[from++];
    for (const end = offsets[i + 1] - 2 * pairs; place < end; ) bytes[place++] = rests[rest++];
    for (const end = digit + pairs; digit < end; digit++) {
      const letters = digits[digit] * 2;
      bytes[place++] = LETTERS[letters];
      bytes[place++] = LETTERS[letters + 1];
    }
  }
  return new WholeKeys(bytes, offsets);
};

/** Keys one behind the other. */
class WholeKeys implements KeyBlock {
  readonly count: number;
  readonly totalBytes: number;
  readonly memoryBytes: number;
  readonly #bytes: Buffer;
  readonly #offsets: Uint32Array;

  constructor(bytes: Buffer, offsets: Uint32Array) {
    this.#bytes = bytes;
    this.#offsets = offsets;
    this.count = offsets.length - 1;
    this.totalBytes = bytes.length;
    this.memoryBytes = 256 + bytes.length + offsets.length * 4;
  }

  search(key: Uint8Array): number {
    const bytes = this.#bytes;
    const offsets = this.#offsets;
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const difference = compareStretch(bytes, offsets[middle], offsets[middle + 1], key);
      if (difference === 0) return middle;
      if (difference < 0) low = middle + 1;
      else high = middle;
    }
    return ~low;
  }

  key(i: number): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#offsets[i], this.#offsets[i + 1]));
  }

  copyAll(into: Uint8Array, at: number, ends: Uint32Array, firstEnd: number): void {
    into.set(this.#bytes, at);
    for (let i = 0; i < this.count; i++) ends[firstEnd + i] = at + this.#offsets[i + 1];
  }
}
