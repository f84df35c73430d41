// One graph of a file, read by ordinals: small whole numbers in topological order. A walk over them never touches a key; keys are
// fetched when somebody asks for them.
import type { Container } from './container/container.js';
import type { Dictionary } from './dictionary/dictionary.js';
import { BadOptionsError, NotFoundError } from './graph-error.js';
import type { GraphInfo } from './meta.js';
import type { BlockRequest, DecodedColumns, NodeColumns } from './nodes/node-columns.js';
import { type Column, NODES_PER_BLOCK } from './nodes/node-table.js';
import type { ReferenceRows } from './nodes/reference-block.js';
import { type Reading, runReading, runReadingSync } from './reading.js';
import type { TransportReadOptions } from './transport/transport.js';

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

/** What can be reached. */
export interface Ancestry {
  /** Ordinals, ascending: those started from and all they refer to, directly or not. */
  readonly nodes: Uint32Array;
  /** Ghosts among what was met, ascending. */
  readonly ghosts: Uint32Array;
}

/** Bytes of one stretch of a walk: few requests, bounded memory. */
const CHUNK_BYTES = 8 * 1024 * 1024;
/** Nodes of one batch of a scan. */
const SCAN_NODES = 16 * NODES_PER_BLOCK;

const NONE: readonly Uint32Array[] = [];

/** One graph of a `CompactGraph`. */
export class GraphView {
  constructor(
    private readonly name: string,
    readonly index: number,
    readonly info: GraphInfo,
    private readonly container: Container,
    private readonly dictionary: Dictionary,
    private readonly columns: NodeColumns,
  ) {}

  get nodeCount(): number {
    return this.info.nodeCount;
  }

  get ghostCount(): number {
    return this.info.ghostCount;
  }

  /** The ordinal of each key, -1 for one the graph does not have; ghosts have ordinals from `nodeCount` on. One batch of reads. */
  async ordinalsOf(keys: readonly Uint8Array[], options?: TransportReadOptions): Promise<number[]> {
    const entries = await this.dictionary.lookupMany(keys, options);
    return entries.map((entry) => entry?.ordinals[this.index] ?? -1);
  }

  async ordinalOf(key: Uint8Array, options?: TransportReadOptions): Promise<number> {
    return (await this.dictionary.lookup(key, options))?.ordinals[this.index] ?? -1;
  }

  ordinalOfSync(key: Uint8Array): number {
    return this.dictionary.lookupSync(key)?.ordinals[this.index] ?? -1;
  }

  /** Nodes by ordinal, with the parts asked for: one batch of reads, two when keys are wanted. */
  async nodes(ordinals: ArrayLike<number>, parts: NodeParts, options?: TransportReadOptions): Promise<GraphNode[]> {
    const { nodes, ranks } = await runReading(this.readNodes(ordinals, parts), this.container, options);
    if (ranks === undefined) return nodes;
    const keys = await this.dictionary.keysAt(ranks, options);
    return nodes.map((node, i) => ({ ...node, key: keys[i] }));
  }

  nodesSync(ordinals: ArrayLike<number>, parts: NodeParts): GraphNode[] {
    const { nodes, ranks } = runReadingSync(this.readNodes(ordinals, parts), this.container);
    if (ranks === undefined) return nodes;
    const keys = this.dictionary.keysAtSync(ranks);
    return nodes.map((node, i) => ({ ...node, key: keys[i] }));
  }

  /** The keys of ordinals, in their order. */
  async keysOf(ordinals: ArrayLike<number>, options?: TransportReadOptions): Promise<Buffer[]> {
    return (await this.nodes(ordinals, { keys: true }, options)).map(({ key }) => key as Buffer);
  }

  /** All references, one compressed row set for each list: a few large reads, whatever the size of the graph. */
  references(options?: TransportReadOptions): Promise<ReferenceRows[]> {
    this.need('references');
    return runReading(this.columns.allReferences(CHUNK_BYTES), this.container, options);
  }

  referencesSync(): ReferenceRows[] {
    this.need('references');
    return runReadingSync(this.columns.allReferences(CHUNK_BYTES), this.container);
  }

  /** All that the nodes at `starts` refer to by one list, directly or not, and they themselves. Terminates on cycles. */
  async ancestry(
    starts: ArrayLike<number>,
    { list, ...options }: TransportReadOptions & { readonly list?: number } = {},
  ): Promise<Ancestry> {
    return this.close(starts, (await this.references(options))[this.listOf(list)]);
  }

  ancestrySync(starts: ArrayLike<number>, { list }: { readonly list?: number } = {}): Ancestry {
    return this.close(starts, this.referencesSync()[this.listOf(list)]);
  }

  /** Rank of the key of every ordinal, ghosts included. */
  ranks(options?: TransportReadOptions): Promise<Float64Array> {
    this.need('backPointers');
    return runReading(this.columns.allBackPointers(CHUNK_BYTES), this.container, options);
  }

  /** All nodes in order, a batch at a time. */
  async *scan(parts: NodeParts, options?: TransportReadOptions): AsyncGenerator<readonly GraphNode[], undefined, void> {
    for (let start = 0; start < this.nodeCount; start += SCAN_NODES) {
      const count = Math.min(SCAN_NODES, this.nodeCount - start);
      yield await this.nodes(
        Uint32Array.from({ length: count }, (_, i) => start + i),
        parts,
        options,
      );
    }
  }

  private listOf(list = 0): number {
    if (Number.isInteger(list) && list >= 0 && list < this.info.referenceLists) return list;
    throw new BadOptionsError(
      `graph ${this.index} of ${this.name} has ${this.info.referenceLists} reference lists, no list ${list}`,
    );
  }

  private need(column: Column): void {
    if (!this.columns.has(column))
      throw new BadOptionsError(`graph ${this.index} of ${this.name} was built without ${column}`);
  }

  private check(ordinal: number): void {
    if (Number.isInteger(ordinal) && ordinal >= 0 && ordinal < this.nodeCount + this.ghostCount) return;
    throw new NotFoundError(
      `graph ${this.index} of ${this.name} has no node ${ordinal}: it has ${this.nodeCount}, and ${this.ghostCount} ghosts`,
    );
  }

  private *readNodes(
    ordinals: ArrayLike<number>,
    { keys = false, values = false, references = false }: NodeParts,
  ): Reading<{ nodes: GraphNode[]; ranks?: number[] }> {
    if (values) this.need('values');
    if (references) this.need('references');
    if (keys) this.need('backPointers');
    const places = new Map<string, number>();
    const requests: BlockRequest[] = [];
    const request = (column: Column, block: number): void => {
      const key = `${column}${block}`;
      if (places.has(key)) return;
      places.set(key, requests.length);
      requests.push({ column, block });
    };
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i];
      this.check(ordinal);
      const block = Math.floor(ordinal / NODES_PER_BLOCK);
      if (keys) request('backPointers', block);
      if (ordinal >= this.nodeCount) continue;
      if (values) request('values', block);
      if (references) request('references', block);
    }
    const decoded = yield* this.columns.load(requests);
    const part = <C extends Column>(column: C, block: number): DecodedColumns[C] =>
      decoded[places.get(`${column}${block}`) as number] as DecodedColumns[C];
    const nodes: GraphNode[] = [];
    const ranks: number[] = [];
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i];
      const block = Math.floor(ordinal / NODES_PER_BLOCK);
      const at = ordinal % NODES_PER_BLOCK;
      const isGhost = ordinal >= this.nodeCount;
      const node: { -readonly [K in keyof GraphNode]: GraphNode[K] } = { ordinal, isGhost };
      if (keys) ranks.push(part('backPointers', block)[at]);
      if (values && !isGhost) {
        const { offsets, bytes } = part('values', block);
        node.value = bytes.subarray(offsets[at], offsets[at + 1]);
      }
      if (references) {
        node.references = isGhost
          ? NONE
          : part('references', block).map(({ offsets, targets }) => targets.subarray(offsets[at], offsets[at + 1]));
      }
      nodes.push(node);
    }
    return keys ? { nodes, ranks } : { nodes };
  }

  private close(starts: ArrayLike<number>, { offsets, targets }: ReferenceRows): Ancestry {
    const { nodeCount, ghostCount } = this;
    const seen = new Uint8Array(nodeCount + ghostCount);
    const stack = new Uint32Array(nodeCount + ghostCount);
    let depth = 0;
    let ghostsSeen = 0;
    for (let i = 0; i < starts.length; i++) {
      this.check(starts[i]);
      if (seen[starts[i]] === 1) continue;
      seen[starts[i]] = 1;
      stack[depth++] = starts[i];
    }
    let count = 0;
    while (depth > 0) {
      const node = stack[--depth];
      if (node >= nodeCount) {
        ghostsSeen++;
        continue;
      }
      count++;
      for (let i = offsets[node]; i < offsets[node + 1]; i++) {
        const target = targets[i];
        if (seen[target] === 1) continue;
        seen[target] = 1;
        stack[depth++] = target;
      }
    }
    const nodes = new Uint32Array(count);
    const ghosts = new Uint32Array(ghostsSeen);
    let at = 0;
    for (let node = 0; node < nodeCount; node++) if (seen[node] === 1) nodes[at++] = node;
    at = 0;
    for (let node = nodeCount; node < nodeCount + ghostCount; node++) if (seen[node] === 1) ghosts[at++] = node;
    return { nodes, ghosts };
  }
}
