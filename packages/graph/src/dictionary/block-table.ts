// Where the blocks of a dictionary are, and the shortest bytes that tell each from the one before: the sparse index. A table describes
// blocks that lie one behind the other, each of one or more parts. Every length is checked to lie inside the section it describes.

import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { Codec } from '../container/codec.js';
import type { BlockRef } from '../container/container.js';
import type { WrittenBlock } from '../container/container-writer.js';
import { compareStretch, MAX_KEY_BYTES, sharedLength } from './key-bytes.js';

/** Part left out of a block. */
export const NO_PART: Omit<WrittenBlock, 'offset'> = {
  storedLength: 0,
  inflatedLength: 0,
  codec: Codec.stored,
  crc: 0,
};

/** Bytes a block has at least in a table: lengths of its separator; codec, lengths and checksum of each part. */
export const minBytes = (parts: number): number => 2 + 7 * parts;

/** Blocks to describe. */
export class BlockList {
  readonly separators: Buffer[] = [];
  /** The blocks' first parts, then their second ones, and so on. */
  readonly #columns: Omit<WrittenBlock, 'offset'>[][];

  constructor(parts: number) {
    this.#columns = Array.from({ length: parts }, () => []);
  }

  get count(): number {
    return this.separators.length;
  }

  /** Bytes of block `i`. */
  storedLength(i: number): number {
    return this.#columns.reduce((sum, column) => sum + column[i].storedLength, 0);
  }

  /** The next block; all its keys are at or behind `separator`, which is behind all keys before. */
  add(separator: Buffer, parts: readonly Omit<WrittenBlock, 'offset'>[]): void {
    this.separators.push(separator);
    parts.forEach((part, p) => {
      this.#columns[p].push(part);
    });
  }

  /** Append blocks `start` to `end`, the first of which begins `offset` into its section. */
  write(writer: ByteWriter, start: number, end: number, offset: number): void {
    writer.varint(end - start);
    writer.varint(offset);
    let last: Buffer = Buffer.alloc(0);
    const rests: Buffer[] = [];
    for (let i = start; i < end; i++) {
      const separator = this.separators[i];
      const shared = sharedLength(last, separator);
      writer.varint(shared);
      rests.push(separator.subarray(shared));
      last = separator;
    }
    for (const rest of rests) writer.varint(rest.length);
    for (const rest of rests) writer.raw(rest);
    const columns = this.#columns.map((column) => column.slice(start, end));
    for (const column of columns) {
      for (const { codec } of column) writer.byte(codec);
      column.forEach(({ storedLength }, i) => {
        writer.zigzag(storedLength - (i === 0 ? 0 : column[i - 1].storedLength));
      });
      // Nothing is compressed that does not shrink; as it is, it has the length it has.
      for (const { storedLength, inflatedLength } of column) writer.varint(inflatedLength - storedLength);
    }
    for (const column of columns) for (const { crc } of column) writer.uint32(crc);
  }
}

/** Which section a table describes, and how long it is. */
interface TablePlace {
  readonly section: number;
  readonly offset: number;
  readonly length: number;
  readonly parts: number;
  /** Number of the table's first block in the section. */
  readonly firstBlock: number;
  /** Blocks at most. */
  readonly maxBlocks: number;
  /** Bytes of all separators at most. */
  readonly maxBytes: number;
}

interface PartColumns {
  readonly codec: Uint8Array;
  readonly stored: Uint32Array;
  readonly inflated: Uint32Array;
  readonly crc: Uint32Array;
}

/** Blocks as read. */
export class BlockTable {
  readonly #place: TablePlace;
  readonly #separators: Uint8Array;
  readonly #separatorEnds: Uint32Array;
  readonly #columns: readonly PartColumns[];
  /** Where each block begins in the file, and where the last ends. */
  readonly #offsets: Float64Array;

  private constructor(
    place: TablePlace,
    separators: Uint8Array,
    separatorEnds: Uint32Array,
    columns: readonly PartColumns[],
    offsets: Float64Array,
  ) {
    this.#place = place;
    this.#separators = separators;
    this.#separatorEnds = separatorEnds;
    this.#columns = columns;
    this.#offsets = offsets;
  }

  static read(reader: ByteReader, place: TablePlace): BlockTable {
    const count = reader.varint();
    const start = reader.varint();
    if (count > place.maxBlocks || count * minBytes(place.parts) > reader.left) {
      throw reader.corrupt('is too short for its blocks');
    }
    const { separators, separatorEnds } = readSeparators(reader, count, place.maxBytes);
    const columns = Array.from({ length: place.parts }, () => readColumns(reader, count));
    for (const { crc } of columns) for (let i = 0; i < count; i++) crc[i] = reader.uint32();
    const offsets = new Float64Array(count + 1);
    offsets[0] = place.offset + start;
    for (let i = 0; i < count; i++) {
      offsets[i + 1] = columns.reduce((sum, { stored }) => sum + stored[i], offsets[i]);
    }
    if (offsets[count] > place.offset + place.length) throw reader.corrupt('has blocks outside their section');
    return new BlockTable(place, separators, separatorEnds, columns, offsets);
  }

  get count(): number {
    return this.#offsets.length - 1;
  }

  get firstBlock(): number {
    return this.#place.firstBlock;
  }

  /** Bytes of the file from the start of the first block to the end of the last. */
  get extent(): { readonly start: number; readonly end: number } {
    return { start: this.#offsets[0] - this.#place.offset, end: this.#offsets[this.count] - this.#place.offset };
  }

  get memoryBytes(): number {
    return 512 + this.#separators.length + this.count * (12 + 13 * this.#columns.length);
  }

  /** The last block whose separator is not behind `key`: the only one that may hold it. The first where there is none. */
  find(key: Uint8Array): number {
    const separators = this.#separators;
    const separatorEnds = this.#separatorEnds;
    let [low, high] = [1, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareStretch(separators, separatorEnds[middle], separatorEnds[middle + 1], key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** What all keys of the table's block `i` stand at or behind, and all before it do not. */
  separator(i: number): Uint8Array {
    return this.#separators.subarray(this.#separatorEnds[i], this.#separatorEnds[i + 1]);
  }

  /** Part `part` of the table's block `i`. */
  ref(i: number, part: number): BlockRef {
    let offset = this.#offsets[i];
    for (let p = 0; p < part; p++) offset += this.#columns[p].stored[i];
    const { codec, stored, inflated, crc } = this.#columns[part];
    return {
      offset,
      storedLength: stored[i],
      inflatedLength: inflated[i],
      codec: codec[i],
      crc: crc[i],
      section: this.#place.section,
      block: this.#place.firstBlock + i,
    };
  }
}

const readSeparators = (
  reader: ByteReader,
  count: number,
  maxBytes: number,
): { readonly separators: Uint8Array; readonly separatorEnds: Uint32Array } => {
  const shared = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const length = reader.varint();
    if (length > MAX_KEY_BYTES) throw reader.corrupt('has an impossible separator');
    shared[i] = length;
  }
  const separatorEnds = new Uint32Array(count + 1);
  let last = 0;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const length = shared[i] + reader.varint();
    if (shared[i] > last || length > MAX_KEY_BYTES) throw reader.corrupt('has an impossible separator');
    total += length;
    // What is shared costs no bytes in the file, so the file cannot vouch for it.
    if (total > maxBytes) throw reader.corrupt(`has more than ${maxBytes} bytes of separators`);
    separatorEnds[i + 1] = total;
    last = length;
  }
  const separators = new Uint8Array(total);
  for (let i = 0; i < count; i++) {
    const start = separatorEnds[i];
    if (i > 0) separators.copyWithin(start, separatorEnds[i - 1], separatorEnds[i - 1] + shared[i]);
    separators.set(reader.raw(separatorEnds[i + 1] - start - shared[i]), start + shared[i]);
  }
  return { separators, separatorEnds };
};

const readColumns = (reader: ByteReader, count: number): PartColumns => {
  const codec = new Uint8Array(reader.raw(count));
  const stored = new Uint32Array(count);
  const inflated = new Uint32Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    last += reader.zigzag();
    if (last < 0 || last > 0xffffffff) throw reader.corrupt('has a block of impossible length');
    stored[i] = last;
  }
  for (let i = 0; i < count; i++) {
    const length = stored[i] + reader.varint();
    if (length > 0xffffffff) throw reader.corrupt('has a block of impossible length');
    inflated[i] = length;
  }
  return { codec, stored, inflated, crc: new Uint32Array(count) };
};
