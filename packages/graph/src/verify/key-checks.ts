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
import { compareKeys, type KeyBlock, shownKey } from '../dictionary/key-bytes.js';
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
  const { index, tables } = await readTables(container, meta.graphs.length, options);
  const entry = container.find(SectionId.filter);
  const filter =
    entry === undefined
      ? undefined
      : KeyFilter.decode((await container.read([entry], options))[0], container.transport.name);
  const walk = new KeyWalk(container.transport.name, meta, index, filter, checkKey);
  for (const [i, table] of tables.entries()) {
    if (index.upper !== undefined) walk.beginTable(index.upper.separator(i), i);
    for (let start = 0; start < table.count; start += BATCH_BLOCKS) {
      throwIfAborted(options?.signal, `checking ${container.transport.name}`, aborted);
      const count = Math.min(BATCH_BLOCKS, table.count - start);
      const refs = Array.from({ length: count * DICTIONARY_PARTS }, (_, at) =>
        table.ref(start + Math.floor(at / DICTIONARY_PARTS), at % DICTIONARY_PARTS),
      );
      const parts = await container.readBlocks(refs, options);
      for (let at = 0; at < count; at++)
        walk.block(table.firstBlock + start + at, table.separator(start + at), parts.slice(at * 3, at * 3 + 3));
    }
  }
  return walk.finish();
};

class KeyWalk {
  readonly #name: string;
  readonly #meta: GraphMeta;
  readonly #index: DictionaryIndex;
  readonly #filter: KeyFilter | undefined;
  readonly #checkKey: KeyCheck;
  readonly #facts: readonly OrdinalFacts[];
  #last: Buffer | undefined;
  /** Where the first key of the next table must stand behind. */
  #tableSeparator: Uint8Array | undefined;
  #rank = 0;
  #bytes = 0;
  #group = -1;
  #elements = 0;

  constructor(
    name: string,
    meta: GraphMeta,
    index: DictionaryIndex,
    filter: KeyFilter | undefined,
    checkKey: KeyCheck,
  ) {
    this.#name = name;
    this.#meta = meta;
    this.#index = index;
    this.#filter = filter;
    this.#checkKey = checkKey;
    this.#facts = meta.graphs.map(({ nodeCount, ghostCount, order }) => ({
      ranks: new Float64Array(nodeCount + ghostCount).fill(NONE),
      groups: order === 'trace-contiguous' ? new Uint32Array(nodeCount + ghostCount) : undefined,
    }));
    if (filter !== undefined && filter.elementBytes !== meta.groupBytes)
      throw new CorruptError(`the filter of ${name} is not one of groups of ${meta.groupBytes} bytes`, 'filter');
  }

  beginTable(separator: Uint8Array, i: number): void {
    if (i > 0) this.#tableSeparator = separator;
  }

  block(block: number, separator: Uint8Array, [keyBytes, tails, columns]: readonly Buffer[]): void {
    const count = Math.min(this.#index.blockKeys, this.#index.keyCount - block * this.#index.blockKeys);
    const keys = decodeKeys(keyBytes, tails, count, block, this.#name);
    const ordinals = decodeOrdinals(columns, this.#meta.graphs.length, count, block, this.#name);
    if (keys.groupBytes !== undefined && keys.groupBytes !== this.#meta.groupBytes)
      throw this.#wrong(
        `has groups of ${keys.groupBytes} bytes, its meta section says ${this.#meta.groupBytes}`,
        block,
      );
    const first = keys.key(0);
    for (const before of [separator, ...(this.#tableSeparator === undefined ? [] : [this.#tableSeparator])]) {
      // It parts this block from the one before: a look-up for any key of either must go the right way.
      const isRight = block === 0 || (compareKeys(before, first) <= 0 && compareKeys(before, this.#last as Buffer) > 0);
      if (!isRight) throw this.#wrong('does not begin where the index says it does', block);
    }
    this.#tableSeparator = undefined;
    for (let i = 0; i < count; i++) this.#key(keys, ordinals, i, block);
  }

  finish(): readonly OrdinalFacts[] {
    const name = this.#name;
    const filter = this.#filter;
    const elements = this.#elements;
    if (this.#bytes !== this.#index.keyBytes)
      throw new CorruptError(
        `${name} has ${this.#bytes} bytes of keys, its index says ${this.#index.keyBytes}`,
        'dictionaryIndex',
      );
    if (filter !== undefined && (filter.keys > elements || filter.keys < elements - MAX_EQUAL_HASHES))
      throw new CorruptError(`the filter of ${name} says it has ${filter.keys} elements, not ${elements}`, 'filter');
    this.#facts.forEach(({ ranks }, graph) => {
      const missing = ranks.indexOf(NONE);
      if (missing >= 0)
        throw new CorruptError(`graph ${graph} of ${name} has no key for ordinal ${missing}`, 'dictionaryBlocks');
      for (let ghost = this.#meta.graphs[graph].nodeCount + 1; ghost < ranks.length; ghost++)
        if (ranks[ghost] < ranks[ghost - 1])
          throw new CorruptError(`the absent nodes of graph ${graph} of ${name} are out of order`, 'dictionaryBlocks');
    });
    return this.#facts;
  }

  #key(keys: KeyBlock, ordinals: readonly Uint32Array[], i: number, block: number): void {
    const last = this.#last;
    const facts = this.#facts;
    const rank = this.#rank;
    const key = keys.key(i);
    if (key.length === 0 || (last !== undefined && compareKeys(last, key) >= 0))
      throw this.#wrong(`has the key ${shownKey(key)} out of order`, block);
    const { groupBytes } = this.#meta;
    const isNewGroup =
      last === undefined || groupBytes === 0 || !key.subarray(0, groupBytes).equals(last.subarray(0, groupBytes));
    if (isNewGroup) {
      this.#group++;
      this.#elements++;
    }
    if (this.#filter?.mayHave(key) === false)
      throw new CorruptError(`the filter of ${this.#name} denies the key ${shownKey(key)}`, 'filter');
    ordinals.forEach((column, graph) => {
      const ordinal = column[i];
      if (ordinal === BLANK) return;
      const { ranks, groups } = facts[graph];
      if (ordinal >= ranks.length || ranks[ordinal] !== NONE)
        throw this.#wrong(`gives graph ${graph} the ordinal ${ordinal} twice, or has too many`, block);
      ranks[ordinal] = rank;
      if (groups !== undefined) groups[ordinal] = this.#group;
    });
    this.#checkKey(key, rank);
    this.#bytes += key.length;
    this.#rank++;
    this.#last = key;
  }

  #wrong(what: string, block: number): CorruptError {
    return new CorruptError(`block ${block} of the dictionary of ${this.#name} ${what}`, 'dictionaryBlocks', block);
  }
}
