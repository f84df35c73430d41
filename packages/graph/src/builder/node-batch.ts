// The nodes added since the last spill, in flat lists: keys once each, references as numbers of keys. It counts every byte it holds.

import { DuplicateKeyError } from '../container/graph-error.js';
import { shownKey } from '../dictionary/key-bytes.js';
import type { GraphOptions } from './builder-options.js';
import { ByteStore } from './byte-store.js';
import { ChunkPool, MarkList, U32List } from './chunk-pool.js';
import { KeyInterner } from './key-interner.js';
import { NODE, REFERRED } from './run.js';

/** Numbers of one list at most: places are 32 bits. */
const MAX_NUMBERS = 2 ** 31;

/** What a batch keeps of one graph. */
export class GraphBatch {
  nodeCount = 0;
  edgeCount = 0;
  /** For each node the number of its key, then each list as its length and the numbers of its keys. */
  readonly numbers: U32List;
  readonly values: ByteStore;
  /** Position of each node's value. */
  readonly valueAt: U32List;
  /** What each key is in this graph. */
  readonly marks: MarkList;

  constructor(pool: ChunkPool) {
    this.numbers = new U32List(pool);
    this.values = new ByteStore(pool);
    this.valueAt = new U32List(pool);
    this.marks = new MarkList(pool);
  }

  clear(): void {
    this.nodeCount = 0;
    this.edgeCount = 0;
    this.numbers.clear();
    this.values.clear();
    this.valueAt.clear();
    this.marks.clear();
  }
}

/** Nodes in memory. */
export class NodeBatch {
  readonly #options: readonly Required<GraphOptions>[];
  readonly #pool = new ChunkPool();
  readonly keys = new KeyInterner(this.#pool);
  readonly graphs: readonly GraphBatch[];

  constructor(options: readonly Required<GraphOptions>[]) {
    this.#options = options;
    this.graphs = options.map(() => new GraphBatch(this.#pool));
  }

  /** Reference lists of each node of `graph`. */
  referenceLists(graph: number): number {
    return this.#options[graph].referenceLists;
  }

  get isEmpty(): boolean {
    return this.keys.count === 0;
  }

  /** Bytes it takes when `moreKeys` keys and `moreBytes` of content have joined. */
  bytesWith(moreKeys: number, moreBytes: number): number {
    return this.#pool.bytesWith(moreBytes) + this.keys.slotBytes(moreKeys);
  }

  /** Whether positions run out with a node of `graph` that has so many bytes, whatever the memory. */
  isFullFor(graph: number, bytes: number): boolean {
    const { values, numbers } = this.graphs[graph];
    return this.keys.bytesOf.isFullFor(bytes) || values.isFullFor(bytes) || numbers.length > MAX_NUMBERS;
  }

  /** Add a node that was checked. Throws `DuplicateKeyError`, and has changed nothing then that shows. */
  add(graph: number, key: Uint8Array, value: Uint8Array, references: readonly (readonly Uint8Array[])[]): void {
    const { keys } = this;
    const { marks, numbers, values, valueAt } = this.graphs[graph];
    const id = keys.intern(key);
    if ((marks.get(id) & NODE) !== 0) throw duplicate(graph, key);
    marks.add(id, NODE);
    numbers.push(id);
    for (const list of references) {
      numbers.push(list.length);
      for (const reference of list) {
        const target = keys.intern(reference);
        marks.add(target, REFERRED);
        numbers.push(target);
      }
      this.graphs[graph].edgeCount += list.length;
    }
    if (this.#options[graph].values) valueAt.push(values.add(value));
    this.graphs[graph].nodeCount++;
  }

  clear(): void {
    this.keys.clear();
    for (const graph of this.graphs) graph.clear();
  }

  /** Give all memory back; the batch cannot be used any more. */
  release(): void {
    this.#pool.release();
  }
}

export const duplicate = (graph: number, key: Uint8Array): DuplicateKeyError =>
  new DuplicateKeyError(`graph ${graph} has the key ${shownKey(key)} twice; add every node once`, Uint8Array.from(key));
