// The nodes of one graph of a damaged file, in order, each with what is left of it.
import { BlockCache } from '../container/block-cache.js';
import type { GraphInfo } from '../meta.js';
import { type DecodedColumns, NodeColumns } from '../nodes/node-columns.js';
import { type Column, NODES_PER_BLOCK } from '../nodes/node-table.js';
import type { DamagedFile, FoundBlocks } from './damaged-file.js';
import type { SalvagedKeys } from './salvaged-keys.js';

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
