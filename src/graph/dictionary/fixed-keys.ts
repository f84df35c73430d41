// Keys of one length: hashes. One ascending run of fixed strings.
import type { ByteReader } from '../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { type FixedColumn, readFixedColumn, writeFixedColumn } from './fixed-column.js';
import { MAX_KEY_BYTES } from './key-bytes.js';
import type { KeyBlock, KeysToEncode } from './key-codec.js';

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

  constructor(
    readonly count: number,
    private readonly column: FixedColumn,
  ) {
    this.memoryBytes = 256 + column.memoryBytes;
    this.totalBytes = count * column.width;
  }

  search(key: Uint8Array): number {
    const place = this.column.search(key, 0, 0, this.count);
    // A longer key that begins with this one stands behind it.
    return place >= 0 && key.length > this.column.width ? ~(place + 1) : place;
  }

  key(i: number): Buffer {
    const key = Buffer.allocUnsafe(this.column.width);
    this.column.copy(i, key, 0);
    return key;
  }

  copyAll(into: Uint8Array, at: number, ends: Uint32Array, firstEnd: number): void {
    let place = at;
    for (let i = 0; i < this.count; i++) {
      place = this.column.copy(i, into, place);
      ends[firstEnd + i] = place;
    }
  }
}
