// The numbers that the keys of a block have in each graph, a column for each graph. A column takes the form that is smaller once it is
// compressed: differences where numbers follow the keys nearly, a fixed number of bits for a random permutation. A key may be blank in
// a graph, and costs a bit there at most.

import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { BitReader, BitWriter } from '../container/bits.js';
import { entropyBytes } from '../container/codec.js';
import { sectionReader } from '../container/layout.js';

/** A blank in a decoded column: no ordinal is that large. */
export const BLANK = 0xffffffff;

const ALL_BLANK = 0;
const PACKED = 1;
const DELTAS = 2;
/** Added to a form: a bit for each key says whether it is there. */
const WITH_BLANKS = 4;

/** Appends columns; keeps its scratch from block to block. */
export class OrdinalEncoder {
  readonly #present: Uint32Array;
  readonly #deltas = new ByteWriter();

  constructor(blockKeys: number) {
    this.#present = new Uint32Array(blockKeys);
  }

  /** Append the column of one graph: `count` ordinals from `start`, `BLANK` among them. */
  write(writer: ByteWriter, ordinals: Uint32Array, start: number, count: number): void {
    const present = this.#present;
    const deltas = this.#deltas;
    let size = 0;
    let lowest = BLANK;
    let highest = 0;
    let last = 0;
    deltas.clear();
    for (let i = start; i < start + count; i++) {
      const ordinal = ordinals[i];
      if (ordinal === BLANK) continue;
      present[size++] = ordinal;
      if (ordinal < lowest) lowest = ordinal;
      if (ordinal > highest) highest = ordinal;
      deltas.zigzag(ordinal - last);
      last = ordinal;
    }
    if (size === 0) {
      writer.byte(ALL_BLANK);
      return;
    }
    const width = 32 - Math.clz32(highest - lowest);
    const isPacked = entropyBytes(deltas.view()) > (size * width) / 8 + 4;
    const blanks = size < count ? WITH_BLANKS : 0;
    writer.byte((isPacked ? PACKED : DELTAS) + blanks);
    const bits = new BitWriter(writer);
    if (blanks > 0) {
      for (let i = start; i < start + count; i++) bits.put(ordinals[i] === BLANK ? 0 : 1, 1);
      bits.flush();
    }
    if (!isPacked) {
      writer.raw(deltas.view());
      return;
    }
    writer.varint(lowest);
    writer.byte(width);
    for (let i = 0; i < size; i++) bits.put(present[i] - lowest, width);
    bits.flush();
  }
}

const readPresence = (reader: ByteReader, into: Uint32Array): void => {
  const bits = new BitReader(reader);
  for (let i = 0; i < into.length; i++) into[i] = bits.take(1) === 1 ? 0 : BLANK;
  bits.end();
};

const readPacked = (reader: ByteReader, into: Uint32Array): void => {
  const lowest = reader.varint();
  const width = reader.byte();
  if (width > 32) throw reader.corrupt(`has numbers of ${width} bits`);
  const bits = new BitReader(reader);
  for (let i = 0; i < into.length; i++) {
    if (into[i] === BLANK) continue;
    const ordinal = lowest + bits.take(width);
    if (ordinal >= BLANK) throw reader.corrupt('has a number out of range');
    into[i] = ordinal;
  }
  bits.end();
};

const readDeltas = (reader: ByteReader, into: Uint32Array): void => {
  let last = 0;
  for (let i = 0; i < into.length; i++) {
    if (into[i] === BLANK) continue;
    last += reader.zigzag();
    if (last < 0 || last >= BLANK) throw reader.corrupt('has a number out of range');
    into[i] = last;
  }
};

const readColumn = (reader: ByteReader, count: number): Uint32Array => {
  const form = reader.byte();
  const column = new Uint32Array(count);
  if ((form & WITH_BLANKS) !== 0) readPresence(reader, column);
  switch (form & ~WITH_BLANKS) {
    case ALL_BLANK:
      return column.fill(BLANK);
    case PACKED:
      readPacked(reader, column);
      return column;
    case DELTAS:
      readDeltas(reader, column);
      return column;
    default:
      throw reader.corrupt(`has a column of unknown form ${form}`);
  }
};

/** The columns of all graphs of block `block`; the caller has capped `count` and `graphs`. */
export const decodeOrdinals = (
  bytes: Uint8Array,
  graphs: number,
  count: number,
  block: number,
  file: string,
): Uint32Array[] => {
  const reader = sectionReader(bytes, `block ${block} of the dictionary of ${file}`, 'dictionaryBlocks', block);
  const columns = Array.from({ length: graphs }, () => readColumn(reader, count));
  reader.end();
  return columns;
};
