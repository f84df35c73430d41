// The nodes of a damaged file, in order, each with what is left of it, and its keys, all of them in memory, with the node of each graph each
// belongs to. Dictionary and back pointers say the same in both directions: what one has lost the other may know.

import { ByteStore, ChunkPool } from '../builder/chunk-pool.js';
import { BlockCache } from '../container/block-cache.js';
import type { BlockRef } from '../container/container.js';
import { CorruptError } from '../container/graph-error.js';
import { NO_GRAPH, SectionId } from '../container/layout.js';
import type { BlockTable } from '../dictionary/block-table.js';
import { type DictionaryIndex, decodeIndex, decodeIndexBlock, Part } from '../dictionary/dictionary-index.js';
import { decodeKeys } from '../dictionary/key-block.js';
import { BLANK, decodeOrdinals } from '../dictionary/ordinal-columns.js';
import type { GraphInfo, GraphMeta } from '../meta.js';
import { type DecodedColumns, NodeColumns } from '../nodes/node-columns.js';
import { type Column, NODES_PER_BLOCK } from '../nodes/node-table.js';
import type { DamagedFile, FoundBlocks, LostKeys } from './damaged-file.js';

/** No rank, no key. */
const NONE = 0xffffffff;

/** The keys that can be read. */
export class SalvagedKeys {
  readonly blockKeys: number;
  readonly #file: DamagedFile;
  readonly #meta: GraphMeta;
  readonly #store = new ByteStore(new ChunkPool());
  /** Positions of the keys of each readable block. */
  readonly #blocks: (Uint32Array | undefined)[] = [];
  /** Rank of each ordinal of each graph. */
  readonly #ranks: readonly Uint32Array[];

  constructor(file: DamagedFile, meta: GraphMeta) {
    this.#file = file;
    this.#meta = meta;
    for (const { nodeCount, ghostCount } of meta.graphs) {
      // Every ordinal has a key of its own.
      if (nodeCount + ghostCount > meta.keyCount)
        throw new CorruptError(`the meta section of ${file.name} makes no sense: more nodes than keys`, 'meta');
    }
    const { index, tables } = this.#readIndex();
    this.blockKeys = index.blockKeys;
    this.#ranks = meta.graphs.map(({ nodeCount, ghostCount }) => new Uint32Array(nodeCount + ghostCount).fill(NONE));
    this.#readBlocks(index.keyCount, tables);
  }

  /** The key of an ordinal, as a view; undefined when it is lost. */
  keyOf(graph: number, ordinal: number): Uint8Array | undefined {
    const rank = this.#ranks[graph][ordinal];
    return rank === NONE ? undefined : this.#keyAt(rank);
  }

  /** What a back pointer says; what is known already stays. */
  learn(graph: number, ordinal: number, rank: number): void {
    if (rank < this.#meta.keyCount && this.#ranks[graph][ordinal] === NONE) this.#ranks[graph][ordinal] = rank;
  }

  /** Keys that cannot be read, by their neighbours. */
  lost(): LostKeys[] {
    const { blockKeys } = this;
    const meta = this.#meta;
    const blocks = this.#blocks;
    const lost: LostKeys[] = [];
    const count = Math.ceil(meta.keyCount / blockKeys);
    for (let block = 0; block < count; block++) {
      if (blocks[block] !== undefined) continue;
      const first = block;
      while (block + 1 < count && blocks[block + 1] === undefined) block++;
      const firstRank = first * blockKeys;
      const behind = Math.min(meta.keyCount, (block + 1) * blockKeys);
      lost.push({
        firstRank,
        count: behind - firstRank,
        ...(first > 0 ? { after: Buffer.from(this.#keyAt(firstRank - 1) as Uint8Array) } : {}),
        ...(behind < meta.keyCount ? { before: Buffer.from(this.#keyAt(behind) as Uint8Array) } : {}),
      });
    }
    return lost;
  }

  #keyAt(rank: number): Uint8Array | undefined {
    const positions = this.#blocks[Math.floor(rank / this.blockKeys)];
    return positions === undefined ? undefined : this.#store.get(positions[rank % this.blockKeys]);
  }

  /** Tables of blocks, by either copy of the index; both are read, so that damage of either shows. */
  #readIndex(): { readonly index: DictionaryIndex; readonly tables: readonly BlockTable[] } {
    const file = this.#file;
    const meta = this.#meta;
    const [copy, index] = [SectionId.dictionaryIndexCopy, SectionId.dictionaryIndex].map((id) =>
      file.decoded(id, NO_GRAPH, (bytes) => {
        const decoded = decodeIndex(file.container, bytes, meta.graphs.length);
        if (decoded.keyCount === meta.keyCount) return decoded;
        const what = `the index of ${file.name} has ${decoded.keyCount} keys, not ${meta.keyCount}`;
        throw new CorruptError(what, 'dictionaryIndex');
      }),
    );
    const tables = index === undefined ? [] : this.#readTables(index);
    if (copy?.table !== undefined) return { index: copy, tables: [copy.table] };
    if (index !== undefined) return { index, tables };
    throw new CorruptError(
      `nothing can be salvaged of ${file.name}: no copy of the index of its keys is left`,
      'dictionaryIndex',
    );
  }

  #readTables(index: DictionaryIndex): BlockTable[] {
    const file = this.#file;
    if (index.table !== undefined) return [index.table];
    const tables: BlockTable[] = [];
    for (let i = 0; i + 1 < index.cuts.length; i++) {
      const table = file.attempt({ section: 'dictionaryIndexBlocks', block: i }, () => {
        const ref = (index.upper as BlockTable).ref(i, 0);
        return decodeIndexBlock(file.container, index, i, file.container.readBlocksSync([ref])[0]);
      });
      if (table !== undefined) tables.push(table);
    }
    return tables;
  }

  #readBlocks(keyCount: number, tables: readonly BlockTable[]): void {
    const { blockKeys } = this;
    const file = this.#file;
    for (const table of tables) {
      for (let i = 0; i < table.count; i++) {
        const block = table.firstBlock + i;
        const refs = [Part.keys, Part.tails, Part.ordinals].map((part) => table.ref(i, part));
        const place = { section: 'dictionaryBlocks', block };
        const count = Math.min(blockKeys, keyCount - block * blockKeys);
        file.attempt(place, () => this.#readKeys(refs, block, count));
        file.attempt(place, () => this.#readOrdinals(refs[Part.ordinals], block, count));
      }
    }
  }

  #readKeys(refs: readonly BlockRef[], block: number, count: number): void {
    const store = this.#store;
    const [bytes, tails] = this.#file.container.readBlocksSync([refs[Part.keys], refs[Part.tails]]);
    const keys = decodeKeys(bytes, tails, count, block, this.#file.name);
    this.#blocks[block] = Uint32Array.from({ length: count }, (_, i) => store.add(keys.key(i)));
  }

  #readOrdinals(ref: BlockRef, block: number, count: number): void {
    const { blockKeys } = this;
    const ranks = this.#ranks;
    const [bytes] = this.#file.container.readBlocksSync([ref]);
    const columns = decodeOrdinals(bytes, this.#meta.graphs.length, count, block, this.#file.name);
    columns.forEach((column, graph) => {
      column.forEach((ordinal, i) => {
        if (ordinal !== BLANK && ordinal < ranks[graph].length) ranks[graph][ordinal] = block * blockKeys + i;
      });
    });
  }
}

/** Blocks of one ordinal range at a time. */
const CACHE_BYTES = 1024 * 1024;

/** What is left of a node; a part that is undefined is lost, or the graph keeps none. */
export interface SalvagedNode {
  readonly ordinal: number;
  readonly key: Uint8Array | undefined;
  /** One for each reference list. */
  readonly references: readonly Uint32Array[] | undefined;
  readonly value: Uint8Array | undefined;
}

/** One graph of a damaged file. */
export class SalvagedNodes {
  readonly #file: DamagedFile;
  readonly #keys: SalvagedKeys;
  readonly #info: GraphInfo;
  readonly #graph: number;
  readonly #blocks: FoundBlocks;
  readonly #columns: NodeColumns;

  constructor(file: DamagedFile, keys: SalvagedKeys, info: GraphInfo, graph: number) {
    this.#file = file;
    this.#keys = keys;
    this.#info = info;
    this.#graph = graph;
    this.#blocks = file.columnBlocks(info, graph);
    this.#columns = new NodeColumns(file.container, info, this.#blocks, new BlockCache(CACHE_BYTES));
    if (info.hasBackPointers) this.#learnKeys();
  }

  *[Symbol.iterator](): Generator<SalvagedNode> {
    const { nodeCount, hasReferences, hasValues } = this.#info;
    for (let first = 0; first < nodeCount; first += NODES_PER_BLOCK) {
      const block = first / NODES_PER_BLOCK;
      const references = hasReferences ? this.#load('references', block) : undefined;
      const values = hasValues ? this.#load('values', block) : undefined;
      for (let i = 0; i < Math.min(NODES_PER_BLOCK, nodeCount - first); i++) {
        yield {
          ordinal: first + i,
          key: this.#keys.keyOf(this.#graph, first + i),
          references: references?.map(({ offsets, targets }) => targets.subarray(offsets[i], offsets[i + 1])),
          value: values?.bytes.subarray(values.offsets[i], values.offsets[i + 1]),
        };
      }
    }
  }

  #learnKeys(): void {
    const { nodeCount, ghostCount } = this.#info;
    for (let first = 0; first < nodeCount + ghostCount; first += NODES_PER_BLOCK) {
      const ranks = this.#load('backPointers', first / NODES_PER_BLOCK);
      ranks?.forEach((rank, i) => {
        this.#keys.learn(this.#graph, first + i, rank);
      });
    }
  }

  #load<C extends Column>(column: C, block: number): DecodedColumns[C] | undefined {
    if (this.#blocks[column] === undefined) return undefined;
    return this.#file.attempt({ section: column, graph: this.#graph, block }, () => {
      const loaded = this.#file.container.runSync(this.#columns.load({ [column]: [block] }));
      return loaded[column].get(block) as DecodedColumns[C];
    });
  }
}
