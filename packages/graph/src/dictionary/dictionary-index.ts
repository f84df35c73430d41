// The index of a dictionary: how many keys, and the table of their blocks. A table too long for one read of the tail is cut into index
// blocks of their own, with a table of those above. No count is believed that the bytes do not bear out.

import { ByteWriter } from 'spanline/internal/base';
import { store } from '../container/codec.js';
import type { Container } from '../container/container.js';
import type { ContainerWriter } from '../container/container-writer.js';
import { type SectionEntry, SectionId, sectionReader } from '../container/layout.js';
import { MAX_GRAPHS } from '../meta.js';
import { BlockList, BlockTable, minBytes } from './block-table.js';
import { MAX_KEY_BYTES } from './key-bytes.js';

/** Keys of a block. */
export const MIN_BLOCK_KEYS = 64;
export const MAX_BLOCK_KEYS = 1024;

/** Parts of a dictionary block, in this order in the file. */
export const Part = { keys: 0, tails: 1, ordinals: 2 } as const;
export const DICTIONARY_PARTS = 3;

const FORM = 1;
/** Stored bytes of a table that stays whole. */
const MAX_WHOLE_BYTES = 32 * 1024;
/** Blocks that one index block describes, and bytes it has, at most. */
const MAX_INDEX_BLOCKS = 512;
const MAX_INDEX_BYTES = 32 * 1024;

/** What the index says before its table. */
interface IndexHead {
  readonly keyCount: number;
  /** Bytes of all keys. */
  readonly keyBytes: number;
  readonly blockKeys: number;
  readonly graphs: number;
}

const writeHead = (writer: ByteWriter, { keyCount, keyBytes, blockKeys, graphs }: IndexHead, levels: number): void => {
  writer.byte(FORM);
  writer.byte(levels);
  writer.varint(keyCount);
  writer.varint(keyBytes);
  writer.varint(blockKeys);
  writer.varint(graphs);
};

const wholeIndex = (head: IndexHead, blocks: BlockList): ByteWriter => {
  const writer = new ByteWriter();
  writeHead(writer, head, 1);
  blocks.write(writer, 0, blocks.count, 0);
  return writer;
};

/** The first block of each index block, and the end of the last. */
const cut = (blocks: BlockList): number[] => {
  const cuts = [0];
  let bytes = 0;
  for (let i = 0; i < blocks.count; i++) {
    const more = minBytes(DICTIONARY_PARTS) + blocks.separators[i].length;
    const first = cuts[cuts.length - 1];
    if (i > first && (i - first === MAX_INDEX_BLOCKS || bytes + more > MAX_INDEX_BYTES)) {
      cuts.push(i);
      bytes = 0;
    }
    bytes += more;
  }
  cuts.push(blocks.count);
  return cuts;
};

/** Write the index sections. */
export const encodeIndex = (container: ContainerWriter, head: IndexHead, blocks: BlockList): void => {
  const writer = wholeIndex(head, blocks);
  const isWhole = store(writer.view(), container.compression).bytes.length <= MAX_WHOLE_BYTES;
  if (!isWhole) {
    const cuts = cut(blocks);
    const upper = new BlockList(1);
    const part = new ByteWriter();
    const start = container.position;
    let offset = 0;
    for (let i = 0; i + 1 < cuts.length; i++) {
      part.clear();
      blocks.write(part, cuts[i], cuts[i + 1], offset);
      upper.add(blocks.separators[cuts[i]], [container.block(part.view())]);
      for (let block = cuts[i]; block < cuts[i + 1]; block++) offset += blocks.storedLength(block);
    }
    container.blockedSection({ id: SectionId.dictionaryIndexBlocks }, start);
    writer.clear();
    writeHead(writer, head, 2);
    upper.write(writer, 0, upper.count, 0);
    for (let i = 0; i + 1 < cuts.length; i++) writer.varint(cuts[i + 1] - cuts[i]);
  }
  container.section({ id: SectionId.dictionaryIndex }, writer.view());
};

/** Write a second copy of the index, whole whatever its length: only salvage reads it. */
export const encodeIndexCopy = (container: ContainerWriter, head: IndexHead, blocks: BlockList): void => {
  container.section({ id: SectionId.dictionaryIndexCopy }, wholeIndex(head, blocks).view());
};

/** The index as read: one table of blocks, or a table of index blocks. */
export interface DictionaryIndex extends IndexHead {
  readonly blockCount: number;
  /** The blocks' table; undefined when index blocks hold it. */
  readonly table: BlockTable | undefined;
  /** The table of index blocks; undefined when there are none: all is as if `table` were the only one. */
  readonly upper: BlockTable | undefined;
  /** The first block of each index block, and the end of the last. */
  readonly cuts: Float64Array;
  readonly blocksSection: SectionEntry;
}

/** The index in `bytes`, the index section of `container`, of `wantedGraphs` if that is known. */
export const decodeIndex = (container: Container, bytes: Buffer, wantedGraphs?: number): DictionaryIndex => {
  const reader = sectionReader(bytes, `the dictionary index of ${container.transport.name}`, 'dictionaryIndex');
  const form = reader.byte();
  if (form !== FORM) throw reader.corrupt(`has an unknown form ${form}`);
  const levels = reader.byte();
  if (levels !== 1 && levels !== 2) throw reader.corrupt(`has ${levels} levels`);
  const keyCount = reader.varint();
  const keyBytes = reader.varint();
  const blockKeys = reader.varint();
  const graphs = reader.varint();
  if (blockKeys < MIN_BLOCK_KEYS || blockKeys > MAX_BLOCK_KEYS) throw reader.corrupt(`has blocks of ${blockKeys} keys`);
  if (graphs === 0 || graphs > MAX_GRAPHS || graphs !== (wantedGraphs ?? graphs))
    throw reader.corrupt(`has ${graphs} graphs`);
  const blockCount = Math.ceil(keyCount / blockKeys);
  const blocksSection = container.need(SectionId.dictionaryBlocks);
  // Readers size what they keep by these.
  if (keyBytes < keyCount || keyBytes > keyCount * MAX_KEY_BYTES || blockCount > blocksSection.storedLength) {
    throw reader.corrupt(`has ${keyCount} keys of ${keyBytes} bytes, which cannot be`);
  }
  const head = { keyCount, keyBytes, blockKeys, graphs, blockCount, blocksSection };
  if (levels === 1) {
    const table = BlockTable.read(reader, blocksPlace(container, head, 0));
    reader.end();
    if (table.count !== blockCount || !fills(table, blocksSection)) throw reader.corrupt('does not describe its keys');
    return { ...head, table, upper: undefined, cuts: Float64Array.of(0, blockCount) };
  }
  const section = container.need(SectionId.dictionaryIndexBlocks);
  const upper = BlockTable.read(reader, {
    section: SectionId.dictionaryIndexBlocks,
    offset: section.offset,
    length: section.storedLength,
    parts: 1,
    firstBlock: 0,
    maxBlocks: blockCount,
    maxBytes: container.maxBlockBytes,
  });
  const cuts = new Float64Array(upper.count + 1);
  for (let i = 0; i < upper.count; i++) {
    const blocks = reader.varint();
    if (blocks === 0 || blocks > MAX_INDEX_BLOCKS) throw reader.corrupt(`has an index block of ${blocks} blocks`);
    cuts[i + 1] = cuts[i] + blocks;
  }
  reader.end();
  if (cuts[upper.count] !== blockCount || !fills(upper, section)) throw reader.corrupt('does not describe its keys');
  return { ...head, table: undefined, upper, cuts };
};

const fills = (table: BlockTable, section: SectionEntry): boolean =>
  table.extent.start === 0 && table.extent.end === section.storedLength;

const blocksPlace = (
  container: Container,
  { blocksSection, blockCount }: Pick<DictionaryIndex, 'blocksSection' | 'blockCount'>,
  firstBlock: number,
): Parameters<typeof BlockTable.read>[1] => ({
  section: SectionId.dictionaryBlocks,
  offset: blocksSection.offset,
  length: blocksSection.storedLength,
  parts: DICTIONARY_PARTS,
  firstBlock,
  maxBlocks: blockCount,
  maxBytes: container.maxBlockBytes,
});

/** The table in index block `i`. */
export const decodeIndexBlock = (
  container: Container,
  index: DictionaryIndex,
  i: number,
  bytes: Buffer,
): BlockTable => {
  const what = `block ${i} of the dictionary index of ${container.transport.name}`;
  const reader = sectionReader(bytes, what, 'dictionaryIndexBlocks', i);
  const table = BlockTable.read(reader, blocksPlace(container, index, index.cuts[i]));
  reader.end();
  if (table.count !== index.cuts[i + 1] - index.cuts[i]) throw reader.corrupt('does not describe its keys');
  return table;
};
