// Checks the dictionary of a file: the table of its blocks, both copies, all keys in their order, the filter, and which ordinal of which
// graph each key has. What it gathers is what the checks of graphs need.

import { throwIfAborted } from 'spanline/internal/base';
import type { Container } from '../container/container.js';
import { aborted, CorruptError } from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import type { BlockTable } from '../dictionary/block-table.js';
import {
  DICTIONARY_PARTS,
  type DictionaryIndex,
  decodeIndex,
  decodeIndexBlock,
} from '../dictionary/dictionary-index.js';
import { decodeKeys } from '../dictionary/key-block.js';
import { compareKeys, shownKey } from '../dictionary/key-bytes.js';
import { KeyFilter } from '../dictionary/key-filter.js';
import { BLANK, decodeOrdinals } from '../dictionary/ordinal-columns.js';
import type { GraphMeta } from '../meta.js';

/** Blocks read at a time. */
const BATCH_BLOCKS = 64;
/** Elements of a filter whose hashes are equal are counted once; of as many as a filter takes, more than this never are. */
const MAX_EQUAL_HASHES = 2;
/** No rank. */
const NONE = -1;

/** What is known of the keys of one graph. */
export interface OrdinalFacts {
  /** Rank of the key of each ordinal. */
  readonly ranks: Float64Array;
  /** Number of the group of each ordinal's key, ascending with the keys; undefined where order has nothing to do with groups. */
  readonly groups: Uint32Array | undefined;
}

/** Called with each key in order, for checks of what keys mean. */
export type KeyCheck = (key: Buffer, rank: number) => void;

/** The tables of blocks, checked to follow each other and to fill their section; both copies say the same. */
const readTables = async (
  container: Container,
  graphs: number,
  options?: TransportReadOptions,
): Promise<{ readonly index: DictionaryIndex; readonly tables: readonly BlockTable[] }> => {
  const { name } = container.transport;
  const [bytes] = await container.read([container.need(SectionId.dictionaryIndex)], options);
  const index = decodeIndex(container, bytes, graphs);
  const tables: BlockTable[] = [];
  if (index.table !== undefined) tables.push(index.table);
  for (let i = 0; index.upper !== undefined && i < index.upper.count; i++) {
    const [block] = await container.readBlocks([index.upper.ref(i, 0)], options);
    tables.push(decodeIndexBlock(container, index, i, block));
  }
  let end = 0;
  tables.forEach((table, i) => {
    if (table.extent.start !== end)
      throw new CorruptError(`the index of ${name} leaves out a part of its keys`, 'dictionaryIndex', i);
    end = table.extent.end;
  });
  if (end !== index.blocksSection.storedLength)
    throw new CorruptError(`the index of ${name} does not describe all of its keys`, 'dictionaryIndex');
  await checkCopy(container, bytes, index, tables, options);
  return { index, tables };
};

const checkCopy = async (
  container: Container,
  bytes: Buffer,
  index: DictionaryIndex,
  tables: readonly BlockTable[],
  options?: TransportReadOptions,
): Promise<void> => {
  const entry = container.find(SectionId.dictionaryIndexCopy);
  if (entry === undefined) return;
  const [copyBytes] = await container.read([entry], options);
  if (index.table !== undefined && copyBytes.equals(bytes)) return;
  const { table: copy, ...head } = decodeIndex(container, copyBytes, index.graphs);
  const isSame =
    index.table === undefined &&
    copy !== undefined &&
    (['keyCount', 'keyBytes', 'blockKeys', 'graphs'] as const).every((field) => head[field] === index[field]) &&
    tables.every((table) => isPartOf(copy, table));
  if (isSame) return;
  throw new CorruptError(
    `the second copy of the index of ${container.transport.name} is another than the first`,
    'dictionaryIndexCopy',
  );
};

const isPartOf = (copy: BlockTable, table: BlockTable): boolean => {
  for (let i = 0; i < table.count; i++) {
    const block = table.firstBlock + i;
    if (compareKeys(copy.separator(block), table.separator(i)) !== 0) return false;
    for (let part = 0; part < DICTIONARY_PARTS; part++)
      if (JSON.stringify(copy.ref(block, part)) !== JSON.stringify(table.ref(i, part))) return false;
  }
  return true;
};

/** Read all keys; throws at the first thing that cannot be. */
export const checkKeys = async (
  container: Container,
  meta: GraphMeta,
  checkKey: KeyCheck,
  options?: TransportReadOptions,
): Promise<readonly OrdinalFacts[]> => {
  const { name } = container.transport;
  const { groupBytes } = meta;
  const { index, tables } = await readTables(container, meta.graphs.length, options);
  const filter = await readFilter(container, groupBytes, options);
  const facts = meta.graphs.map(
    ({ nodeCount, ghostCount, order }): OrdinalFacts => ({
      ranks: new Float64Array(nodeCount + ghostCount).fill(NONE),
      groups: order === 'trace-contiguous' ? new Uint32Array(nodeCount + ghostCount) : undefined,
    }),
  );
  const wrong = (what: string, block: number): CorruptError =>
    new CorruptError(`block ${block} of the dictionary of ${name} ${what}`, 'dictionaryBlocks', block);
  let last: Buffer | undefined;
  let rank = 0;
  let bytes = 0;
  /** Groups of keys so far; without groups, keys. */
  let groupCount = 0;

  const takeKey = (key: Buffer, ordinalOf: (graph: number) => number, block: number): void => {
    if (key.length === 0 || (last !== undefined && compareKeys(last, key) >= 0))
      throw wrong(`has the key ${shownKey(key)} out of order`, block);
    if (!(groupBytes > 0 && last?.subarray(0, groupBytes).equals(key.subarray(0, groupBytes)))) groupCount++;
    if (filter?.mayHave(key) === false)
      throw new CorruptError(`the filter of ${name} denies the key ${shownKey(key)}`, 'filter');
    facts.forEach(({ ranks, groups }, graph) => {
      const ordinal = ordinalOf(graph);
      if (ordinal === BLANK) return;
      if (ordinal >= ranks.length || ranks[ordinal] !== NONE)
        throw wrong(`gives graph ${graph} the ordinal ${ordinal} twice, or has too many`, block);
      ranks[ordinal] = rank;
      if (groups !== undefined) groups[ordinal] = groupCount;
    });
    checkKey(key, rank);
    bytes += key.length;
    rank++;
    last = key;
  };

  /** `separators` part this block from the one before: a look-up for any key of either must go the right way. */
  const takeBlock = (block: number, separators: readonly Uint8Array[], parts: readonly Buffer[]): void => {
    const [keyBytes, tails, columns] = parts;
    const count = Math.min(index.blockKeys, index.keyCount - block * index.blockKeys);
    const keys = decodeKeys(keyBytes, tails, count, block, name);
    const ordinals = decodeOrdinals(columns, meta.graphs.length, count, block, name);
    if (keys.groupBytes !== undefined && keys.groupBytes !== groupBytes)
      throw wrong(`has groups of ${keys.groupBytes} bytes, its meta section says ${groupBytes}`, block);
    const first = keys.key(0);
    for (const before of separators)
      if (block > 0 && (compareKeys(before, first) > 0 || compareKeys(before, last as Buffer) <= 0))
        throw wrong('does not begin where the index says it does', block);
    for (let i = 0; i < count; i++) takeKey(keys.key(i), (graph) => ordinals[graph][i], block);
  };

  for (const [t, table] of tables.entries()) {
    for (let start = 0; start < table.count; start += BATCH_BLOCKS) {
      throwIfAborted(options?.signal, `checking ${name}`, aborted);
      const count = Math.min(BATCH_BLOCKS, table.count - start);
      const refs = Array.from({ length: count * DICTIONARY_PARTS }, (_, at) =>
        table.ref(start + Math.floor(at / DICTIONARY_PARTS), at % DICTIONARY_PARTS),
      );
      const parts = await container.readBlocks(refs, options);
      for (let i = start; i < start + count; i++) {
        const separators = [table.separator(i)];
        if (i === 0 && index.upper !== undefined) separators.push(index.upper.separator(t));
        takeBlock(table.firstBlock + i, separators, parts.splice(0, DICTIONARY_PARTS));
      }
    }
  }
  if (bytes !== index.keyBytes)
    throw new CorruptError(`${name} has ${bytes} bytes of keys, its index says ${index.keyBytes}`, 'dictionaryIndex');
  if (filter !== undefined && (filter.keys > groupCount || filter.keys < groupCount - MAX_EQUAL_HASHES))
    throw new CorruptError(`the filter of ${name} says it has ${filter.keys} elements, not ${groupCount}`, 'filter');
  facts.forEach(({ ranks }, graph) => {
    const missing = ranks.indexOf(NONE);
    if (missing >= 0)
      throw new CorruptError(`graph ${graph} of ${name} has no key for ordinal ${missing}`, 'dictionaryBlocks');
    for (let ghost = meta.graphs[graph].nodeCount + 1; ghost < ranks.length; ghost++)
      if (ranks[ghost] < ranks[ghost - 1])
        throw new CorruptError(`the absent nodes of graph ${graph} of ${name} are out of order`, 'dictionaryBlocks');
  });
  return facts;
};

const readFilter = async (
  container: Container,
  groupBytes: number,
  options?: TransportReadOptions,
): Promise<KeyFilter | undefined> => {
  const entry = container.find(SectionId.filter);
  if (entry === undefined) return undefined;
  const { name } = container.transport;
  const filter = KeyFilter.decode((await container.read([entry], options))[0], name);
  if (filter.elementBytes === groupBytes) return filter;
  throw new CorruptError(`the filter of ${name} is not one of groups of ${groupBytes} bytes`, 'filter');
};
