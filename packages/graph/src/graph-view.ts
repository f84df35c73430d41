// One graph of a file, read by ordinals: small whole numbers in topological order. A walk over them never touches a key; keys are fetched when
// somebody asks for them. A walk terminates on cycles, since each node is walked through once, and needs five bytes a node, whatever the shape
// of the graph.

import type { Container, Reading } from './container/container.js';
import { BadOptionsError, NotFoundError } from './container/graph-error.js';
import type { TransportReadOptions } from './container/transport/transport.js';
import type { Dictionary } from './dictionary/dictionary.js';
import type { GraphInfo } from './meta.js';
import type { ReferenceRows } from './nodes/node-blocks.js';
import type { NodeColumns, ValueBlock } from './nodes/node-columns.js';
import { type Column, NODES_PER_BLOCK } from './nodes/node-table.js';

/** What can be reached. */
export interface Ancestry {
  /** Ordinals, ascending: those started from and all they refer to, directly or not. */
  readonly nodes: Uint32Array;
  /** Ghosts among what was met, ascending. */
  readonly ghosts: Uint32Array;
  /** References of the list that was walked, of all nodes of the graph; shared with other walks, so not to be changed. */
  readonly references: ReferenceRows;
}

/** Ordinals from `start` to `end` that were seen. */
const seenIn = (seen: Uint8Array, start: number, end: number, count: number): Uint32Array => {
  const found = new Uint32Array(count);
  let at = 0;
  for (let ordinal = start; ordinal < end; ordinal++) if (seen[ordinal] === 1) found[at++] = ordinal;
  return found;
};

/** All that `starts`, ordinals of the graph, refer to by `rows`, and they themselves. */
const closureOf = (
  { nodeCount, ghostCount }: GraphInfo,
  references: ReferenceRows,
  starts: ArrayLike<number>,
): Ancestry => {
  const { offsets, targets } = references;
  const ordinals = nodeCount + ghostCount;
  const seen = new Uint8Array(ordinals);
  // Each ordinal is put here once, when it is first seen.
  const stack = new Uint32Array(ordinals);
  let depth = 0;
  for (let i = 0; i < starts.length; i++) {
    if (seen[starts[i]] === 1) continue;
    seen[starts[i]] = 1;
    stack[depth++] = starts[i];
  }
  let nodes = 0;
  let ghosts = 0;
  while (depth > 0) {
    const node = stack[--depth];
    if (node >= nodeCount) {
      ghosts++;
      continue;
    }
    nodes++;
    for (let i = offsets[node]; i < offsets[node + 1]; i++) {
      const target = targets[i];
      if (seen[target] === 1) continue;
      seen[target] = 1;
      stack[depth++] = target;
    }
  }
  return {
    nodes: seenIn(seen, 0, nodeCount, nodes),
    ghosts: seenIn(seen, nodeCount, ordinals, ghosts),
    references,
  };
};

/** A node as asked for. */
export interface GraphNode {
  readonly ordinal: number;
  /** True: referred to, but not in the graph; it has a key, but neither value nor references. */
  readonly isGhost: boolean;
  readonly key?: Buffer;
  readonly value?: Uint8Array;
  /** One for each reference list: ordinals. */
  readonly references?: readonly Uint32Array[];
}

/** What to fetch of a node. */
export interface NodeParts {
  readonly keys?: boolean;
  readonly values?: boolean;
  readonly references?: boolean;
}

/** Nodes of one batch of a scan. */
const SCAN_NODES = 16 * NODES_PER_BLOCK;

/**
 * One graph of a `CompactGraph`, by ordinals: nodes from 0, then ghosts, which are referred to and absent.
 *
 * Methods that end in `Sync` are for files and buffers. Rejects with `NotFoundError` for an ordinal the graph does not have,
 * `BadOptionsError` for a part it was built without, `LimitError` when a walk would take more than `maxWalkBytes`, and `CorruptError`
 * for what meets damage.
 *
 * @example
 * ```ts
 * import { BufferSink, BufferTransport, CompactGraph, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] });
 * builder.add(0, Buffer.from('child'), Buffer.from('value'), [[Buffer.from('absent')]]);
 * await builder.finish();
 * const graph = CompactGraph.openSync(new BufferTransport(sink.toBuffer())).graph(0);
 * const [node] = graph.nodesSync([graph.ordinalOfSync(Buffer.from('child'))], { values: true, references: true });
 * console.assert(Buffer.from(node.value ?? []).toString() === 'value' && node.references?.[0][0] === graph.nodeCount);
 * ```
 */
export class GraphView {
  readonly #container: Container;
  readonly #dictionary: Dictionary;
  readonly #columns: NodeColumns;

  constructor(
    readonly index: number,
    readonly info: GraphInfo,
    container: Container,
    dictionary: Dictionary,
    columns: NodeColumns,
  ) {
    this.#container = container;
    this.#dictionary = dictionary;
    this.#columns = columns;
  }

  get nodeCount(): number {
    return this.info.nodeCount;
  }

  get ghostCount(): number {
    return this.info.ghostCount;
  }

  /** The ordinal of each key, -1 for one the graph does not have; ghosts have ordinals from `nodeCount` on. One batch of reads. */
  async ordinalsOf(keys: readonly Uint8Array[], options?: TransportReadOptions): Promise<number[]> {
    const entries = await this.#dictionary.lookupMany(keys, options);
    return entries.map((entry) => entry?.ordinals[this.index] ?? -1);
  }

  ordinalsOfSync(keys: readonly Uint8Array[]): number[] {
    return this.#dictionary.lookupManySync(keys).map((entry) => entry?.ordinals[this.index] ?? -1);
  }

  ordinalOf(key: Uint8Array, options?: TransportReadOptions): Promise<number> {
    return this.#dictionary.ordinalOf(key, this.index, options);
  }

  ordinalOfSync(key: Uint8Array): number {
    return this.#dictionary.ordinalOfSync(key, this.index);
  }

  /** Nodes by ordinal, with the parts asked for: one batch of reads, two when keys are wanted. */
  nodes(ordinals: ArrayLike<number>, parts: NodeParts, options?: TransportReadOptions): Promise<GraphNode[]> {
    return this.#container.run(this.#readNodes(ordinals, parts), options);
  }

  nodesSync(ordinals: ArrayLike<number>, parts: NodeParts): GraphNode[] {
    return this.#container.runSync(this.#readNodes(ordinals, parts));
  }

  /** The keys of ordinals, in their order. */
  keysOf(ordinals: ArrayLike<number>, options?: TransportReadOptions): Promise<Buffer[]> {
    return this.#container.run(this.#readKeys(ordinals), options);
  }

  keysOfSync(ordinals: ArrayLike<number>): Buffer[] {
    return this.#container.runSync(this.#readKeys(ordinals));
  }

  /** All references, one compressed row set for each list: a few large reads, whatever the size of the graph. */
  references(options?: TransportReadOptions): Promise<ReferenceRows[]> {
    this.#need('references');
    return this.#container.run(this.#columns.allReferences(), options);
  }

  referencesSync(): ReferenceRows[] {
    this.#need('references');
    return this.#container.runSync(this.#columns.allReferences());
  }

  /** All that the nodes at `starts` refer to by one list, directly or not, and they themselves. Terminates on cycles. */
  ancestry(
    starts: ArrayLike<number>,
    { list, ...options }: TransportReadOptions & { readonly list?: number } = {},
  ): Promise<Ancestry> {
    return this.#container.run(this.#readAncestry(starts, list), options);
  }

  ancestrySync(starts: ArrayLike<number>, { list }: { readonly list?: number } = {}): Ancestry {
    return this.#container.runSync(this.#readAncestry(starts, list));
  }

  /** Rank of the key of every ordinal, ghosts included. */
  ranks(options?: TransportReadOptions): Promise<Float64Array> {
    this.#need('backPointers');
    return this.#container.run(this.#columns.allBackPointers(), options);
  }

  ranksSync(): Float64Array {
    this.#need('backPointers');
    return this.#container.runSync(this.#columns.allBackPointers());
  }

  /** All nodes in order, a batch at a time. */
  async *scan(parts: NodeParts, options?: TransportReadOptions): AsyncGenerator<readonly GraphNode[], undefined, void> {
    for (let start = 0; start < this.nodeCount; start += SCAN_NODES)
      yield this.nodes(this.#batch(start), parts, options);
  }

  *scanSync(parts: NodeParts): Generator<readonly GraphNode[], undefined, void> {
    for (let start = 0; start < this.nodeCount; start += SCAN_NODES) yield this.nodesSync(this.#batch(start), parts);
  }

  #batch(start: number): Uint32Array {
    return Uint32Array.from({ length: Math.min(SCAN_NODES, this.nodeCount - start) }, (_, i) => start + i);
  }

  *#readAncestry(starts: ArrayLike<number>, list = 0): Reading<Ancestry> {
    this.#need('references');
    for (let i = 0; i < starts.length; i++) this.#check(starts[i]);
    if (!(Number.isInteger(list) && list >= 0 && list < this.info.referenceLists))
      throw new BadOptionsError(
        `graph ${this.index} of ${this.#container.transport.name} has ${this.info.referenceLists} reference lists, no list ${list}`,
      );
    const rows = yield* this.#columns.keptReferences();
    return closureOf(this.info, rows[list], starts);
  }

  #need(column: Column): void {
    if (!this.#columns.has(column))
      throw new BadOptionsError(`graph ${this.index} of ${this.#container.transport.name} was built without ${column}`);
  }

  #check(ordinal: number): void {
    if (Number.isInteger(ordinal) && ordinal >= 0 && ordinal < this.nodeCount + this.ghostCount) return;
    throw new NotFoundError(
      `graph ${this.index} of ${this.#container.transport.name} has no node ${ordinal}: it has ${this.nodeCount}, and ${this.ghostCount} ghosts`,
    );
  }

  /** The keys of ordinals: whole histories are named by it, so it makes no object for a node. */
  *#readKeys(ordinals: ArrayLike<number>): Reading<Buffer[]> {
    this.#need('backPointers');
    const wanted = new Set<number>();
    for (let i = 0; i < ordinals.length; i++) {
      this.#check(ordinals[i]);
      wanted.add(Math.floor(ordinals[i] / NODES_PER_BLOCK));
    }
    const { backPointers } = yield* this.#columns.load({ backPointers: wanted });
    const ranks = new Float64Array(ordinals.length);
    for (let i = 0; i < ordinals.length; i++) {
      const block = backPointers.get(Math.floor(ordinals[i] / NODES_PER_BLOCK)) as Float64Array;
      ranks[i] = block[ordinals[i] % NODES_PER_BLOCK];
    }
    return yield* this.#dictionary.readingKeysAt(ranks);
  }

  *#readNodes(
    ordinals: ArrayLike<number>,
    { keys = false, values = false, references = false }: NodeParts,
  ): Reading<GraphNode[]> {
    if (values) this.#need('values');
    if (references) this.#need('references');
    if (keys) this.#need('backPointers');
    const wanted = { references: new Set<number>(), values: new Set<number>(), backPointers: new Set<number>() };
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i];
      this.#check(ordinal);
      const block = Math.floor(ordinal / NODES_PER_BLOCK);
      if (keys) wanted.backPointers.add(block);
      if (ordinal >= this.nodeCount) continue;
      if (values) wanted.values.add(block);
      if (references) wanted.references.add(block);
    }
    const loaded = yield* this.#columns.load(wanted);
    const nodes: { -readonly [K in keyof GraphNode]: GraphNode[K] }[] = [];
    const ranks: number[] = [];
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i];
      const block = Math.floor(ordinal / NODES_PER_BLOCK);
      const at = ordinal % NODES_PER_BLOCK;
      const isGhost = ordinal >= this.nodeCount;
      const node: (typeof nodes)[number] = { ordinal, isGhost };
      if (keys) ranks.push((loaded.backPointers.get(block) as Float64Array)[at]);
      if (values && !isGhost) {
        const { offsets, bytes } = loaded.values.get(block) as ValueBlock;
        node.value = bytes.subarray(offsets[at], offsets[at + 1]);
      }
      if (references) {
        const lists = isGhost ? [] : (loaded.references.get(block) ?? []);
        node.references = lists.map(({ offsets, targets }) => targets.subarray(offsets[at], offsets[at + 1]));
      }
      nodes.push(node);
    }
    if (!keys) return nodes;
    const named = yield* this.#dictionary.readingKeysAt(ranks);
    named.forEach((key, i) => {
      nodes[i].key = key;
    });
    return nodes;
  }
}
