// Where the blocks of a graph's columns are: per block and column the stored and inflated lengths, codec and checksum. Blocks of a column
// lie one behind the other, so offsets are sums. Columns are written block by block, in ordinal order; where values come from is the caller's.

import { ByteWriter } from 'spanline/internal/base';
import { isRandom } from '../container/codec.js';
import type { BlockRef, Container } from '../container/container.js';
import type { ContainerWriter, WrittenBlock } from '../container/container-writer.js';
import { SectionId, sectionReader } from '../container/layout.js';
import type { GraphInfo } from '../meta.js';
import { type ReferenceRows, writeIntColumn, writeReferenceBlock } from './node-blocks.js';

/** Nodes of a block. */
export const NODES_PER_BLOCK = 512;

/** The columns of nodes, in the order of their section ids, which have their names. */
export const COLUMNS = ['references', 'values', 'backPointers'] as const;
export type Column = (typeof COLUMNS)[number];

/** The second copy of each column's part of the node table, for salvage only. */
export const TABLE_COPIES: Readonly<Record<Column, number>> = {
  references: SectionId.referenceBlocks,
  values: SectionId.valueBlocks,
  backPointers: SectionId.backPointerBlocks,
};

const HAS_COLUMN = { references: 'hasReferences', values: 'hasValues', backPointers: 'hasBackPointers' } as const;

/** The columns that a graph was built with. */
export const columnsOf = (info: GraphInfo): Column[] => COLUMNS.filter((column) => info[HAS_COLUMN[column]]);

/** How many nodes a column tells of: ghosts have keys too, though neither values nor references. */
export const nodesIn = ({ nodeCount, ghostCount }: GraphInfo, column: Column): number =>
  column === 'backPointers' ? nodeCount + ghostCount : nodeCount;

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

/** Where a column of graph `graph` is, by the table of contents. */
export const columnPlace = (container: Container, info: GraphInfo, graph: number, column: Column): ColumnPlace => {
  const { id, offset, storedLength } = container.need(SectionId[column], graph);
  const blockCount = Math.ceil(nodesIn(info, column) / NODES_PER_BLOCK);
  return { section: id, start: offset, end: offset + storedLength, blockCount };
};

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

/** Write a column of `graph`; its part of the node table is returned, since that belongs near the end of the file. */
const writeColumn = (
  container: ContainerWriter,
  column: Column,
  graph: number,
  count: number,
  fill: (writer: ByteWriter, start: number, end: number) => void,
): Buffer => {
  const writer = new ByteWriter(64 * 1024);
  const sectionStart = container.position;
  const blocks: WrittenBlock[] = [];
  for (let start = 0; start < count; start += NODES_PER_BLOCK) {
    writer.clear();
    fill(writer, start, Math.min(count, start + NODES_PER_BLOCK));
    const bytes = writer.view();
    // Values may repeat though their bytes look random; packed ranks do not.
    const isInVain = column === 'backPointers' && isRandom(bytes);
    blocks.push(isInVain ? container.block(bytes, 'none') : container.block(bytes));
  }
  container.blockedSection({ id: SectionId[column], graph }, sectionStart);
  return encodeNodeTable([blocks]);
};

/** Write the reference lists of `count` nodes, over ordinals. */
export const writeReferences = (
  container: ContainerWriter,
  graph: number,
  count: number,
  lists: readonly ReferenceRows[],
): Buffer =>
  writeColumn(container, 'references', graph, count, (writer, start, end) =>
    writeReferenceBlock(writer, lists, start, end),
  );

/** Write the values of `count` nodes; `value` is asked for each in order. */
export const writeValues = (
  container: ContainerWriter,
  graph: number,
  count: number,
  value: (ordinal: number) => Uint8Array,
): Buffer =>
  writeColumn(container, 'values', graph, count, (writer, start, end) => {
    const values = Array.from({ length: end - start }, (_, i) => value(start + i));
    for (const { length } of values) writer.varint(length);
    for (const bytes of values) writer.raw(bytes);
  });

/** Write the rank of the key of each ordinal, ghosts included. */
export const writeBackPointers = (container: ContainerWriter, graph: number, ranks: ArrayLike<number>): Buffer =>
  writeColumn(container, 'backPointers', graph, ranks.length, (writer, start, end) =>
    writeIntColumn(writer, ranks, start, end),
  );
