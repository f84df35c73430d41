// Builds a compact graph file from nodes in any order. Nodes stay in memory below a cap and go to a temporary file beyond it; the file appears whole
// at the end, or not at all. Memory is counted before any of it is taken: what would not fit must be refused, not tried.
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { orThrow } from 'spanline/internal/base';
import { DEFAULT_MAX_INFLATED_BYTES } from '../container/codec.js';
import { AtomicFileSink, type ByteSink, ContainerWriter } from '../container/container-writer.js';
import { BadOptionsError, ClosedError, LimitError, TransportError } from '../container/graph-error.js';
import { FIRST_EXTRA_SECTION } from '../container/layout.js';
import { shownKey } from '../dictionary/key-bytes.js';
import type { GraphInfo } from '../meta.js';
import {
  type CheckedOptions,
  checkNode,
  checkOptions,
  type GraphBuilderOptions,
  type GraphOptions,
} from './builder-options.js';
import { SORT_BYTES_PER_KEY } from './key-interner.js';
import { MemoryKeySpace, MemoryRun, NodeBatch } from './node-batch.js';
import { SpillFile } from './spill-file.js';
import { MergedKeys, maxRuns, SpilledRun } from './spilled-run.js';
import { type ExtraSection, type GraphSource, spilledValues, valuesInMemory, writeGraph } from './write-graph.js';

/** What is known of a graph before it is ordered. */
interface GraphSize {
  readonly nodes: number;
  readonly ghosts: number;
  readonly edges: number;
}

/** What is known of a file before it is ordered. */
interface BuildSize {
  /** Keys of all runs, each once; or a number that is not less. */
  readonly keys: number;
  /** Keys of the largest run. */
  readonly runKeys: number;
  readonly graphs: readonly GraphSize[];
  /** Bytes held all the time: the batch, extra sections. */
  readonly bufferedBytes: number;
}

/** Buffers for blocks being written, and one temporary-file buffer for each thing that is read or written at a time. */
const BUFFER_BYTES = 512 * 1024;
/** What the dictionary keeps of its blocks until it writes its index. */
const INDEX_BYTES_PER_KEY = 4;
/** Hashes, their sorted copy and the filter made of them. */
const FILTER_BYTES_PER_KEY = 48;
/** Place in the order, state, and stack of the walk that finds it: the worst case is a single chain. */
const WALK_BYTES_PER_NODE = 4 + 2 + 32;

const orderBytes = ({ nodes, edges }: GraphSize, isReversed: boolean, hasGroups: boolean): number =>
  4 * (nodes + edges) +
  (isReversed ? 8 * nodes + 4 * edges : 0) +
  (hasGroups ? 8 * nodes : 0) +
  WALK_BYTES_PER_NODE * nodes;

const columnBytes = ({ nodes, ghosts, edges }: GraphSize, lists: number): number =>
  4 * nodes * lists + 4 * edges + 4 * (nodes + ghosts) + 4 * nodes;

/** Bytes that ordering and writing takes at most at a time. */
const finishBytes = ({ keys, runKeys, graphs, bufferedBytes }: BuildSize, options: CheckedOptions): number => {
  let ordinals = 0;
  let max = 0;
  graphs.forEach((size, i) => {
    const { order, referenceLists } = options.graphs[i];
    ordinals += 4 * size.nodes;
    const ordering = orderBytes(size, order !== 'child-first', order === 'trace-contiguous');
    max = Math.max(max, ordering, columnBytes(size, referenceLists));
  });
  const dictionary = keys * (INDEX_BYTES_PER_KEY + (options.filter ? FILTER_BYTES_PER_KEY : 0));
  return bufferedBytes + BUFFER_BYTES + 4 * runKeys + ordinals + dictionary + max;
};

/** Bytes that sorting a batch takes beside the batch. */
const sortBytes = (keys: number): number => BUFFER_BYTES + SORT_BYTES_PER_KEY * keys;

/** What was built. */
export interface BuildStats {
  /** Bytes of the file. */
  readonly bytes: number;
  readonly keyCount: number;
  readonly graphs: readonly GraphInfo[];
  /** Batches that did not fit into memory; 0 when all did. */
  readonly spilledRuns: number;
  /** Bytes of the temporary file; 0 when there was none. */
  readonly spilledBytes: number;
}

const LAST_EXTRA_SECTION = 0xffff;
/** What a key or reference may add to a batch beside its own bytes. */
const NUMBER_BYTES = 16;
/** Share of the memory that merges keys. */
const MERGE_SHARE = 0.25;
/** Share of the memory that is left for putting spilled values in order. */
const VALUE_SHARE = 0.125;

/** Bytes a node may add to a batch, and its keys. */
const sizeOf = (
  key: Uint8Array,
  value: Uint8Array,
  references: readonly (readonly Uint8Array[])[],
): { readonly keys: number; readonly bytes: number } => {
  let keys = 1;
  let bytes = key.length + value.length + NUMBER_BYTES;
  for (const list of references) {
    keys += list.length;
    for (const reference of list) bytes += reference.length + NUMBER_BYTES;
  }
  return { keys, bytes };
};

/**
 * Builds a compact graph file: add nodes in any order, then `finish`.
 *
 * Use it to index a history or traces once and read them many times; files never change. The same nodes give the same bytes, in whatever
 * order they were added and however much memory there was. Beyond `memoryBytes` nodes go to a temporary file, which no end of the builder
 * leaves behind; the process may grow by 128 MiB more than `memoryBytes`, for garbage not yet collected, and by three times the largest
 * 512 neighbouring values. Throws `BadOptionsError`, and `TransportError` when the target's directory cannot be written.
 *
 * @example
 * ```ts
 * import { BufferSink, CompactGraph, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] });
 * const [first, second] = [Buffer.from('first'), Buffer.from('second')];
 * builder.add(0, second, Buffer.from('2'), [[first]]);
 * builder.add(0, first, Buffer.from('1'), [[]]);
 * const { keyCount } = await builder.finish();
 * console.assert(keyCount === 2);
 * const file = await CompactGraph.open(sink.toBuffer());
 * console.assert((await file.graph(0).ordinalOf(second)) === 0);
 * await file.close();
 * ```
 */
export class CompactGraphBuilder {
  readonly #target: string | ByteSink;
  readonly #options: CheckedOptions;
  readonly #extraSections: ExtraSection[] = [];
  readonly #runs: SpilledRun[] = [];
  /** Nodes and references of spilled runs, for each graph. */
  readonly #spilledSizes: { nodes: number; ghosts: number; edges: number }[];
  readonly #batch: NodeBatch;
  #extraBytes = 0;
  #spillFile: SpillFile | undefined;
  #isOpen = true;

  /** @param target A path, which is replaced when the file is complete, or a sink. */
  constructor(target: string | ByteSink, options: GraphBuilderOptions) {
    this.#target = target;
    this.#options = checkOptions(options);
    if (typeof target === 'string') checkWritable(dirname(target));
    this.#batch = new NodeBatch(this.#options.graphs);
    this.#spilledSizes = this.#options.graphs.map(() => ({ nodes: 0, ghosts: 0, edges: 0 }));
  }

  /**
   * Add a node to graph `graph`, with a list of referred keys for each of the graph's reference lists; keys may be added later, or never.
   * All bytes are copied. Throws `BadKeyError`, `BadValueError` or `DuplicateKeyError` (a double in spilled nodes shows in `finish`), and
   * the builder stays as it was; `LimitError` when a node or its graph needs more than `memoryBytes`.
   */
  add(
    graph: number,
    key: Uint8Array,
    value: Uint8Array | undefined,
    references: readonly (readonly Uint8Array[])[],
  ): void {
    this.#checkOpen();
    const kept = checkNode(this.#graphOptions(graph), key, value, references);
    const size = sizeOf(key, kept, references);
    if (!this.#hasRoom(graph, size.keys, size.bytes) && !this.#batch.isEmpty) this.#guarded(() => this.#spill());
    if (!this.#hasRoom(graph, size.keys, size.bytes)) {
      throw new LimitError(
        `the node ${shownKey(key)} takes ${size.bytes} bytes, more than memoryBytes (${this.#options.memoryBytes}) allows`,
      );
    }
    this.#batch.add(graph, key, kept, references);
  }

  /** Keep `bytes` with the file as section `id`, 1000 to 65535, of one graph or of the whole file. They stay in memory until `finish`. */
  extraSection(id: number, graph: number | undefined, bytes: Uint8Array): void {
    this.#checkOpen();
    if (!Number.isInteger(id) || id < FIRST_EXTRA_SECTION || id > LAST_EXTRA_SECTION)
      throw new BadOptionsError(
        `extra sections have ids from ${FIRST_EXTRA_SECTION} to ${LAST_EXTRA_SECTION}, not ${id}`,
      );
    if (graph !== undefined) this.#graphOptions(graph);
    if (this.#extraSections.some((section) => section.id === id && section.graph === graph))
      throw new BadOptionsError(`section ${id} was added already`);
    if (bytes.length > DEFAULT_MAX_INFLATED_BYTES) {
      throw new LimitError(
        `section ${id} has ${bytes.length} bytes, more than the ${DEFAULT_MAX_INFLATED_BYTES} that readers accept: split it`,
      );
    }
    if (this.#extraBytes + bytes.length > this.#options.memoryBytes / 2) {
      throw new LimitError(
        `extra sections take more than half of memoryBytes (${this.#options.memoryBytes}): raise it`,
      );
    }
    this.#extraBytes += bytes.length;
    this.#extraSections.push({ id, graph, bytes: Buffer.from(bytes) });
  }

  /**
   * Write the file and close the builder. It works in one go, about a second for 500,000 nodes; what is awaited is only the next turn.
   * Rejects with `DuplicateKeyError`, `CycleError`, `LimitError` or `TransportError`, and nothing is left behind then.
   */
  async finish(): Promise<BuildStats> {
    return this.finishSync();
  }

  /** The same at once. */
  finishSync(): BuildStats {
    this.#checkOpen();
    return this.#guarded(() => {
      const stats = this.#runs.length === 0 && this.#fitsInMemory() ? this.#finishInMemory() : this.#finishSpilled();
      this.#close();
      return stats;
    });
  }

  /** Give up: nothing is left behind. Harmless after `finish`. */
  abort(): void {
    if (!this.#isOpen) return;
    this.#close();
    if (typeof this.#target !== 'string') this.#target.abort();
  }

  #checkOpen(): void {
    if (!this.#isOpen)
      throw new ClosedError('the builder was finished, was aborted or has failed: build with a new one');
  }

  #graphOptions(graph: number): Required<GraphOptions> {
    const { graphs } = this.#options;
    if (graphs[graph] !== undefined) return graphs[graph];
    throw new BadOptionsError(`the file is built with ${graphs.length} graphs, there is no graph ${graph}`);
  }

  /** What fails in the middle cannot go on. */
  #guarded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  #close(): void {
    this.#isOpen = false;
    this.#spillFile?.close();
    this.#runs.length = 0;
    this.#extraSections.length = 0;
    this.#batch.release();
  }

  #hasRoom(graph: number, keys: number, bytes: number): boolean {
    const extraBytes = this.#extraBytes;
    if (this.#batch.isFullFor(graph, bytes)) return false;
    const sorting = sortBytes(this.#batch.keys.count + keys);
    return this.#batch.bytesWith(keys, bytes) + sorting + extraBytes <= this.#options.memoryBytes;
  }

  #fitsInMemory(): boolean {
    const extraBytes = this.#extraBytes;
    const keys = this.#batch.keys.count;
    const graphs = this.#batch.graphs.map(({ nodeCount, edgeCount }) => ({
      nodes: nodeCount,
      ghosts: Math.min(edgeCount, keys - nodeCount),
      edges: edgeCount,
    }));
    const bufferedBytes = this.#batch.bytesWith(0, 0) + 4 * keys + extraBytes;
    return finishBytes({ keys, runKeys: keys, graphs, bufferedBytes }, this.#options) <= this.#options.memoryBytes;
  }

  #finishInMemory(): BuildStats {
    const run = new MemoryRun(this.#batch);
    const space = new MemoryKeySpace(run, this.#groupBytes());
    const input = { runs: [run], space };
    return this.#write({
      ...input,
      edgeCounts: this.#batch.graphs.map(({ edgeCount }) => edgeCount),
      extraSections: this.#extraSections,
      values: (ordered) => valuesInMemory(input, run, ordered),
    });
  }

  #finishSpilled(): BuildStats {
    if (!this.#batch.isEmpty) this.#spill();
    this.#batch.release();
    const { memoryBytes } = this.#options;
    const file = this.#spillFile as SpillFile;
    const space = new MergedKeys(
      file,
      this.#runs,
      this.#options.graphs.length,
      this.#groupBytes(),
      memoryBytes * MERGE_SHARE,
    );
    space.graphs.forEach(({ ghostCount }, graph) => {
      this.#spilledSizes[graph].ghosts = ghostCount;
    });
    const left = this.#checkOrderable(space.keyCount);
    const input = { runs: this.#runs, space, file };
    return this.#write({
      ...input,
      edgeCounts: this.#spilledSizes.map(({ edges }) => edges),
      extraSections: this.#extraSections,
      values: (ordered) => spilledValues(input, ordered, left),
    });
  }

  #write(source: GraphSource): BuildStats {
    const sink = typeof this.#target === 'string' ? new AtomicFileSink(this.#target) : this.#target;
    const spilledRuns = this.#runs.length;
    try {
      const { bytes, graphs } = writeGraph(new ContainerWriter(sink, this.#options.compression), source, this.#options);
      return { bytes, keyCount: source.space.keyCount, graphs, spilledRuns, spilledBytes: this.#spillFile?.size ?? 0 };
    } catch (error) {
      sink.abort();
      throw error;
    }
  }

  /** Bytes at the start of keys that matter to the order. */
  #groupBytes(): number {
    const { graphs, groupBytes } = this.#options;
    return graphs.some(({ order }) => order === 'trace-contiguous') ? groupBytes : 0;
  }

  #spill(): void {
    this.#batch.graphs.forEach(({ nodeCount, edgeCount }, graph) => {
      this.#spilledSizes[graph].nodes += nodeCount;
      this.#spilledSizes[graph].edges += edgeCount;
    });
    if (this.#runs.length === maxRuns(this.#options.memoryBytes * MERGE_SHARE)) {
      throw new LimitError(
        `nodes take more than ${this.#runs.length} times memoryBytes (${this.#options.memoryBytes}): raise it, or build several files and merge them`,
      );
    }
    this.#checkOrderable(0);
    this.#spillFile ??= new SpillFile(this.#options.tempDir);
    this.#runs.push(SpilledRun.write(this.#spillFile, new MemoryRun(this.#batch)));
    this.#batch.clear();
  }

  /** Throws when what was spilled cannot be ordered within the memory there is; the answer is how much of it is left. */
  #checkOrderable(keys: number): number {
    const options = this.#options;
    const extraBytes = this.#extraBytes;
    const runKeys = this.#runs.reduce((max, { keyCount }) => Math.max(max, keyCount), 0);
    const needed = finishBytes({ keys, runKeys, graphs: this.#spilledSizes, bufferedBytes: extraBytes }, options);
    const left = options.memoryBytes - needed;
    if (left >= options.memoryBytes * VALUE_SHARE) return left;
    const nodes = this.#spilledSizes.reduce((sum, size) => sum + size.nodes, 0);
    const enough = Math.ceil(needed / (1 - VALUE_SHARE));
    throw new LimitError(
      `${nodes} nodes cannot be ordered within memoryBytes (${options.memoryBytes}): so many need ${enough}, whatever is spilled`,
    );
  }
}

const checkWritable = (directory: string): void =>
  orThrow(
    () => accessSync(directory, constants.W_OK),
    (cause) => new TransportError(`${directory} cannot be written: ${cause.message}`, { cause }),
  );
