// Where the blocks of a graph's columns are: per block and column the stored and inflated lengths, codec and checksum. Blocks of a column
// lie one behind the other, so offsets are sums. Columns are written block by block, in ordinal order; where values come from is the caller's.

import { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { BlockRef } from '../../container/container.js';
import type { ContainerWriter, WrittenBlock } from '../../container/container-writer.js';
import { SectionId, sectionReader } from '../../container/layout.js';
import { isRandom } from '../dictionary/entropy.js';
import { writeIntColumn } from './int-column.js';
import { newBlockWriter, type ReferenceRows, writeReferenceBlock } from './reference-block.js';

/** The nodes of one graph in ordinal order. */
export interface NodeColumns {
  readonly nodeCount: number;
  /** One for each reference list, over ordinals; undefined when the graph keeps no references. */
  readonly references?: readonly ReferenceRows[];
  /** The value of an ordinal; undefined when the graph keeps no values. */
  readonly value?: (ordinal: number) => Uint8Array;
  /** Rank of the key of each ordinal, ghosts included; undefined when the graph keeps no back pointers. */
  readonly ranks?: ArrayLike<number>;
  readonly ghostCount: number;
}

const blocksOf = (count: number): number => Math.ceil(count / NODES_PER_BLOCK);

/** Write the sections of `graph`; the node table is returned, since it belongs near the end of the file. */
export const writeNodeColumns = (writer: ContainerWriter, graph: number, nodes: NodeColumns): Buffer => {
  const { nodeCount, ghostCount, references, value, ranks } = nodes;
  const bytes = newBlockWriter();
  const column = (section: number, count: number, fill: (start: number, end: number) => void): WrittenBlock[] => {
    const sectionStart = writer.position;
    const blocks: WrittenBlock[] = [];
    for (let block = 0; block < blocksOf(count); block++) {
      bytes.clear();
      fill(block * NODES_PER_BLOCK, Math.min(count, (block + 1) * NODES_PER_BLOCK));
      const view = bytes.view();
      // Values may repeat though their bytes look random; packed ranks do not.
      const isInVain = section === SectionId.backPointers && isRandom(view);
      blocks.push(isInVain ? writer.block(view, 'none') : writer.block(view));
    }
    writer.blockedSection({ id: section, graph }, sectionStart);
    return blocks;
  };
  const columns: WrittenBlock[][] = [];
  if (references !== undefined) {
    columns.push(
      column(SectionId.references, nodeCount, (start, end) => writeReferenceBlock(bytes, references, start, end)),
    );
  }
  if (value !== undefined)
    columns.push(column(SectionId.values, nodeCount, (start, end) => writeValues(bytes, value, start, end)));
  if (ranks !== undefined) {
    // Ghosts have keys too, though neither values nor references.
    columns.push(
      column(SectionId.backPointers, nodeCount + ghostCount, (start, end) => writeIntColumn(bytes, ranks, start, end)),
    );
  }
  return encodeNodeTable(columns);
};

const writeValues = (writer: ByteWriter, value: (ordinal: number) => Uint8Array, start: number, end: number): void => {
  const values: Uint8Array[] = [];
  for (let ordinal = start; ordinal < end; ordinal++) {
    const bytes = value(ordinal);
    values.push(bytes);
    writer.varint(bytes.length);
  }
  for (const bytes of values) writer.raw(bytes);
};

/** Nodes of a block. */
export const NODES_PER_BLOCK = 512;

/** The columns of nodes, in the order of their section ids. */
export const COLUMNS = ['references', 'values', 'backPointers'] as const;
export type Column = (typeof COLUMNS)[number];

const MAX_STORED = 2 ** 40;

/** The blocks of the columns a graph has, as bytes. */
export const encodeNodeTable = (columns: readonly (readonly WrittenBlock[])[]): Buffer => {
  const writer = new ByteWriter();
  for (const blocks of columns) {
    for (const { storedLength, inflatedLength, codec, crc } of blocks) {
      writer.varint(storedLength);
      writer.varint(inflatedLength);
      writer.byte(codec);
      writer.uint32(crc);
    }
  }
  return Buffer.from(writer.view());
};

/** A column of a graph to be found in the table. */
export interface ColumnPlace {
  readonly section: number;
  /** Where its first block is. */
  readonly start: number;
  readonly end: number;
  readonly blockCount: number;
}

/** The blocks of each column, checked to fill their sections exactly. */
export const decodeNodeTable = (bytes: Buffer, columns: readonly ColumnPlace[], name: string): BlockRef[][] => {
  const reader = sectionReader(bytes, `the node table of ${name}`, 'nodeTable');
  // Seven bytes is the least a block takes: a count that lies must not take memory.
  const blocks = columns.reduce((sum, { blockCount }) => sum + blockCount, 0);
  if (blocks * 7 > bytes.length) throw reader.corrupt('is too short for its blocks');
  const decoded = columns.map(({ section, start, end, blockCount }) => {
    let offset = start;
    const blocks = Array.from({ length: blockCount }, (_, block): BlockRef => {
      const storedLength = reader.varint();
      const inflatedLength = reader.varint();
      const codec = reader.byte();
      const crc = reader.uint32();
      if (storedLength > MAX_STORED) throw reader.corrupt('has a block of impossible length');
      const ref = { offset, storedLength, inflatedLength, codec, crc, section, block };
      offset += storedLength;
      return ref;
    });
    if (offset !== end) throw reader.corrupt('does not fill its section');
    return blocks;
  });
  reader.end();
  return decoded;
};
