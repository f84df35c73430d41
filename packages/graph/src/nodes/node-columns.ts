// Reads the columns of one graph's nodes: decoded blocks come from the cache, those missing are fetched in one batch. A block is
// decoded once, and nothing of it is believed before its checksum was right.
import { type BlockCache, newBlockKeys } from '../container/block-cache.js';
import type { BlockRef, Container, Reading } from '../container/container.js';
import { CorruptError, LimitError } from '../container/graph-error.js';
import { sectionReader } from '../container/layout.js';
import type { ByteRange } from '../container/transport/transport.js';
import type { GraphInfo } from '../meta.js';
import { type ReferenceRows, readIntColumn, readReferenceBlock } from './node-blocks.js';
import { COLUMNS, type Column, NODES_PER_BLOCK, nodesIn } from './node-table.js';

/** The values of a block. */
export interface ValueBlock {
  /** One more than there are nodes. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** What a block of a column is once decoded. */
export interface DecodedColumns {
  /** One for each reference list; offsets are those of the block, targets are ordinals. */
  readonly references: readonly ReferenceRows[];
  readonly values: ValueBlock;
  /** Ranks of keys. */
  readonly backPointers: Float64Array;
}

type Decoded = DecodedColumns[Column];

/** Decoded blocks of each column, by number. */
type LoadedBlocks = { readonly [C in Column]: Map<number, DecodedColumns[C]> };

/** Bytes of one stretch of a walk: few requests, bounded memory. */
const STRETCH_BYTES = 8 * 1024 * 1024;
/** Share of the cache that all references of a graph may take. */
const KEPT_SHARE = 0.25;

const sizeOf = (decoded: Decoded): number => {
  if (decoded instanceof Float64Array) return decoded.byteLength;
  if ('bytes' in decoded) return decoded.bytes.length + decoded.offsets.byteLength;
  return decoded.reduce((sum, { offsets, targets }) => sum + offsets.byteLength + targets.byteLength, 0);
};

/** The columns of one graph. */
export class NodeColumns {
  readonly #container: Container;
  readonly #info: GraphInfo;
  readonly #blocks: Readonly<Partial<Record<Column, readonly BlockRef[]>>>;
  readonly #cache: BlockCache;
  /** Memory that all blocks of a column may take at a time. */
  readonly #maxWalkBytes: number;
  readonly #keyOf: Readonly<Record<Column, (block: number) => string | number>> = {
    references: newBlockKeys(),
    values: newBlockKeys(),
    backPointers: newBlockKeys(),
  };
  /** Of all references. */
  readonly #wholeKey = newBlockKeys()(0);
  readonly #name: string;

  constructor(
    container: Container,
    info: GraphInfo,
    blocks: Readonly<Partial<Record<Column, readonly BlockRef[]>>>,
    cache: BlockCache,
    maxWalkBytes = Number.POSITIVE_INFINITY,
  ) {
    this.#container = container;
    this.#info = info;
    this.#blocks = blocks;
    this.#cache = cache;
    this.#maxWalkBytes = maxWalkBytes;
    this.#name = container.transport.name;
  }

  /** Whether the graph keeps a column. */
  has(column: Column): boolean {
    return this.#blocks[column] !== undefined;
  }

  /** Where each block of a column is in the file, in order. */
  ranges(column: Column): ByteRange[] {
    return (this.#blocks[column] ?? []).map(({ offset, storedLength }) => ({ offset, length: storedLength }));
  }

  /** The blocks asked for, each once, decoded. */
  *load(wanted: Readonly<Partial<Record<Column, Iterable<number>>>>): Reading<LoadedBlocks> {
    const loaded: LoadedBlocks = { references: new Map(), values: new Map(), backPointers: new Map() };
    const missing: { readonly column: Column; readonly block: number }[] = [];
    for (const column of COLUMNS) {
      for (const block of wanted[column] ?? []) {
        const cached = this.#cache.get(this.#keyOf[column](block));
        if (cached === undefined) missing.push({ column, block });
        else (loaded[column] as Map<number, unknown>).set(block, cached);
      }
    }
    if (missing.length === 0) return loaded;
    const refs = missing.map(({ column, block }) => this.#blocks[column]?.[block] as BlockRef);
    const bytes = yield* this.#container.blockBytes(refs);
    missing.forEach(({ column, block }, i) => {
      const decoded = this.#decode(column, block, bytes[i]);
      (loaded[column] as Map<number, Decoded>).set(block, decoded);
      this.#cache.set(this.#keyOf[column](block), decoded, sizeOf(decoded));
    });
    return loaded;
  }

  /** All references, kept in the cache where they do not crowd it: walks that follow read nothing. Not to be changed. */
  *keptReferences(): Reading<readonly ReferenceRows[]> {
    const kept = this.#cache.get(this.#wholeKey) as readonly ReferenceRows[] | undefined;
    if (kept !== undefined) return kept;
    const rows = yield* this.allReferences();
    if (sizeOf(rows) <= this.#cache.maxBytes * KEPT_SHARE) this.#cache.set(this.#wholeKey, rows, sizeOf(rows));
    return rows;
  }

  /** All references of a graph, over ordinals; not kept. */
  *allReferences(): Reading<ReferenceRows[]> {
    const { nodeCount, referenceLists, edgeCount } = this.#info;
    this.#checkWalk('references', 4 * (referenceLists * (nodeCount + 1) + edgeCount));
    let edges = 0;
    const lists = Array.from({ length: referenceLists }, () => ({
      offsets: new Uint32Array(nodeCount + 1),
      parts: [] as Uint32Array[],
      total: 0,
    }));
    yield* this.#eachBlock('references', (rows, first) => {
      rows.forEach(({ offsets, targets }, l) => {
        const list = lists[l];
        for (let i = 1; i < offsets.length; i++) list.offsets[first + i] = list.total + offsets[i];
        list.parts.push(targets);
        list.total += targets.length;
        edges += targets.length;
      });
      // More than was allowed for must not be gathered.
      if (edges > edgeCount) throw this.#wrongEdges();
    });
    if (edges !== edgeCount) throw this.#wrongEdges();
    return lists.map(({ offsets, parts, total }) => {
      const targets = new Uint32Array(total);
      let at = 0;
      for (const part of parts) {
        targets.set(part, at);
        at += part.length;
      }
      return { offsets, targets };
    });
  }

  /** All back pointers, nodes and then ghosts. */
  *allBackPointers(): Reading<Float64Array> {
    const count = nodesIn(this.#info, 'backPointers');
    this.#checkWalk('back pointers', 8 * count);
    const ranks = new Float64Array(count);
    yield* this.#eachBlock('backPointers', (block, first) => ranks.set(block, first));
    return ranks;
  }

  /** Give each block of a column to `use`, with its first ordinal; read in stretches, and not kept. */
  *#eachBlock<C extends Column>(column: C, use: (decoded: DecodedColumns[C], first: number) => void): Reading<void> {
    const refs = this.#blocks[column] ?? [];
    for (let start = 0; start < refs.length; ) {
      let end = start;
      for (let size = 0; end < refs.length && (end === start || size + refs[end].storedLength <= STRETCH_BYTES); end++)
        size += refs[end].storedLength;
      const bytes = yield* this.#container.blockBytes(refs.slice(start, end));
      for (let block = start; block < end; block++)
        use(this.#decode(column, block, bytes[block - start]) as DecodedColumns[C], block * NODES_PER_BLOCK);
      start = end;
    }
  }

  #checkWalk(what: string, bytes: number): void {
    if (bytes <= this.#maxWalkBytes) return;
    throw new LimitError(
      `all ${what} of ${this.#name} take ${bytes} bytes, the limit is ${this.#maxWalkBytes}: raise maxWalkBytes, or read nodes one by one`,
    );
  }

  #wrongEdges(): CorruptError {
    return new CorruptError(
      `${this.#name} does not have the ${this.#info.edgeCount} references it says it has`,
      'meta',
    );
  }

  #decode(column: Column, block: number, bytes: Buffer): Decoded {
    const { nodeCount, ghostCount, referenceLists } = this.#info;
    const reader = sectionReader(bytes, `block ${block} of ${column} of ${this.#name}`, column, block);
    const first = block * NODES_PER_BLOCK;
    const count = Math.min(NODES_PER_BLOCK, nodesIn(this.#info, column) - first);
    if (column === 'references')
      return readReferenceBlock(reader, referenceLists, first, count, nodeCount + ghostCount);
    if (column === 'backPointers') {
      const ranks = new Float64Array(count);
      readIntColumn(reader, ranks, count);
      reader.end();
      return ranks;
    }
    const offsets = new Uint32Array(count + 1);
    let length = 0;
    for (let i = 0; i < count; i++) {
      length += reader.varint();
      if (length > bytes.length) throw reader.corrupt('has values beyond its end');
      offsets[i + 1] = length;
    }
    const values = reader.raw(length);
    reader.end();
    return { offsets, bytes: values };
  }
}
