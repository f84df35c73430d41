// Several graph files into one. Each is read in the order of its nodes, never held as a whole; the new file is what a builder would have made of all
// nodes. Which nodes stand behind one of the same key in an earlier file is found by one walk through all keys, and kept as a bit for each node.

import { oneOf } from 'spanline/internal/base';
import { CompactGraph } from '../compact-graph.js';
import type { ByteSink } from '../container/container-writer.js';
import { BadOptionsError, badOptions, LimitError } from '../container/graph-error.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import type { DictionaryEntry } from '../dictionary/dictionary-queries.js';
import { compareKeys } from '../dictionary/key-bytes.js';
import type { GraphNode } from '../graph-view.js';
import type { GraphInfo } from '../meta.js';
import { type GraphBuilderOptions, optionsOf } from './builder-options.js';
import { ByteStore, ChunkPool } from './chunk-pool.js';
import { type BuildStats, CompactGraphBuilder } from './graph-builder.js';

/** A bit for each node of each graph of a file. */
class NodeBits {
  readonly #bits: readonly Uint8Array[];

  constructor(file: CompactGraph) {
    this.#bits = file.graphs.map(({ nodeCount }) => new Uint8Array(Math.ceil(nodeCount / 8)));
  }

  has(graph: number, ordinal: number): boolean {
    return (this.#bits[graph][ordinal >>> 3] & (1 << (ordinal & 7))) !== 0;
  }

  add(graph: number, ordinal: number): void {
    this.#bits[graph][ordinal >>> 3] |= 1 << (ordinal & 7);
  }
}

/** The keys of one file, one after the other. */
class EntryCursor {
  entry: DictionaryEntry | undefined;
  readonly #batches: AsyncGenerator<readonly DictionaryEntry[]>;
  #batch: readonly DictionaryEntry[] = [];
  #at = 0;

  constructor(batches: AsyncGenerator<readonly DictionaryEntry[]>) {
    this.#batches = batches;
  }

  /** False when the next key has to be waited for. */
  tryNext(): boolean {
    this.entry = this.#batch[this.#at++];
    return this.entry !== undefined;
  }

  /** Wait for the next key; `entry` is undefined when there is none. */
  async next(): Promise<void> {
    const { value } = await this.#batches.next();
    this.#batch = value ?? [];
    this.#at = 0;
    if (value !== undefined && !this.tryNext()) await this.next();
  }
}

/** For each file the nodes that an earlier file has too. */
const findLosers = async (files: readonly CompactGraph[], options: TransportReadOptions): Promise<NodeBits[]> => {
  const losers = files.map((file) => new NodeBits(file));
  const cursors = files.map(({ dictionary }) => new EntryCursor(dictionary.range({}, options)));
  for (const cursor of cursors) await cursor.next();
  for (;;) {
    const key = minKey(cursors);
    if (key === undefined) return losers;
    const isTaken = files[0].graphs.map(() => false);
    for (const [i, cursor] of cursors.entries()) {
      const { entry } = cursor;
      if (entry === undefined || compareKeys(entry.key, key) !== 0) continue;
      entry.ordinals.forEach((ordinal, graph) => {
        if (ordinal < 0 || ordinal >= files[i].graphs[graph].nodeCount) return;
        if (isTaken[graph]) losers[i].add(graph, ordinal);
        isTaken[graph] = true;
      });
      if (!cursor.tryNext()) await cursor.next();
    }
  }
};

const minKey = (cursors: readonly EntryCursor[]): Buffer | undefined => {
  let min: Buffer | undefined;
  for (const { entry } of cursors)
    if (entry !== undefined && (min === undefined || compareKeys(entry.key, min) < 0)) min = entry.key;
  return min;
};

/** Gives what gives the key of every ordinal that `nodes` of `graph` have or refer to. */
type KeysOf = (graph: number, nodes: readonly GraphNode[]) => Promise<(ordinal: number) => Uint8Array>;

/** Bytes of a key in memory beside its own. */
const KEY_OVERHEAD = 8;
const ORDINAL_BYTES = 4;

/** Go through the keys of `file` once, and keep them within `memoryBytes`. */
const readInputKeys = async (
  file: CompactGraph,
  memoryBytes: number,
  options: TransportReadOptions,
): Promise<KeysOf> => {
  const { dictionary, graphs } = file;
  const ordinals = graphs.reduce((sum, { nodeCount, ghostCount }) => sum + nodeCount + ghostCount, 0);
  const needed = ordinals * ORDINAL_BYTES;
  if (needed > memoryBytes) {
    throw new LimitError(
      `${file.container.transport.name} has ${ordinals} nodes, which takes twice ${needed} bytes to merge: raise memoryBytes`,
    );
  }
  const areKept = needed + dictionary.keyBytes + dictionary.keyCount * KEY_OVERHEAD <= memoryBytes;
  const store = new ByteStore(new ChunkPool());
  // Where the key is in memory, or its rank.
  const places = graphs.map(({ nodeCount, ghostCount }) => new Uint32Array(nodeCount + ghostCount));
  for await (const entries of dictionary.range({}, options)) {
    for (const { key, rank, ordinals: own } of entries) {
      const place = areKept ? store.add(key) : rank;
      own.forEach((ordinal, graph) => {
        if (ordinal >= 0) places[graph][ordinal] = place;
      });
    }
  }
  if (areKept) return async (graph) => (ordinal) => store.get(places[graph][ordinal]);
  return async (graph, nodes) => {
    const wanted = new Set<number>();
    for (const { ordinal, references = [] } of nodes) {
      wanted.add(ordinal);
      for (const list of references) for (const target of list) wanted.add(target);
    }
    const known = [...wanted];
    const keys = await dictionary.keysAt(
      known.map((ordinal) => places[graph][ordinal]),
      options,
    );
    const byOrdinal = new Map(known.map((ordinal, i) => [ordinal, keys[i]]));
    return (ordinal) => byOrdinal.get(ordinal) as Buffer;
  };
};

/** How files are merged. */
export interface MergeOptions extends Omit<GraphBuilderOptions, 'graphs' | 'groupBytes'>, TransportReadOptions {
  /** What to do with a node that several files have: take that of the first of them (default), or throw `DuplicateKeyError`. */
  readonly onDuplicate?: 'first' | 'refuse';
}

const DEFAULT_MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * Merge graph files into one at `target`.
 *
 * Use it to make few files of many, for every file costs a look-up. All must have been built for the same graphs: as many, in the same
 * order, with the same reference lists and values. The new file is the same as one built of all nodes at once; a ghost of one file is a
 * node if another has it. Notes and extra sections are not taken over. Half of `memoryBytes` is for the builder, half for the keys of
 * one input at a time; where those do not fit they are read once for each batch of nodes, which takes long for keys in no order. Rejects
 * with `BadOptionsError` for files that do not fit together, and as the builder and the readers do.
 *
 * @example
 * ```ts
 * import { BufferSink, CompactGraph, CompactGraphBuilder, mergeGraphs } from '@spanline/graph';
 * const build = async (key: string): Promise<CompactGraph> => {
 *   const sink = new BufferSink();
 *   const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] });
 *   builder.add(0, Buffer.from(key), Buffer.from('value'), []);
 *   await builder.finish();
 *   return CompactGraph.open(sink.toBuffer());
 * };
 * const merged = new BufferSink();
 * const { keyCount } = await mergeGraphs([await build('a'), await build('b')], merged);
 * console.assert(keyCount === 2);
 * ```
 */
export const mergeGraphs = async (
  inputs: readonly (string | CompactGraph)[],
  target: string | ByteSink,
  options: MergeOptions = {},
): Promise<BuildStats> => {
  const { onDuplicate = 'first', signal, memoryBytes = DEFAULT_MEMORY_BYTES, ...rest } = options;
  if (inputs.length === 0) throw new BadOptionsError('there is nothing to merge: give one file at least');
  oneOf('onDuplicate', onDuplicate, ['first', 'refuse'], badOptions);
  const opened: CompactGraph[] = [];
  let builder: CompactGraphBuilder | undefined;
  try {
    const files: CompactGraph[] = [];
    for (const input of inputs) {
      const file = typeof input === 'string' ? await CompactGraph.open(input, { signal }) : input;
      if (file !== input) opened.push(file);
      files.push(file);
    }
    const share = Math.floor(memoryBytes / 2);
    builder = new CompactGraphBuilder(target, { ...rest, ...commonOptions(files), memoryBytes: share });
    const isSearched = onDuplicate === 'first' && files.length > 1;
    const losers = isSearched ? await findLosers(files, { signal }) : undefined;
    for (const [i, file] of files.entries()) await addFile(builder, file, losers?.[i], share, { signal });
    return await builder.finish();
  } catch (error) {
    builder?.abort();
    throw error;
  } finally {
    for (const file of opened) await file.close();
  }
};

/** What all files were built for. */
const commonOptions = (files: readonly CompactGraph[]): Pick<GraphBuilderOptions, 'graphs' | 'groupBytes'> => {
  const [{ graphs, meta }] = files;
  for (const file of files) {
    const { name } = file.container.transport;
    if (file.graphs.length !== graphs.length || file.meta.groupBytes !== meta.groupBytes)
      throw new BadOptionsError(`${name} cannot be merged with the first file: it has other graphs, or other groups`);
    file.graphs.forEach((info, graph) => {
      if (!fitTogether(info, graphs[graph]))
        throw new BadOptionsError(`graph ${graph} of ${name} cannot be merged with that of the first file`);
    });
  }
  return {
    groupBytes: meta.groupBytes,
    graphs: graphs.map((info, graph) =>
      optionsOf(
        info,
        files.some((file) => file.graphs[graph].cycles),
      ),
    ),
  };
};

const fitTogether = (a: GraphInfo, b: GraphInfo): boolean =>
  a.referenceLists === b.referenceLists &&
  a.order === b.order &&
  a.hasValues === b.hasValues &&
  a.hasBackPointers === b.hasBackPointers;

const addFile = async (
  builder: CompactGraphBuilder,
  file: CompactGraph,
  losers: NodeBits | undefined,
  memoryBytes: number,
  options: TransportReadOptions,
): Promise<void> => {
  const keysOf = await readInputKeys(file, memoryBytes, options);
  for (const [graph, { hasValues, hasReferences }] of file.graphs.entries()) {
    for await (const batch of file.graph(graph).scan({ values: hasValues, references: hasReferences }, options)) {
      const nodes = batch.filter(({ ordinal }) => losers?.has(graph, ordinal) !== true);
      const keyOf = await keysOf(graph, nodes);
      for (const { ordinal, value, references = [] } of nodes as readonly GraphNode[])
        builder.add(
          graph,
          keyOf(ordinal),
          value,
          references.map((list) => Array.from(list, keyOf)),
        );
    }
  }
};
