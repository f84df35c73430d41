// A column of whole numbers in the form that takes fewer bytes: differences, for numbers that follow their order nearly, or a fixed
// number of bits each, for a random permutation.

import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { BitReader, BitWriter } from '../container/bits.js';

const DELTAS = 0;
const PACKED = 1;
/** Bits of one packed number. */
const MAX_BITS = 48;

const zigzagBytes = (delta: number): number => {
  let value = delta >= 0 ? delta * 2 : -delta * 2 - 1;
  let bytes = 1;
  // Bits are faster than divisions, and nearly all differences fit them.
  for (; value > 0x7fffffff; value = Math.floor(value / 0x80)) bytes++;
  for (; value >= 0x80; value >>>= 7) bytes++;
  return bytes;
};

const bitsOf = (value: number): number => (value === 0 ? 0 : Math.floor(Math.log2(value)) + 1);

/** Append `values` (0 to 2^47) from `start` to `end`. */
export const writeIntColumn = (writer: ByteWriter, values: ArrayLike<number>, start: number, end: number): void => {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  let deltaBytes = 0;
  let last = 0;
  for (let i = start; i < end; i++) {
    const value = values[i];
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
    deltaBytes += zigzagBytes(value - last);
    last = value;
  }
  if (start === end) lowest = 0;
  const bits = bitsOf(highest - lowest);
  if (deltaBytes <= Math.ceil(((end - start) * bits) / 8) + 8) {
    writer.byte(DELTAS);
    last = 0;
    for (let i = start; i < end; i++) {
      writer.zigzag(values[i] - last);
      last = values[i];
    }
    return;
  }
  writer.byte(PACKED);
  writer.varint(lowest);
  writer.byte(bits);
  const packed = new BitWriter(writer);
  for (let i = start; i < end; i++) {
    const value = values[i] - lowest;
    if (bits <= 32) packed.put(value, bits);
    else {
      packed.put(value % 2 ** 32, 32);
      packed.put(Math.floor(value / 2 ** 32), bits - 32);
    }
  }
  packed.flush();
};

const readDeltas = (reader: ByteReader, into: Float64Array | Uint32Array, count: number): void => {
  let last = 0;
  for (let i = 0; i < count; i++) {
    last += reader.zigzag();
    if (last < 0 || last >= 2 ** 48) throw reader.corrupt('has a number out of range');
    into[i] = last;
  }
};

const readPacked = (reader: ByteReader, into: Float64Array | Uint32Array, count: number): void => {
  const lowest = reader.varint();
  const bits = reader.byte();
  if (lowest >= 2 ** MAX_BITS) throw reader.corrupt('has a number out of range');
  if (bits > MAX_BITS) throw reader.corrupt(`has numbers of ${bits} bits`);
  const packed = new BitReader(reader);
  const [low, high] = [Math.min(bits, 32), Math.max(bits - 32, 0)];
  for (let i = 0; i < count; i++) {
    const value = packed.take(low);
    into[i] = lowest + (high === 0 ? value : value + packed.take(high) * 2 ** 32);
  }
  packed.end();
};

/** Read `count` numbers into the start of `into`. The caller has capped `count`. */
export const readIntColumn = (reader: ByteReader, into: Float64Array | Uint32Array, count: number): void => {
  const form = reader.byte();
  if (form === DELTAS) readDeltas(reader, into, count);
  else if (form === PACKED) readPacked(reader, into, count);
  else throw reader.corrupt(`has a column of unknown form ${form}`);
};
