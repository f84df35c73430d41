// The keys of a damaged file, all of them in memory, and which node of which graph each belongs to. Dictionary and back pointers say the
// same in both directions: what one has lost the other may know.

import { ByteStore } from '../builder/byte-store.js';
import { ChunkPool } from '../builder/chunk-pool.js';
import type { BlockRef } from '../container/container.js';
import { CorruptError } from '../container/graph-error.js';
import { NO_GRAPH, SectionId } from '../container/layout.js';
import type { BlockTable } from '../dictionary/block-table.js';
import { type DictionaryIndex, decodeIndex, decodeIndexBlock, Part } from '../dictionary/dictionary-index.js';
import { decodeKeys } from '../dictionary/key-block.js';
import { BLANK, decodeOrdinals } from '../dictionary/ordinal-columns.js';
import type { GraphMeta } from '../meta.js';
import type { DamagedFile } from './damaged-file.js';
import type { LostKeys } from './salvage-report.js';

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
