// Keys of one length. Hashes are one ascending run of fixed strings. Where the first bytes name a group, as in trace and span ids, the first element
// is kept once a group; second elements ascend within their group. What all strings of a column begin with is kept once, the next four bytes as
// differences in a Rice code, the rest as it is; n sorted random strings so take log2(n!) bits less than they have, but for a few hundredths of a
// byte each. Search works on the decoded four bytes and never builds a string.

import { type ByteReader, type ByteWriter, firstIndex } from 'spanline/internal/base';
import { BitReader, BitWriter } from '../container/bits.js';
import { type KeyBlock, type KeysToEncode, MAX_KEY_BYTES } from './key-bytes.js';

const HEAD_BYTES = 4;
const MAX_RICE_BITS = 31;

/** Strings to write: string `i` is `width` of `bytes` from `positions[i]`. */
interface FixedStrings {
  readonly bytes: Uint8Array;
  readonly positions: ArrayLike<number>;
  readonly count: number;
  readonly width: number;
}

/** Whether string `i` begins an ascending run. */
type IsStart = (i: number) => boolean;

const commonPrefix = ({ bytes, positions, count, width }: FixedStrings): number => {
  let shared = width;
  for (let i = 1; i < count && shared > 0; i++) {
    let at = 0;
    while (at < shared && bytes[positions[i] + at] === bytes[positions[0] + at]) at++;
    shared = at;
  }
  return shared;
};

const riceCost = (gaps: Uint32Array, count: number, bits: number): number => {
  let cost = count * (bits + 1);
  for (let i = 0; i < count; i++) cost += gaps[i] >>> bits;
  return cost;
};

/** The number of low bits that makes the code shortest; cost has one minimum, near the logarithm of the mean. */
const bestRiceBits = (gaps: Uint32Array, count: number): number => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += gaps[i];
  let bits = Math.min(MAX_RICE_BITS, Math.max(0, Math.floor(Math.log2(sum / Math.max(1, count) + 1)) - 1));
  let cost = riceCost(gaps, count, bits);
  for (const step of [1, -1]) {
    for (let next = bits + step; next >= 0 && next <= MAX_RICE_BITS; next += step) {
      const nextCost = riceCost(gaps, count, next);
      if (nextCost >= cost) break;
      bits = next;
      cost = nextCost;
    }
  }
  return bits;
};

/** Append `strings`, of which at least one is. */
const writeFixedColumn = (writer: ByteWriter, strings: FixedStrings, isStart: IsStart): void => {
  const { bytes, positions, count, width } = strings;
  const shared = commonPrefix(strings);
  writer.varint(shared);
  writer.raw(bytes.subarray(positions[0], positions[0] + shared));
  const headBytes = Math.min(HEAD_BYTES, width - shared);
  const tailBytes = width - shared - headBytes;
  const heads = new Uint32Array(count);
  const gaps = new Uint32Array(count);
  const tails = new Uint8Array(count * tailBytes);
  let gapCount = 0;
  let tail = 0;
  for (let i = 0; i < count; i++) {
    let at = positions[i] + shared;
    let head = 0;
    for (let end = at + headBytes; at < end; at++) head = (head << 8) | bytes[at];
    heads[i] = head;
    if (!isStart(i)) gaps[gapCount++] = heads[i] - heads[i - 1];
    for (let end = at + tailBytes; at < end; at++) tails[tail++] = bytes[at];
  }
  const riceBits = bestRiceBits(gaps, gapCount);
  writer.byte(riceBits);
  const bits = new BitWriter(writer);
  const mask = 2 ** riceBits - 1;
  gapCount = 0;
  for (let i = 0; i < count; i++) {
    if (isStart(i)) {
      bits.put(heads[i], headBytes * 8);
      continue;
    }
    const gap = gaps[gapCount++];
    bits.unary(gap >>> riceBits);
    bits.put(gap & mask, riceBits);
  }
  bits.flush();
  writer.raw(tails);
};

/** Read `count` strings of `width` bytes; the caller has capped both. */
const readFixedColumn = (reader: ByteReader, count: number, width: number, isStart: IsStart): FixedColumn => {
  const shared = reader.varint();
  if (shared > width) throw reader.corrupt('has strings longer than they are');
  // Copies of their own, here and below: views would keep a whole batch of reads alive in the cache.
  const prefix = new Uint8Array(reader.raw(shared));
  const headBytes = Math.min(HEAD_BYTES, width - shared);
  const tailBytes = width - shared - headBytes;
  if (count * tailBytes > reader.left) throw reader.corrupt('is too short for its strings');
  const riceBits = reader.byte();
  if (riceBits > MAX_RICE_BITS) throw reader.corrupt(`has differences of ${riceBits} low bits`);
  const bits = new BitReader(reader);
  const max = 2 ** (headBytes * 8) - 1;
  const scale = 2 ** riceBits;
  const heads = new Uint32Array(count);
  let head = 0;
  for (let i = 0; i < count; i++) {
    if (isStart(i)) head = bits.take(headBytes * 8);
    else {
      head += bits.unary() * scale;
      head += bits.take(riceBits);
    }
    if (head > max) throw reader.corrupt('has a string out of range');
    heads[i] = head;
  }
  bits.end();
  return new FixedColumn(width, prefix, headBytes, heads, new Uint8Array(reader.raw(count * tailBytes)));
};

/** Decoded strings of one length. */
class FixedColumn {
  readonly #prefix: Uint8Array;
  readonly #headBytes: number;
  readonly #heads: Uint32Array;
  readonly #tails: Uint8Array;
  readonly #tailBytes: number;

  constructor(
    readonly width: number,
    prefix: Uint8Array,
    headBytes: number,
    heads: Uint32Array,
    tails: Uint8Array,
  ) {
    this.#prefix = prefix;
    this.#headBytes = headBytes;
    this.#heads = heads;
    this.#tails = tails;
    this.#tailBytes = width - prefix.length - headBytes;
  }

  get memoryBytes(): number {
    return this.#prefix.length + this.#heads.length * 4 + this.#tails.length;
  }

  /**
   * The place, between `low` and `high` of one ascending run, of the string that is `key` from `from` on (bytes of `key` beyond the
   * width do not count); where there is none, the complement (`~`) of the place it would take.
   */
  search(key: Uint8Array, from: number, low: number, high: number): number {
    const prefix = this.#prefix;
    const heads = this.#heads;
    let at = from;
    for (let i = 0; i < prefix.length; i++, at++) {
      // A key that ends here stands before all strings.
      const difference = at < key.length ? key[at] - prefix[i] : -1;
      if (difference !== 0) return ~(difference < 0 ? low : high);
    }
    const isShort = at + this.#headBytes > key.length;
    let head = 0;
    for (let end = at + this.#headBytes; at < end; at++) head = (head << 8) | (at < key.length ? key[at] : 0);
    head >>>= 0;
    let [first, last] = [low, high];
    while (first < last) {
      const middle = (first + last) >>> 1;
      let difference = heads[middle] - head;
      if (difference === 0) difference = isShort ? 1 : this.#compareTail(middle, key, at);
      if (difference === 0) return middle;
      if (difference < 0) first = middle + 1;
      else last = middle;
    }
    return ~first;
  }

  /** Copy string `i` to `at`; the place behind it. */
  copy(i: number, into: Uint8Array, at: number): number {
    const prefix = this.#prefix;
    const headBytes = this.#headBytes;
    const tailBytes = this.#tailBytes;
    const tails = this.#tails;
    let place = at;
    for (let j = 0; j < prefix.length; j++) into[place++] = prefix[j];
    const head = this.#heads[i];
    for (let shift = headBytes * 8 - 8; shift >= 0; shift -= 8) into[place++] = head >>> shift;
    for (let j = i * tailBytes, end = j + tailBytes; j < end; j++) into[place++] = tails[j];
    return place;
  }

  #compareTail(i: number, key: Uint8Array, from: number): number {
    const start = i * this.#tailBytes;
    for (let j = 0; j < this.#tailBytes; j++) {
      if (from + j >= key.length) return 1;
      const difference = this.#tails[start + j] - key[from + j];
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

const isFirst = (i: number): boolean => i === 0;

/** Append keys that are all `width` long. */
export const encodeFixedKeys = (writer: ByteWriter, { bytes, offsets, count, width }: KeysToEncode): void => {
  writer.varint(width);
  writeFixedColumn(writer, { bytes, positions: offsets, count, width }, isFirst);
};

export const decodeFixedKeys = (reader: ByteReader, count: number): KeyBlock => {
  const width = reader.varint();
  if (width === 0 || width > MAX_KEY_BYTES) throw reader.corrupt(`has keys of ${width} bytes`);
  return new FixedKeys(count, readFixedColumn(reader, count, width, isFirst));
};

class FixedKeys implements KeyBlock {
  readonly memoryBytes: number;
  readonly totalBytes: number;
  readonly #column: FixedColumn;

  constructor(
    readonly count: number,
    column: FixedColumn,
  ) {
    this.#column = column;
    this.memoryBytes = 256 + column.memoryBytes;
    this.totalBytes = count * column.width;
  }

  search(key: Uint8Array): number {
    const place = this.#column.search(key, 0, 0, this.count);
    // A longer key that begins with this one stands behind it.
    return place >= 0 && key.length > this.#column.width ? ~(place + 1) : place;
  }

  key(i: number): Buffer {
    const key = Buffer.allocUnsafe(this.#column.width);
    this.#column.copy(i, key, 0);
    return key;
  }

  copyAll(into: Uint8Array, at: number, ends: Uint32Array, firstEnd: number): void {
    let place = at;
    for (let i = 0; i < this.count; i++) {
      place = this.#column.copy(i, into, place);
      ends[firstEnd + i] = place;
    }
  }
}

const sameGroup = (bytes: Uint8Array, a: number, b: number, groupBytes: number): boolean => {
  for (let i = 0; i < groupBytes; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
};

/** The first key of each group. */
const groupStarts = ({ bytes, offsets, count, groupBytes }: KeysToEncode): number[] => {
  const starts: number[] = [];
  for (let i = 0; i < count; i++) {
    if (i === 0 || !sameGroup(bytes, offsets[i - 1], offsets[i], groupBytes)) starts.push(i);
  }
  return starts;
};

/** Append keys that are all `width` long, more than `groupBytes`. */
export const encodeGroupedKeys = (writer: ByteWriter, keys: KeysToEncode): void => {
  const { bytes, offsets, count, width, groupBytes } = keys;
  const starts = groupStarts(keys);
  writer.varint(width);
  writer.varint(groupBytes);
  writer.varint(starts.length);
  const isStart = new Uint8Array(count);
  for (let group = 0; group < starts.length; group++) {
    writer.varint((starts[group + 1] ?? count) - starts[group]);
    isStart[starts[group]] = 1;
  }
  const firsts = starts.map((start) => offsets[start]);
  writeFixedColumn(writer, { bytes, positions: firsts, count: starts.length, width: groupBytes }, isFirst);
  const seconds = offsets.map((offset) => offset + groupBytes);
  writeFixedColumn(writer, { bytes, positions: seconds, count, width: width - groupBytes }, (i) => isStart[i] === 1);
};

export const decodeGroupedKeys = (reader: ByteReader, count: number): KeyBlock => {
  const width = reader.varint();
  const groupBytes = reader.varint();
  const groups = reader.varint();
  if (width > MAX_KEY_BYTES || groupBytes === 0 || groupBytes >= width) {
    throw reader.corrupt(`has keys of ${width} bytes in groups of ${groupBytes}`);
  }
  if (groups > count || groups === 0) throw reader.corrupt('has more groups than keys');
  const starts = new Uint16Array(groups + 1);
  const isStart = new Uint8Array(count + 1);
  let start = 0;
  for (let group = 0; group < groups; group++) {
    const size = reader.varint();
    if (size === 0 || size > count - start) throw reader.corrupt('has a group larger than its block');
    isStart[start] = 1;
    start += size;
    starts[group + 1] = start;
  }
  if (start !== count) throw reader.corrupt('has keys without a group');
  const firsts = readFixedColumn(reader, groups, groupBytes, isFirst);
  const seconds = readFixedColumn(reader, count, width - groupBytes, (i) => isStart[i] === 1);
  return new GroupedKeys(count, starts, firsts, seconds);
};

class GroupedKeys implements KeyBlock {
  readonly memoryBytes: number;
  readonly totalBytes: number;
  readonly groupBytes: number;
  readonly #starts: Uint16Array;
  readonly #firsts: FixedColumn;
  readonly #seconds: FixedColumn;
  readonly #width: number;

  constructor(
    readonly count: number,
    starts: Uint16Array,
    firsts: FixedColumn,
    seconds: FixedColumn,
  ) {
    this.#starts = starts;
    this.#firsts = firsts;
    this.#seconds = seconds;
    this.memoryBytes = 384 + starts.length * 2 + firsts.memoryBytes + seconds.memoryBytes;
    this.groupBytes = firsts.width;
    this.#width = firsts.width + seconds.width;
    this.totalBytes = count * this.#width;
  }

  search(key: Uint8Array): number {
    const starts = this.#starts;
    const group = this.#firsts.search(key, 0, 0, starts.length - 1);
    if (group < 0) return ~starts[~group];
    const place = this.#seconds.search(key, this.#firsts.width, starts[group], starts[group + 1]);
    return place >= 0 && key.length > this.#width ? ~(place + 1) : place;
  }

  key(i: number): Buffer {
    const key = Buffer.allocUnsafe(this.#width);
    const starts = this.#starts;
    const group = firstIndex(1, starts.length - 1, (one) => starts[one] > i) - 1;
    this.#seconds.copy(i, key, this.#firsts.copy(group, key, 0));
    return key;
  }

  copyAll(into: Uint8Array, at: number, ends: Uint32Array, firstEnd: number): void {
    let place = at;
    for (let i = 0, group = 0; i < this.count; i++) {
      if (i === this.#starts[group + 1]) group++;
      place = this.#seconds.copy(i, into, this.#firsts.copy(group, into, place));
      ends[firstEnd + i] = place;
    }
  }
}
