// Reads the columns of one graph's nodes: decoded blocks come from the cache, those missing are fetched in one batch. A block is
// decoded once, and nothing of it is believed before its checksum was right.
import { type BlockCache, newBlockKeys } from '../../container/block-cache.js';
import type { BlockRef } from '../../container/container.js';
import { CorruptError, LimitError } from '../../container/graph-error.js';
import { SectionId, sectionReader } from '../../container/layout.js';
import type { Reading } from '../../container/reading.js';
import type { GraphInfo } from '../meta.js';
import { readIntColumn } from './int-column.js';
import { COLUMNS, type Column, NODES_PER_BLOCK } from './node-table.js';
import { type ReferenceRows, readReferenceBlock } from './reference-block.js';

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

/** A block of a column. */
export interface BlockRequest {
  readonly column: Column;
  readonly block: number;
}

/** Share of the cache that all references of a graph may take. */
const KEPT_SHARE = 0.25;

const sizeOf = (decoded: Decoded): number => {
  if (decoded instanceof Float64Array) return decoded.byteLength;
  if ('bytes' in decoded) return decoded.bytes.length + decoded.offsets.byteLength;
  return decoded.reduce((sum, { offsets, targets }) => sum + offsets.byteLength + targets.byteLength, 0);
};

/** The columns of one graph. */
export class NodeColumns {
  private readonly keyOf: Readonly<Record<Column, (block: number) => string | number>> = {
    references: newBlockKeys(),
    values: newBlockKeys(),
    backPointers: newBlockKeys(),
  };

  constructor(
    private readonly name: string,
    private readonly info: GraphInfo,
    private readonly blocks: Readonly<Partial<Record<Column, readonly BlockRef[]>>>,
    private readonly cache: BlockCache,
    /** Of what is kept as a whole; nobody else may have it. */
    private readonly cacheKey: string,
    /** Memory that all blocks of a column may take at a time. */
    private readonly maxWalkBytes = Number.POSITIVE_INFINITY,
  ) {}

  /** Whether the graph keeps a column. */
  has(column: Column): boolean {
    return this.blocks[column] !== undefined;
  }

  /** The blocks asked for, decoded, in their order. */
  *load(requests: readonly BlockRequest[]): Reading<Decoded[]> {
    const keys = requests.map(({ column, block }) => this.keyOf[column](block));
    const found = keys.map((key) => this.cache.get(key) as Decoded | undefined);
    const missing = [...found.keys()].filter((i) => found[i] === undefined);
    if (missing.length > 0) {
      const refs = missing.map((i) => this.refOf(requests[i]));
      const bytes = yield refs;
      missing.forEach((i, at) => {
        const decoded = this.decode(requests[i], bytes[at]);
        found[i] = decoded;
        this.cache.set(keys[i], decoded, sizeOf(decoded));
      });
    }
    return found as Decoded[];
  }

  /** All references, kept in the cache where they do not crowd it: walks that follow read nothing. Not to be changed. */
  *keptReferences(chunkBytes: number): Reading<readonly ReferenceRows[]> {
    const key = `${this.cacheKey}:references`;
    const kept = this.cache.get(key) as readonly ReferenceRows[] | undefined;
    if (kept !== undefined) return kept;
    const rows = yield* this.allReferences(chunkBytes);
    if (sizeOf(rows) <= this.cache.maxBytes * KEPT_SHARE) this.cache.set(key, rows, sizeOf(rows));
    return rows;
  }

  /** All references of a graph, over ordinals; read in stretches of at most `chunkBytes`, and not kept. */
  *allReferences(chunkBytes: number): Reading<ReferenceRows[]> {
    const { nodeCount, referenceLists, edgeCount } = this.info;
    this.checkWalk('references', 4 * (referenceLists * (nodeCount + 1) + edgeCount));
    const refs = this.blocks.references ?? [];
    let edges = 0;
    const lists = Array.from({ length: referenceLists }, () => ({
      offsets: new Uint32Array(nodeCount + 1),
      parts: [] as Uint32Array[],
      total: 0,
    }));
    for (let start = 0; start < refs.length; ) {
      let end = start;
      for (let bytes = 0; end < refs.length && (end === start || bytes + refs[end].storedLength <= chunkBytes); end++) {
        bytes += refs[end].storedLength;
      }
      const blocks = yield refs.slice(start, end);
      for (let block = start; block < end; block++) {
        const rows = this.decode({ column: 'references', block }, blocks[block - start]) as readonly ReferenceRows[];
        rows.forEach(({ offsets, targets }, l) => {
          const list = lists[l];
          const first = block * NODES_PER_BLOCK;
          for (let i = 1; i < offsets.length; i++) list.offsets[first + i] = list.total + offsets[i];
          list.parts.push(targets);
          list.total += targets.length;
          edges += targets.length;
        });
      }
      // More than was allowed for must not be gathered.
      if (edges > edgeCount) throw this.wrongEdges();
      start = end;
    }
    if (edges !== edgeCount) throw this.wrongEdges();
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
  *allBackPointers(chunkBytes: number): Reading<Float64Array> {
    this.checkWalk('back pointers', 8 * (this.info.nodeCount + this.info.ghostCount));
    const refs = this.blocks.backPointers ?? [];
    const ranks = new Float64Array(this.info.nodeCount + this.info.ghostCount);
    for (let start = 0; start < refs.length; ) {
      let end = start;
      for (let bytes = 0; end < refs.length && (end === start || bytes + refs[end].storedLength <= chunkBytes); end++) {
        bytes += refs[end].storedLength;
      }
      const blocks = yield refs.slice(start, end);
      for (let block = start; block < end; block++) {
        ranks.set(
          this.decode({ column: 'backPointers', block }, blocks[block - start]) as Float64Array,
          block * NODES_PER_BLOCK,
        );
      }
      start = end;
    }
    return ranks;
  }

  private checkWalk(what: string, bytes: number): void {
    if (bytes <= this.maxWalkBytes) return;
    throw new LimitError(
      `all ${what} of ${this.name} take ${bytes} bytes, the limit is ${this.maxWalkBytes}: raise maxWalkBytes, or read nodes one by one`,
    );
  }

  private wrongEdges(): CorruptError {
    return new CorruptError(`${this.name} does not have the ${this.info.edgeCount} references it says it has`, 'meta');
  }

  private refOf({ column, block }: BlockRequest): BlockRef {
    const ref = this.blocks[column]?.[block];
    if (ref === undefined) throw new RangeError(`no block ${block} of ${column}`);
    return ref;
  }

  private decode({ column, block }: BlockRequest, bytes: Buffer): Decoded {
    const { nodeCount, ghostCount, referenceLists } = this.info;
    const section = COLUMNS[COLUMNS.indexOf(column)];
    const reader = sectionReader(bytes, `block ${block} of ${column} of ${this.name}`, section, block);
    const first = block * NODES_PER_BLOCK;
    const total = column === 'backPointers' ? nodeCount + ghostCount : nodeCount;
    const count = Math.min(NODES_PER_BLOCK, total - first);
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

/** The section a column is in. */
export const COLUMN_SECTIONS: Readonly<Record<Column, number>> = {
  references: SectionId.references,
  values: SectionId.values,
  backPointers: SectionId.backPointers,
};
