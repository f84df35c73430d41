// Keys of one length. Hashes are one ascending run of fixed strings. Where the first bytes name a group, as in trace and span ids, the first
// element is kept once a group; second elements ascend within their group.

import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { type FixedColumn, readFixedColumn, writeFixedColumn } from './fixed-column.js';
import { type KeyBlock, type KeysToEncode, MAX_KEY_BYTES } from './key-bytes.js';

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
export const groupStarts = ({ bytes, offsets, count, groupBytes }: KeysToEncode): number[] => {
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
    let [low, high] = [0, this.#starts.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle] <= i) low = middle;
      else high = middle;
    }
    this.#seconds.copy(i, key, this.#firsts.copy(low, key, 0));
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
