// The columns of a block of nodes as bytes. References know ordinals only, never keys: that is what makes a walk cheap. Most nodes refer to the
// neighbour that the order put there, which is a bit of the number that says how many references a node has; the others are distances, from the node
// or from the reference before, whichever is shorter in this block. Whole numbers take the form of fewer bytes: differences, where they follow their
// order nearly, or a fixed number of bits each, for a random permutation.

import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { BitReader, BitWriter } from '../container/bits.js';
import { entropyBytes } from '../container/codec.js';

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

/** References of one list as compressed rows over ordinals. */
export interface ReferenceRows {
  /** One more than there are nodes. */
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
}

/** References a single node may have in all its lists; a file that claims more is damaged. */
export const MAX_DEGREE = 2 ** 24;

/** Bits of a list's form: the neighbour is the node before, not the one behind; distances are from the reference before. */
const NEIGHBOUR_BEFORE = 1;
const FROM_LAST = 2;

/** Distances in either way, kept from block to block. */
const fromNode = new ByteWriter();
const fromLast = new ByteWriter();

/** Append the references of nodes `start` to `end`, whose ordinals these are. */
export const writeReferenceBlock = (
  writer: ByteWriter,
  lists: readonly ReferenceRows[],
  start: number,
  end: number,
): void => {
  for (const rows of lists) writeList(writer, rows, start, end);
};

const writeList = (writer: ByteWriter, { offsets, targets }: ReferenceRows, start: number, end: number): void => {
  let behind = 0;
  for (let node = start; node < end; node++) {
    if (offsets[node] === offsets[node + 1]) continue;
    const distance = targets[offsets[node]] - node;
    if (distance === 1) behind++;
    else if (distance === -1) behind--;
  }
  const neighbour = behind < 0 ? -1 : 1;
  fromNode.clear();
  fromLast.clear();
  let last = start;
  const hasNeighbour = (node: number): boolean =>
    offsets[node] < offsets[node + 1] && targets[offsets[node]] === node + neighbour;
  for (let node = start; node < end; node++) {
    for (let i = offsets[node] + (hasNeighbour(node) ? 1 : 0); i < offsets[node + 1]; i++) {
      fromNode.zigzag(targets[i] - node);
      fromLast.zigzag(targets[i] - last);
      last = targets[i];
    }
  }
  const isFromLast = entropyBytes(fromLast.view()) < entropyBytes(fromNode.view());
  writer.byte((neighbour < 0 ? NEIGHBOUR_BEFORE : 0) + (isFromLast ? FROM_LAST : 0));
  for (let node = start; node < end; node++)
    writer.varint((offsets[node + 1] - offsets[node]) * 2 + (hasNeighbour(node) ? 1 : 0));
  writer.raw((isFromLast ? fromLast : fromNode).view());
};

/** The references of a block; `first` is the ordinal of its first node, targets are below `ordinals`. */
export const readReferenceBlock = (
  reader: ByteReader,
  lists: number,
  first: number,
  count: number,
  ordinals: number,
): ReferenceRows[] => {
  const rows = Array.from({ length: lists }, () => readList(reader, first, count, ordinals));
  reader.end();
  return rows;
};

const readList = (reader: ByteReader, first: number, count: number, ordinals: number): ReferenceRows => {
  const form = reader.byte();
  if (form > NEIGHBOUR_BEFORE + FROM_LAST) throw reader.corrupt(`has references of unknown form ${form}`);
  const neighbour = (form & NEIGHBOUR_BEFORE) === 0 ? 1 : -1;
  const isFromLast = (form & FROM_LAST) !== 0;
  const offsets = new Uint32Array(count + 1);
  const hasNeighbour = new Uint8Array(count);
  let total = 0;
  let neighbours = 0;
  for (let i = 0; i < count; i++) {
    const head = reader.varint();
    const degree = Math.floor(head / 2);
    if (degree > MAX_DEGREE || head === 1) throw reader.corrupt('has an impossible number of references');
    total += degree;
    neighbours += head & 1;
    hasNeighbour[i] = head & 1;
    offsets[i + 1] = total;
  }
  // Every distance takes a byte at least, so a lie is found before memory is taken.
  if (total - neighbours > reader.left) throw reader.corrupt('is too short for its references');
  const targets = new Uint32Array(total);
  let last = first;
  for (let i = 0; i < count; i++) {
    const node = first + i;
    for (let edge = offsets[i]; edge < offsets[i + 1]; edge++) {
      const isNeighbour = hasNeighbour[i] === 1 && edge === offsets[i];
      const target = isNeighbour ? node + neighbour : (isFromLast ? last : node) + reader.zigzag();
      if (target < 0 || target >= ordinals) throw reader.corrupt('refers to a node that does not exist');
      targets[edge] = target;
      if (!isNeighbour) last = target;
    }
  }
  return { offsets, targets };
};
