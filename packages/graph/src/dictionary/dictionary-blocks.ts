// Fetches and decodes the blocks of a dictionary: out of the cache, or in batches of reads. What is kept owns its bytes, so that
// the cache knows what it holds.
import { firstIndex } from 'spanline/internal/base';
import { BlockCache, newBlockKeys } from '../container/block-cache.js';
import type { BlockRef, Container, Reading } from '../container/container.js';
import type { ByteRange } from '../container/transport/transport.js';
import type { BlockTable } from './block-table.js';
import { type DictionaryIndex, decodeIndexBlock, Part } from './dictionary-index.js';
import { decodeKeys } from './key-block.js';
import type { KeyBlock, KeyRange } from './key-bytes.js';
import { decodeOrdinals } from './ordinal-columns.js';

/** A block as far as it was needed. */
export interface DecodedBlock {
  readonly keys: KeyBlock;
  /** A column for each graph; undefined while only keys were needed. */
  readonly ordinals: readonly Uint32Array[] | undefined;
}

/** Stored bytes fetched before any of them is decoded. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Index blocks held at a time. */
export const WINDOW_TABLES = 256;

/** How blocks are fetched. */
interface FetchOptions {
  readonly ordinals: boolean;
  /** Put them into the cache. */
  readonly keep: boolean;
}

/** What stands between asking and decoding. */
interface Wanted {
  readonly block: number;
  readonly cached: DecodedBlock | undefined;
  readonly refs: readonly BlockRef[];
}

/** Tables by number of their index block. */
export type Tables = ReadonlyMap<number, BlockTable>;

/** Decoded index blocks kept beside the cache: without them every look-up would read one more block. */
const INDEX_CACHE_BYTES = 1024 * 1024;

/** The blocks of one dictionary. */
export class DictionaryBlocks {
  readonly #container: Container;
  readonly #cache: BlockCache;
  readonly #keyOf = newBlockKeys();
  readonly #indexBlocks = new BlockCache<BlockTable>(INDEX_CACHE_BYTES);

  constructor(
    container: Container,
    readonly index: DictionaryIndex,
    cache: BlockCache,
  ) {
    this.#container = container;
    this.#cache = cache;
  }

  /** The index block that knows where `key` may be. */
  indexBlockOfKey(key: Uint8Array): number {
    return this.index.upper?.find(key) ?? 0;
  }

  /** The index block that describes `block`. */
  indexBlockOf(block: number): number {
    const { cuts } = this.index;
    return firstIndex(1, cuts.length - 1, (i) => cuts[i] > block) - 1;
  }

  /** The first and the last index block that know where keys of a range may be. */
  indexBlocksOfRange({ start, end }: KeyRange): { readonly first: number; readonly last: number } {
    return {
      first: start === undefined ? 0 : this.indexBlockOfKey(start),
      last: end === undefined ? this.index.cuts.length - 2 : this.indexBlockOfKey(end),
    };
  }

  /** The first and the last block that may hold keys of a range, whose first and last index blocks are in `tables`. */
  blocksOfRange(tables: Tables, range: KeyRange): { readonly first: number; readonly last: number } {
    const { start, end } = range;
    const { first, last } = this.indexBlocksOfRange(range);
    const [firstTable, lastTable] = [tables.get(first) as BlockTable, tables.get(last) as BlockTable];
    return {
      first: start === undefined ? 0 : firstTable.firstBlock + firstTable.find(start),
      last: end === undefined ? this.index.blockCount - 1 : lastTable.firstBlock + lastTable.find(end),
    };
  }

  /** The tables of index blocks, read in one batch. */
  *tables(indexBlocks: Iterable<number>): Reading<Tables> {
    const { index } = this;
    const container = this.#container;
    const kept = this.#indexBlocks;
    const tables = new Map<number, BlockTable>();
    if (index.table !== undefined) return tables.set(0, index.table);
    const missing: BlockRef[] = [];
    for (const i of new Set(indexBlocks)) {
      const cached = kept.get(i);
      if (cached !== undefined) tables.set(i, cached);
      else if (index.upper !== undefined) missing.push(index.upper.ref(i, 0));
    }
    if (missing.length === 0) return tables;
    const stored = yield missing.map(({ offset, storedLength }) => ({ offset, length: storedLength }));
    missing.forEach((ref, m) => {
      const table = decodeIndexBlock(container, index, ref.block, container.restoreBlock(ref, stored[m]));
      kept.set(ref.block, table, table.memoryBytes);
      tables.set(ref.block, table);
    });
    return tables;
  }

  /** The end of the run of `blocks`, ascending, from `from` on that may be fetched together: in bytes, and by their tables. */
  windowEnd(tables: Tables, blocks: ArrayLike<number>, from: number, maxBytes: number): number {
    let bytes = 0;
    let end = from;
    for (; end < blocks.length; end++) {
      const { offset } = this.#ref(tables, blocks[end], Part.keys);
      const last = this.#ref(tables, blocks[end], Part.ordinals);
      bytes += last.offset + last.storedLength - offset;
      if (bytes > maxBytes && end > from) break;
    }
    return end;
  }

  /** One block with its ordinals: the short way for a single look-up. */
  *fetchOne(table: BlockTable, block: number): Reading<DecodedBlock> {
    const cached = this.#cache.get(this.#keyOf(block)) as DecodedBlock | undefined;
    if (cached?.ordinals !== undefined) return cached;
    const i = block - table.firstBlock;
    const parts = cached === undefined ? [Part.keys, Part.tails, Part.ordinals] : [Part.ordinals];
    const refs = parts.map((part) => table.ref(i, part));
    const [stored] = yield [rangeOf(refs)];
    return this.#decode(block, cached, refs, partsIn(stored, refs), true);
  }

  /** Fetch `blocks`, ascending, in one batch. Each is decoded when it is asked for, so that not all need be in memory. */
  *fetch(
    tables: Tables,
    blocks: readonly number[],
    { ordinals, keep }: FetchOptions,
  ): Reading<readonly (() => DecodedBlock)[]> {
    const wanted = blocks.map((block): Wanted => {
      const cached = this.#cache.get(this.#keyOf(block)) as DecodedBlock | undefined;
      const refs: BlockRef[] = [];
      if (cached === undefined) refs.push(this.#ref(tables, block, Part.keys), this.#ref(tables, block, Part.tails));
      if (ordinals && cached?.ordinals === undefined) refs.push(this.#ref(tables, block, Part.ordinals));
      return { block, cached, refs };
    });
    // A range for each block: transports take neighbours together.
    const ranges = wanted.filter(({ refs }) => refs.length > 0).map(({ refs }) => rangeOf(refs));
    const stored = ranges.length === 0 ? [] : yield ranges;
    let next = 0;
    return wanted.map(({ block, cached, refs }) => {
      if (refs.length === 0 && cached !== undefined) return () => cached;
      const parts = partsIn(stored[next++], refs);
      return () => this.#decode(block, cached, refs, parts, keep);
    });
  }

  /** Give each of `blocks`, ascending and described by `tables`, to `use`. */
  *visit(
    tables: Tables,
    blocks: readonly number[],
    options: FetchOptions,
    use: (decoded: DecodedBlock, block: number) => void,
  ): Reading<void> {
    for (let from = 0; from < blocks.length; ) {
      const end = this.windowEnd(tables, blocks, from, WINDOW_BYTES);
      const window = blocks.slice(from, end);
      const fetched = yield* this.fetch(tables, window, options);
      for (let i = 0; i < window.length; i++) use(fetched[i](), window[i]);
      from = end;
    }
  }

  /** Where each block is, in order. */
  *ranges(): Reading<ByteRange[]> {
    const { blockCount, cuts } = this.index;
    const tables = yield* this.tables(Array.from({ length: cuts.length - 1 }, (_, i) => i));
    return Array.from({ length: blockCount }, (_, block) =>
      rangeOf([Part.keys, Part.tails, Part.ordinals].map((part) => this.#ref(tables, block, part))),
    );
  }

  /** Keys of a block. */
  keysOf(block: number): number {
    const { keyCount, blockKeys } = this.index;
    return Math.min(blockKeys, keyCount - block * blockKeys);
  }

  #ref(tables: Tables, block: number, part: number): BlockRef {
    const table = tables.get(this.indexBlockOf(block)) as BlockTable;
    return table.ref(block - table.firstBlock, part);
  }

  #decode(
    block: number,
    cached: DecodedBlock | undefined,
    refs: readonly BlockRef[],
    stored: readonly Buffer[],
    keep: boolean,
  ): DecodedBlock {
    const { index } = this;
    const container = this.#container;
    const file = container.transport.name;
    const count = this.keysOf(block);
    const parts = refs.map((ref, i) => container.restoreBlock(ref, stored[i]));
    const keys = cached?.keys ?? decodeKeys(parts[0], parts[1], count, block, file);
    // Ordinals come behind the keys where those were wanted too.
    const columns = parts.length === 2 ? undefined : parts[parts.length - 1];
    const ordinals = columns === undefined ? undefined : decodeOrdinals(columns, index.graphs, count, block, file);
    const decoded: DecodedBlock = { keys, ordinals };
    const bytes = keys.memoryBytes + (ordinals === undefined ? 0 : index.graphs * (count * 4 + 64));
    if (keep) this.#cache.set(this.#keyOf(block), decoded, bytes);
    return decoded;
  }
}

/** The stretch of the file that has all of `refs`, which lie one behind the other. */
const rangeOf = (refs: readonly BlockRef[]): ByteRange => {
  const last = refs[refs.length - 1];
  return { offset: refs[0].offset, length: last.offset + last.storedLength - refs[0].offset };
};

/** The parts at `refs` in the bytes of their range. */
const partsIn = (bytes: Buffer, refs: readonly BlockRef[]): Buffer[] =>
  refs.map(({ offset, storedLength }) => {
    const start = offset - refs[0].offset;
    return bytes.subarray(start, start + storedLength);
  });
