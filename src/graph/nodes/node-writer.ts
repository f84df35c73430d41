// Writes the columns of one graph's nodes, block by block, in ordinal order. It holds one block; where values come from is the caller's.

import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { ContainerWriter, WrittenBlock } from '../../container/container-writer.js';
import { SectionId } from '../../container/layout.js';
import { isRandom } from '../dictionary/entropy.js';
import { writeIntColumn } from './int-column.js';
import { encodeNodeTable, NODES_PER_BLOCK } from './node-table.js';
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
