// Where the blocks of a graph's columns are: per block and column the stored and inflated lengths, codec and checksum. Blocks of a column
// lie one behind the other, so offsets are sums.

import { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { BlockRef } from '../../container/container.js';
import type { WrittenBlock } from '../../container/container-writer.js';
import { sectionReader } from '../../container/layout.js';

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
