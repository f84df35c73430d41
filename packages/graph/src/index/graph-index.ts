// A graph index on one compact graph file: bzr's graph index, over tuple keys, and its builder. It adds names to ordinals and nothing else;
// what can be done with ordinals alone is done with them. Cycles are allowed, since an index says what refers to what and judges nothing.

import { chunks, orThrow, wholeNumber } from 'spanline/internal/base';
import { type BuildStats, CompactGraphBuilder } from '../builder/graph-builder.js';
import { CompactGraph, type OpenGraphOptions } from '../compact-graph.js';
import type { ByteSink } from '../container/container-writer.js';
import { BadKeyError, BadOptionsError, BadValueError, badOptions, CorruptError } from '../container/graph-error.js';
import type { Transport, TransportReadOptions } from '../container/transport/transport.js';
import { shownKey } from '../dictionary/key-bytes.js';
import type { GraphNode, GraphView } from '../graph-view.js';
import { MAX_REFERENCE_LISTS } from '../meta.js';
import { findFaults } from '../verify/verify-graph.js';
import { type FoundAncestry, type IndexEntry, nextToAsk, type ReadableIndex } from './readable-index.js';
import {
  checkElements,
  decodeTuple,
  encodePrefix,
  encodeTuple,
  type TupleKey,
  TupleMap,
  type TuplePrefix,
  TupleSet,
} from './tuple-key.js';

/** Where the number of key elements is kept. */
const KEY_ELEMENTS_NOTE = 'keyElements';

const BATCH = 4096;

const elementsOf = (file: CompactGraph): number => {
  const elements = Number(file.meta.notes[KEY_ELEMENTS_NOTE] ?? Number.NaN);
  const what = `${file.container.transport.name} is not a graph index: it does not say how many elements its keys have`;
  orThrow(
    () => checkElements(elements),
    (cause) => new CorruptError(what, 'meta', undefined, { cause }),
  );
  return elements;
};

/**
 * Reads one graph index file. Use `GraphIndexBuilder` to write one, `CombinedGraphIndex` for several. Interface: bzr's GraphIndex.
 *
 * @example
 * ```ts
 * import { BufferSink, GraphIndex, GraphIndexBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const builder = new GraphIndexBuilder(sink, { referenceLists: 1, keyElements: 2 });
 * builder.addNode(['file', 'rev-1'], Buffer.from('v'), [[]]);
 * builder.addNode(['file', 'rev-2'], Buffer.from('w'), [[['file', 'rev-1']]]);
 * await builder.finish();
 * const index = await GraphIndex.open(sink.toBuffer());
 * const { parentMap } = await index.findAncestry([['file', 'rev-2']], 0);
 * console.assert(parentMap.size === 2);
 * await index.close();
 * ```
 */
export class GraphIndex implements ReadableIndex {
  readonly #graph: GraphView;
  readonly keyElements: number;

  private constructor(readonly file: CompactGraph) {
    this.#graph = file.graph(0);
    this.keyElements = elementsOf(file);
  }

  static async open(source: string | Uint8Array | Transport, options?: OpenGraphOptions): Promise<GraphIndex> {
    const file = await CompactGraph.open(source, options);
    try {
      return new GraphIndex(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get referenceLists(): number {
    return this.#graph.info.referenceLists;
  }

  async keyCount(): Promise<number> {
    return this.#graph.nodeCount;
  }

  async *iterEntries(
    keys: Iterable<TupleKey>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    for (const some of chunks([...new TupleSet(keys)], BATCH)) {
      const ordinals = await this.#ordinalsOf(some, options);
      yield* await this.#entriesOf(
        ordinals.filter((ordinal) => this.#isNode(ordinal)),
        options,
      );
    }
  }

  async *iterAllEntries(options?: TransportReadOptions): AsyncGenerator<IndexEntry, undefined, void> {
    for (let start = 0; start < this.#graph.nodeCount; start += BATCH) {
      const count = Math.min(BATCH, this.#graph.nodeCount - start);
      yield* await this.#entriesOf(
        Array.from({ length: count }, (_, i) => start + i),
        options,
      );
    }
  }

  async *iterEntriesPrefix(
    prefixes: Iterable<TuplePrefix>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    // Prefixes may lie inside each other; an entry comes once.
    const seen = new Set<number>();
    let batch: number[] = [];
    for (const prefix of prefixes) {
      for await (const ordinals of this.#ordinalsBelow(prefix, options)) {
        for (const ordinal of ordinals) {
          if (!this.#isNode(ordinal) || seen.has(ordinal)) continue;
          seen.add(ordinal);
          batch.push(ordinal);
        }
        // Neighbours by key are none in the file: few large batches read it fewer times than many small ones.
        if (batch.length < BATCH) continue;
        yield* await this.#entriesOf(batch, options);
        batch = [];
      }
    }
    yield* await this.#entriesOf(batch, options);
  }

  async findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet> {
    this.#checkList(list);
    const asked = new TupleSet(keys);
    const wanted = [...asked].filter((key) => !parentMap.has(key) && !missing.has(key));
    const ordinals = await this.#ordinalsOf(wanted, options);
    const present = ordinals.filter((ordinal) => this.#isNode(ordinal));
    wanted.forEach((key, i) => {
      if (!this.#isNode(ordinals[i])) missing.add(key);
    });
    for (const { key, references } of await this.#entriesOf(present, options, false))
      parentMap.set(key, references[list]);
    return nextToAsk(asked, parentMap, missing);
  }

  /** One walk over ordinals; keys are fetched for what it reached. */
  async findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry> {
    this.#checkList(list);
    const wanted = [...new TupleSet(keys)];
    const ordinals = await this.#ordinalsOf(wanted, options);
    const missing = new TupleSet(wanted.filter((_, i) => !this.#isNode(ordinals[i])));
    const starts = ordinals.filter((ordinal) => this.#isNode(ordinal));
    if (starts.length === 0) return { parentMap: new TupleMap(), missing };
    const { nodes, ghosts, references } = await this.#graph.ancestry(starts, { ...options, list });
    const reached = new Uint32Array(nodes.length + ghosts.length);
    reached.set(nodes);
    reached.set(ghosts, nodes.length);
    // All names in one batch: no part of the file is read twice, whatever the cache holds.
    const names = await this.#keysOf(reached, options);
    const known = new Map(names.map((key, i) => [reached[i], key]));
    const parentMap = new TupleMap<readonly TupleKey[]>();
    nodes.forEach((node, i) => {
      const targets = references.targets.subarray(references.offsets[node], references.offsets[node + 1]);
      parentMap.set(
        names[i],
        Array.from(targets, (target) => known.get(target) as TupleKey),
      );
    });
    for (const key of names.slice(nodes.length)) missing.add(key);
    return { parentMap, missing };
  }

  async externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet> {
    this.#checkList(list);
    const { targets } = (await this.#graph.references(options))[list];
    const ghosts = new Set<number>();
    for (const target of targets) if (!this.#isNode(target)) ghosts.add(target);
    return new TupleSet(await this.#keysOf([...ghosts], options));
  }

  async validate(options?: TransportReadOptions): Promise<void> {
    const checkKey = (bytes: Buffer): void => checkTuple(bytes, this.keyElements);
    for await (const fault of findFaults(this.file, { ...options, checkKey })) throw fault;
  }

  clearCache(): void {
    this.file.clearCache();
  }

  close(): Promise<void> {
    return this.file.close();
  }

  #isNode(ordinal: number): boolean {
    return ordinal >= 0 && ordinal < this.#graph.nodeCount;
  }

  async *#ordinalsBelow(prefix: TuplePrefix, options?: TransportReadOptions): AsyncGenerator<readonly number[]> {
    const bytes = encodePrefix(prefix, this.keyElements);
    if (!prefix.includes(null)) {
      yield [await this.#graph.ordinalOf(bytes, options)];
      return;
    }
    for await (const entries of this.file.dictionary.range({ prefix: bytes }, options))
      yield entries.map(({ ordinals: [ordinal] }) => ordinal);
  }

  /** The ordinal of each key, -1 for those that are absent, as all are that no index of these elements can have. */
  async #ordinalsOf(keys: readonly TupleKey[], options?: TransportReadOptions): Promise<number[]> {
    const possible = keys.filter(({ length }) => length === this.keyElements);
    const ordinals = await this.#graph.ordinalsOf(
      possible.map((key) => encodeTuple(key, this.keyElements)),
      options,
    );
    let next = 0;
    return keys.map(({ length }) => (length === this.keyElements ? ordinals[next++] : -1));
  }

  #checkList(list: number): void {
    if (Number.isInteger(list) && list >= 0 && list < this.referenceLists) return;
    throw new BadOptionsError(`the index has ${this.referenceLists} reference lists, no list ${list}`);
  }

  async #keysOf(ordinals: ArrayLike<number>, options?: TransportReadOptions): Promise<TupleKey[]> {
    return (await this.#graph.keysOf(ordinals, options)).map(decodeTuple);
  }

  /** Entries of nodes; keys of what they refer to are fetched once each. */
  async #entriesOf(
    ordinals: ArrayLike<number>,
    options?: TransportReadOptions,
    withValues = true,
  ): Promise<IndexEntry[]> {
    const hasReferences = this.referenceLists > 0;
    const nodes = await this.#graph.nodes(
      ordinals,
      { keys: true, values: withValues, references: hasReferences },
      options,
    );
    const known = new Map<number, TupleKey>(nodes.map(({ ordinal, key }) => [ordinal, decodeTuple(key as Buffer)]));
    const referred = new Set<number>();
    for (const { references = [] } of nodes)
      for (const list of references) for (const target of list) if (!known.has(target)) referred.add(target);
    const targets = [...referred];
    (await this.#keysOf(targets, options)).forEach((key, i) => {
      known.set(targets[i], key);
    });
    const keyOf = (ordinal: number): TupleKey => known.get(ordinal) as TupleKey;
    const entryOf = ({ ordinal, value = EMPTY, references = [] }: GraphNode): IndexEntry => ({
      key: keyOf(ordinal),
      value,
      references: references.map((list) => Array.from(list, keyOf)),
    });
    return nodes.map(entryOf);
  }
}

/** Throws unless these bytes are a key of an index of so many elements. */
const checkTuple = (bytes: Buffer, elements: number): void => {
  try {
    if (encodeTuple(decodeTuple(bytes), elements).equals(bytes)) return;
  } catch (cause) {
    if (!(cause instanceof BadKeyError)) throw cause;
  }
  throw new CorruptError(`key ${shownKey(bytes)} is not a tuple of ${elements} elements`, 'dictionaryBlocks');
};

const EMPTY = new Uint8Array(0);

/** What an index is built with. */
export interface GraphIndexBuilderOptions {
  /** Reference lists of every node, 0 to 16. Default 0. */
  readonly referenceLists?: number;
  /** Elements of every key, 1 to 16. Default 1. */
  readonly keyElements?: number;
  /** Memory of the builder before it spills to disk. Default 256 MiB. */
  readonly memoryBytes?: number;
}

/**
 * Builds a graph index; use it like bzr's GraphIndexBuilder. Nodes may come in any order; what they refer to need not exist.
 *
 * @example
 * ```ts
 * import { BufferSink, GraphIndexBuilder } from '@spanline/graph';
 * const builder = new GraphIndexBuilder(new BufferSink(), { referenceLists: 1 });
 * builder.addNode(['a'], Buffer.from('value'), [[['ghost']]]);
 * await builder.finish();
 * ```
 */
export class GraphIndexBuilder {
  readonly #builder: CompactGraphBuilder;
  readonly referenceLists: number;
  readonly keyElements: number;

  constructor(
    target: string | ByteSink,
    { referenceLists = 0, keyElements = 1, memoryBytes }: GraphIndexBuilderOptions = {},
  ) {
    wholeNumber('referenceLists', referenceLists, [0, MAX_REFERENCE_LISTS], badOptions);
    checkElements(keyElements);
    this.referenceLists = referenceLists;
    this.keyElements = keyElements;
    this.#builder = new CompactGraphBuilder(target, {
      graphs: [{ referenceLists, order: 'child-first', cycles: 'allow' }],
      notes: { [KEY_ELEMENTS_NOTE]: String(keyElements) },
      memoryBytes,
    });
  }

  /** Add one node. Throws `BadKeyError`, `BadValueError`; a key added twice is a `DuplicateKeyError` here or at `finish`. */
  addNode(key: TupleKey, value: Uint8Array, references: readonly (readonly TupleKey[])[] = []): void {
    const encoded = encodeTuple(key, this.keyElements);
    if (!Array.isArray(references) || references.length !== this.referenceLists) {
      const lists = Array.isArray(references) ? references.length : 'no';
      throw new BadValueError(
        `key ${JSON.stringify(key)} has ${lists} reference lists; this index has ${this.referenceLists}`,
      );
    }
    if (!references.every(Array.isArray))
      throw new BadValueError(`a reference list of key ${JSON.stringify(key)} must be an array`);
    this.#builder.add(
      0,
      encoded,
      value,
      references.map((list) => list.map((target) => encodeTuple(target, this.keyElements))),
    );
  }

  /** Add many; the first that is refused throws, those before it stay added. */
  addNodes(entries: Iterable<IndexEntry>): void {
    for (const { key, value, references } of entries) this.addNode(key, value, references);
  }

  finish(): Promise<BuildStats> {
    return this.#builder.finish();
  }

  abort(): void {
    this.#builder.abort();
  }
}
