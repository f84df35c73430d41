// A column of whole numbers in the form that takes fewer bytes: differences, for numbers that follow their order nearly, or a fixed
// number of bits each, for a random permutation.
import type { ByteReader, ByteWriter } from '../varint.js';

const DELTAS = 0;
const PACKED = 1;
/** Bits of one packed number. */
const MAX_BITS = 48;

const zigzagBytes = (delta: number): number => {
  let value = delta >= 0 ? delta * 2 : -delta * 2 - 1;
  let bytes = 1;
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes++;
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
  // Fewer than 8 bits wait, and at most 48 join them: all below 2^56 would not be exact, so bytes leave as soon as they are full.
  let pending = 0;
  let pendingBits = 0;
  for (let i = start; i < end; i++) {
    let value = values[i] - lowest;
    for (let left = bits; left > 0; ) {
      const taken = Math.min(8 - pendingBits, left);
      const scale = 2 ** taken;
      pending |= (value % scale) << pendingBits;
      value = Math.floor(value / scale);
      pendingBits += taken;
      left -= taken;
      if (pendingBits === 8) {
        writer.byte(pending);
        pending = 0;
        pendingBits = 0;
      }
    }
  }
  if (pendingBits > 0) writer.byte(pending);
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
  if (bits > MAX_BITS) throw reader.corrupt(`has numbers of ${bits} bits`);
  const bytes = reader.raw(Math.ceil((count * bits) / 8));
  let at = 0;
  let bit = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    let scale = 1;
    for (let left = bits; left > 0; ) {
      const taken = Math.min(8 - bit, left);
      value += ((bytes[at] >> bit) & ((1 << taken) - 1)) * scale;
      scale *= 2 ** taken;
      bit += taken;
      left -= taken;
      if (bit === 8) {
        bit = 0;
        at++;
      }
    }
    into[i] = lowest + value;
  }
};

/** Read `count` numbers into the start of `into`. The caller has capped `count`. */
export const readIntColumn = (reader: ByteReader, into: Float64Array | Uint32Array, count: number): void => {
  const form = reader.byte();
  if (form === DELTAS) readDeltas(reader, into, count);
  else if (form === PACKED) readPacked(reader, into, count);
  else throw reader.corrupt(`has a column of unknown form ${form}`);
};
