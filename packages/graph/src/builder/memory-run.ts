// A batch that nothing more is added to, sorted: the only run when everything fits into memory, and what a spilled run is written from.

import type { U32List } from './chunk-pool.js';
import { sortKeys } from './key-sort.js';
import type { NodeBatch } from './node-batch.js';
import {
  type GraphKeys,
  GraphKeysCounter,
  type KeyCursor,
  type KeySpace,
  NODE,
  type NodeNumbers,
  type Run,
  standing,
} from './run.js';

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
    return new MemoryNumbers(numbers);
  }

  /** The value of the node that was added to `graph` as number `node`, as a view. */
  value(graph: number, node: number): Uint8Array {
    const { values, valueAt } = this.batch.graphs[graph];
    return values.get(valueAt.get(node));
  }
}

class MemoryNumbers implements NodeNumbers {
  readonly #numbers: U32List;
  #at = 0;

  constructor(numbers: U32List) {
    this.#numbers = numbers;
  }

  next(): number {
    return this.#numbers.get(this.#at++);
  }

  skip(count: number): void {
    this.#at += count;
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
