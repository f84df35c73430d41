// The nodes added since the last spill, in flat lists: keys once each, references as numbers of keys. It counts every byte it holds. Sorted,
// it is the only run when everything fits into memory, and what a spilled run is written from; nothing may be added to it any more then.

import { DuplicateKeyError } from '../container/graph-error.js';
import { shownKey } from '../dictionary/key-bytes.js';
import type { GraphOptions } from './builder-options.js';
import { ByteStore, ChunkPool, MarkList, U32List } from './chunk-pool.js';
import { KeyInterner, sortKeys } from './key-interner.js';
import {
  type GraphKeys,
  GraphKeysCounter,
  type KeyCursor,
  type KeySpace,
  NODE,
  type NodeNumbers,
  REFERRED,
  type Run,
  standing,
} from './run.js';

/** Numbers of one list at most: places are 32 bits. */
const MAX_NUMBERS = 2 ** 31;

/** What a batch keeps of one graph. */
class GraphBatch {
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

/** A sorted batch. Local numbers of keys are those of the batch, in the order of their first appearance. */
export class MemoryRun implements Run {
  /** Numbers of the keys in the order of their bytes. */
  readonly sorted: Uint32Array;

  constructor(readonly batch: NodeBatch) {
    this.sorted = sortKeys(batch.keys);
  }

  get keyCount(): number {
    return this.sorted.length;
  }

  nodeCount(graph: number): number {
    return this.batch.graphs[graph].nodeCount;
  }

  keys(): KeyCursor {
    return new MemoryKeys(this);
  }

  nodes(graph: number): NodeNumbers {
    const { numbers } = this.batch.graphs[graph];
    let at = 0;
    return {
      next: () => numbers.get(at++),
      skip: (count) => {
        at += count;
      },
    };
  }

  /** The value of the node that was added to `graph` as number `node`, as a view. */
  value(graph: number, node: number): Uint8Array {
    const { values, valueAt } = this.batch.graphs[graph];
    return values.get(valueAt.get(node));
  }
}

class MemoryKeys implements KeyCursor {
  local = -1;
  readonly #run: MemoryRun;
  #at = 0;
  #view: Uint8Array = Buffer.alloc(0);

  constructor(run: MemoryRun) {
    this.#run = run;
  }

  next(): boolean {
    if (this.#at === this.#run.sorted.length) return false;
    this.local = this.#run.sorted[this.#at++];
    return true;
  }

  /** Keys of one length share a view: most files have no other, and a view costs more than its bytes. */
  get key(): Uint8Array {
    const { bytesOf, positions } = this.#run.batch.keys;
    const position = positions.get(this.local);
    const length = bytesOf.length(position);
    if (this.#view.length !== length) this.#view = Buffer.allocUnsafeSlow(length);
    const view = this.#view;
    const chunk = bytesOf.chunk(position);
    for (let i = 0, at = bytesOf.start(position); i < length; i++, at++) view[i] = chunk[at];
    return view;
  }

  marks(graph: number): number {
    return this.#run.batch.graphs[graph].marks.get(this.local);
  }
}

/** The keys of a file that is built from one run in memory. */
export class MemoryKeySpace implements KeySpace {
  readonly graphs: readonly GraphKeys[];
  readonly #run: MemoryRun;
  /** The last answer of `numbers`, for a graph is gone through several times. */
  #known: { readonly graph: number; readonly numbers: Uint32Array } | undefined;

  constructor(run: MemoryRun, groupBytes: number) {
    this.#run = run;
    const graphs = run.batch.graphs.length;
    const counter = new GraphKeysCounter(graphs, groupBytes);
    for (const keys = run.keys(); keys.next(); ) {
      if (groupBytes > 0) counter.nextKey(keys.key);
      for (let graph = 0; graph < graphs; graph++) counter.count(graph, standing(keys.marks(graph)));
    }
    this.graphs = counter.result();
  }

  get keyCount(): number {
    return this.#run.keyCount;
  }

  keys(): KeyCursor {
    return this.#run.keys();
  }

  numbers(_run: number, graph: number): Uint32Array {
    if (this.#known?.graph !== graph) this.#known = { graph, numbers: this.#resolve(graph) };
    return this.#known.numbers;
  }

  #resolve(graph: number): Uint32Array {
    const { sorted, batch } = this.#run;
    const { marks } = batch.graphs[graph];
    const numbers = new Uint32Array(sorted.length);
    let node = 0;
    let ghost = this.graphs[graph].nodeCount;
    for (const id of sorted) {
      const bits = marks.get(id);
      if ((bits & NODE) !== 0) numbers[id] = node++;
      else if (bits !== 0) numbers[id] = ghost++;
    }
    return numbers;
  }
}
