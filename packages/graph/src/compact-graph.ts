// A compact graph file, open for reading: several graphs over one set of keys. It is immutable; any number of readers may share it.

import { wholeNumber } from 'spanline/internal/base';
import { BlockCache, type BlockCacheStats } from './container/block-cache.js';
import { Container, type ContainerOptions, type Reading } from './container/container.js';
import { BadOptionsError, badOptions, ClosedError, CorruptError } from './container/graph-error.js';
import { NO_GRAPH, SectionId } from './container/layout.js';
import { FileTransport } from './container/transport/file-transport.js';
import { openedFrom } from './container/transport/open-transport.js';
import type {
  SyncTransport,
  Transport,
  TransportReadOptions,
  TransportStats,
} from './container/transport/transport.js';
import { Dictionary } from './dictionary/dictionary.js';
import { GraphView } from './graph-view.js';
import { decodeMeta, type GraphInfo, type GraphMeta } from './meta.js';
import { NodeColumns } from './nodes/node-columns.js';
import { columnPlace, columnsOf, decodeNodeTable } from './nodes/node-table.js';

/** How a graph file is opened. */
export interface OpenGraphOptions extends ContainerOptions {
  /** Decoded blocks kept: a cache to share with other files, or bytes of one of its own (32 MiB). */
  readonly cache?: BlockCache | number;
  /** Memory that all references, or all back pointers, of a graph may take, as walks need them. Default 1 GiB. */
  readonly maxWalkBytes?: number;
}

/** What a reader did. */
export interface CompactGraphStats {
  readonly transport: TransportStats;
  readonly cache: BlockCacheStats;
}

const DEFAULT_MAX_WALK_BYTES = 1024 * 1024 * 1024;

/**
 * Reads a compact graph file from disk, memory, HTTP or an object store.
 *
 * Open one for each file and keep it: the first look-up costs three reads (the tail, a block of keys, a block of nodes), those that
 * follow two or none. Close it when done. Everything rejects with a `GraphError`.
 *
 * @example
 * ```ts
 * import { BufferSink, CompactGraph, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] });
 * const [a, b] = [Buffer.from('a'), Buffer.from('b')];
 * builder.add(0, a, Buffer.from('first'), [[]]);
 * builder.add(0, b, Buffer.from('second'), [[a]]);
 * await builder.finish();
 * const file = await CompactGraph.open(sink.toBuffer());
 * const graph = file.graph(0);
 * const { nodes } = await graph.ancestry([await graph.ordinalOf(b)]);
 * console.assert(nodes.length === 2);
 * await file.close();
 * ```
 */
export class CompactGraph {
  readonly #cache: BlockCache;
  readonly #views: readonly GraphView[];
  #isClosed = false;

  private constructor(
    readonly container: Container,
    readonly meta: GraphMeta,
    /** Keys of all graphs. */
    readonly dictionary: Dictionary,
    cache: BlockCache,
    tables: readonly Buffer[],
    maxWalkBytes: number,
  ) {
    this.#cache = cache;
    const { name } = container.transport;
    this.#views = meta.graphs.map((info, i) => {
      const columns = columnsOf(info);
      const places = columns.map((column) => columnPlace(container, info, i, column));
      const blocks = decodeNodeTable(tables[i], places, name);
      const byColumn = Object.fromEntries(columns.map((column, c) => [column, blocks[c]]));
      const reader = new NodeColumns(container, info, byColumn, cache, maxWalkBytes);
      return new GraphView(i, info, container, dictionary, reader);
    });
  }

  /** Open a path, an address (http, https, s3), bytes, or a transport of your own. */
  static open(source: string | Uint8Array | Transport, options: OpenGraphOptions = {}): Promise<CompactGraph> {
    return openedFrom(source, async (transport) => {
      const container = await Container.open(transport, options);
      return container.run(CompactGraph.#opening(container, options), options);
    });
  }

  /** Open a local file at once; its graphs have the methods that end in `Sync`. */
  static openSync(path: string | SyncTransport, options: OpenGraphOptions = {}): CompactGraph {
    const transport = typeof path === 'string' ? FileTransport.openSync(path) : path;
    try {
      const container = Container.openSync(transport, options);
      return container.runSync(CompactGraph.#opening(container, options));
    } catch (error) {
      void transport.close().catch(() => {});
      throw error;
    }
  }

  static *#opening(
    container: Container,
    { cache: cacheOrBytes, maxWalkBytes = DEFAULT_MAX_WALK_BYTES }: OpenGraphOptions,
  ): Reading<CompactGraph> {
    const { name } = container.transport;
    const [metaBytes] = yield* container.sectionBytes([container.need(SectionId.meta)]);
    const meta = decodeMeta(metaBytes, name);
    const tables = yield* container.sectionBytes(
      meta.graphs.map((_, graph) => container.need(SectionId.nodeTable, graph)),
    );
    const cache = cacheOrBytes instanceof BlockCache ? cacheOrBytes : new BlockCache(cacheOrBytes);
    const dictionary = yield* Dictionary.opening(container, { cache, graphs: meta.graphs.length });
    wholeNumber('maxWalkBytes', maxWalkBytes, [0], badOptions);
    if (dictionary.keyCount !== meta.keyCount)
      throw new CorruptError(`${name} has ${dictionary.keyCount} keys and says it has ${meta.keyCount}`, 'meta');
    // Readers size what they keep by the number of nodes, and every node has a key of its own.
    if (meta.graphs.some(({ nodeCount, ghostCount }) => nodeCount + ghostCount > meta.keyCount))
      throw new CorruptError(`${name} says it has more nodes than keys`, 'meta');
    return new CompactGraph(container, meta, dictionary, cache, tables, maxWalkBytes);
  }

  get keyCount(): number {
    return this.meta.keyCount;
  }

  /** What is known of each graph. */
  get graphs(): readonly GraphInfo[] {
    return this.meta.graphs;
  }

  /** One graph. */
  graph(index: number): GraphView {
    if (this.#isClosed) throw new ClosedError(`${this.container.transport.name} is closed`);
    const view = this.#views[index];
    if (view !== undefined) return view;
    throw new BadOptionsError(`${this.container.transport.name} has ${this.#views.length} graphs, no graph ${index}`);
  }

  /** The bytes of an extra section, if the file has it. */
  async extraSection(id: number, graph = NO_GRAPH, options?: TransportReadOptions): Promise<Buffer | undefined> {
    const entry = this.container.find(id, graph);
    return entry === undefined ? undefined : (await this.container.read([entry], options))[0];
  }

  extraSectionSync(id: number, graph = NO_GRAPH): Buffer | undefined {
    const entry = this.container.find(id, graph);
    return entry === undefined ? undefined : this.container.readSync([entry])[0];
  }

  stats(): CompactGraphStats {
    return { transport: this.container.transport.stats(), cache: this.#cache.stats() };
  }

  /** Forget decoded blocks. */
  clearCache(): void {
    this.#cache.clear();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.container.transport.close();
  }
}
