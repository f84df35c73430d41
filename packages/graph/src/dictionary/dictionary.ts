// A dictionary as a reader has it: keys to ordinals, ranks to keys, ranges. Nothing is read before it is asked for, and nothing is
// believed before its checksum.

import { BlockCache } from '../container/block-cache.js';
import type { Container, Reading } from '../container/container.js';
import { BadOptionsError } from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import type { ByteRange, TransportReadOptions } from '../container/transport/transport.js';
import { DictionaryBlocks } from './dictionary-blocks.js';
import { type DictionaryIndex, decodeIndex } from './dictionary-index.js';
import {
  allKeys,
  type DictionaryEntry,
  entriesOf,
  keysAt,
  lookupMany,
  lookupOne,
  lookupPrefixes,
  ordinalOf,
  windowsOf,
} from './dictionary-queries.js';
import { type KeyRange, type KeyTable, rangeOfPrefix } from './key-bytes.js';
import { KeyFilter } from './key-filter.js';

/** How a dictionary is opened. */
export interface DictionaryOpenOptions {
  /** Keeps decoded blocks; may be shared with other readers. Default: one of 32 MiB. */
  readonly cache?: BlockCache;
  /** Graphs there should be: another number is a damaged file. */
  readonly graphs?: number;
  /** Read the filter at once, if there is one: `mayHave` and misses cost no read then. Default false. */
  readonly filter?: boolean;
}

/** Which keys `range` gives: those that begin with `prefix`, or those from `start` up to but not including `end`. */
export type RangeQuery = { readonly prefix: Uint8Array } | KeyRange;

/** Bytes that `allKeys` takes in memory unless it is told otherwise. */
export const DEFAULT_MAX_ALL_KEYS_BYTES = 1024 * 1024 * 1024;

/**
 * The keys of a graph file with their number in each graph. Use it through `CompactGraph`, or alone on a file that only a
 * `DictionaryBuilder` wrote. Damage is thrown as `CorruptError` by what meets it; the rest stays readable.
 *
 * @example
 * ```ts
 * import { BufferSink, BufferTransport, Container, ContainerWriter, Dictionary, DictionaryBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const writer = new ContainerWriter(sink);
 * const builder = new DictionaryBuilder(writer, { graphs: 1 });
 * builder.add(Buffer.from('ada'), [1]);
 * builder.add(Buffer.from('grace'), [0]);
 * builder.finish();
 * writer.finish();
 * const dictionary = await Dictionary.open(await Container.open(new BufferTransport(sink.toBuffer())));
 * const entry = await dictionary.lookup(Buffer.from('grace'));
 * console.assert(entry?.rank === 1 && entry.ordinals[0] === 0);
 * ```
 */
export class Dictionary {
  readonly #container: Container;
  readonly #blocks: DictionaryBlocks;
  #filter: KeyFilter | undefined;

  private constructor(container: Container, blocks: DictionaryBlocks, filter: KeyFilter | undefined) {
    this.#container = container;
    this.#blocks = blocks;
    this.#filter = filter;
  }

  /** Open the dictionary of a file: no read when its index is in the tail that was read already. */
  static open(container: Container, options: DictionaryOpenOptions & TransportReadOptions = {}): Promise<Dictionary> {
    return container.run(Dictionary.opening(container, options), options);
  }

  /** The same at once, for local files. */
  static openSync(container: Container, options: DictionaryOpenOptions = {}): Dictionary {
    return container.runSync(Dictionary.opening(container, options));
  }

  /** What `open` does, as a part of a larger reading. */
  static *opening(
    container: Container,
    { cache = new BlockCache(), graphs, filter = false }: DictionaryOpenOptions = {},
  ): Reading<Dictionary> {
    const index = container.need(SectionId.dictionaryIndex);
    const filterSection = filter ? container.find(SectionId.filter) : undefined;
    const [bytes, filterBytes] = yield* container.sectionBytes(filterSection ? [index, filterSection] : [index]);
    const blocks = new DictionaryBlocks(container, decodeIndex(container, bytes, graphs), cache);
    const { name } = container.transport;
    return new Dictionary(container, blocks, filterBytes && KeyFilter.decode(filterBytes, name));
  }

  get keyCount(): number {
    return this.#index.keyCount;
  }

  /** Bytes of all keys together. */
  get keyBytes(): number {
    return this.#index.keyBytes;
  }

  /** Graphs that number the keys. */
  get graphs(): number {
    return this.#index.graphs;
  }

  get blockKeys(): number {
    return this.#index.blockKeys;
  }

  get blockCount(): number {
    return this.#index.blockCount;
  }

  /** The index is so long that it is cut into blocks. */
  get hasIndexBlocks(): boolean {
    return this.#index.upper !== undefined;
  }

  /** The entry of `key`; undefined when it is not there. One read, two when the index has a second level; none when cached. */
  lookup(key: Uint8Array, options?: TransportReadOptions): Promise<DictionaryEntry | undefined> {
    return this.#run(lookupOne(this.#blocks, this.#filter, key), options);
  }

  lookupSync(key: Uint8Array): DictionaryEntry | undefined {
    return this.#runSync(lookupOne(this.#blocks, this.#filter, key));
  }

  /** The ordinal of `key` in `graph`, -1 where there is none: what `lookup` gives, without making an entry of it. */
  ordinalOf(key: Uint8Array, graph: number, options?: TransportReadOptions): Promise<number> {
    return this.#run(ordinalOf(this.#blocks, this.#filter, key, graph), options);
  }

  ordinalOfSync(key: Uint8Array, graph: number): number {
    return this.#runSync(ordinalOf(this.#blocks, this.#filter, key, graph));
  }

  /** The entry of each key, undefined for those that are not there, in the order asked. As few reads as for one, up to 4 MiB of blocks. */
  lookupMany(keys: readonly Uint8Array[], options?: TransportReadOptions): Promise<(DictionaryEntry | undefined)[]> {
    return this.#run(lookupMany(this.#blocks, this.#filter, keys), options);
  }

  lookupManySync(keys: readonly Uint8Array[]): (DictionaryEntry | undefined)[] {
    return this.#runSync(lookupMany(this.#blocks, this.#filter, keys));
  }

  /** For each prefix the entries of the keys that begin with it, all in one batch: for a few keys each, `range` is for many. */
  lookupPrefixes(prefixes: readonly Uint8Array[], options?: TransportReadOptions): Promise<DictionaryEntry[][]> {
    return this.#run(lookupPrefixes(this.#blocks, this.#filter, prefixes), options);
  }

  lookupPrefixesSync(prefixes: readonly Uint8Array[]): DictionaryEntry[][] {
    return this.#runSync(lookupPrefixes(this.#blocks, this.#filter, prefixes));
  }

  /** The key that `rank` others stand before. Throws `NotFoundError` when there are fewer. */
  async keyAt(rank: number, options?: TransportReadOptions): Promise<Buffer> {
    return (await this.keysAt([rank], options))[0];
  }

  keyAtSync(rank: number): Buffer {
    return this.keysAtSync([rank])[0];
  }

  /** The keys at `ranks`, in the order asked, in as few reads as one key takes, up to 4 MiB of blocks. */
  keysAt(ranks: ArrayLike<number>, options?: TransportReadOptions): Promise<Buffer[]> {
    return this.#run(keysAt(this.#blocks, ranks), options);
  }

  keysAtSync(ranks: ArrayLike<number>): Buffer[] {
    return this.#runSync(keysAt(this.#blocks, ranks));
  }

  /** What `keysAt` does, as a part of a larger reading. */
  readingKeysAt(ranks: ArrayLike<number>): Reading<Buffer[]> {
    return keysAt(this.#blocks, ranks);
  }

  /**
   * Where each block of keys is in the file, in order.
   * @internal
   */
  blockRanges(options?: TransportReadOptions): Promise<ByteRange[]> {
    return this.#run(this.#blocks.ranges(), options);
  }

  /** All keys in their order, each byte of the file read once. Throws `LimitError` when they take more than `maxBytes` in memory. */
  allKeys(options: TransportReadOptions & { readonly maxBytes?: number } = {}): Promise<KeyTable> {
    return this.#run(allKeys(this.#blocks, options.maxBytes ?? DEFAULT_MAX_ALL_KEYS_BYTES), options);
  }

  allKeysSync({ maxBytes = DEFAULT_MAX_ALL_KEYS_BYTES }: { readonly maxBytes?: number } = {}): KeyTable {
    return this.#runSync(allKeys(this.#blocks, maxBytes));
  }

  /** The entries of a range in the order of their keys, a batch for each block. Reads grow from 64 KiB to 1 MiB as it goes on. */
  async *range(query: RangeQuery = {}, options?: TransportReadOptions): AsyncGenerator<DictionaryEntry[]> {
    for (const window of this.#windows(query)) yield* entriesOf(await this.#run(window, options));
  }

  /** The same at once, for local files. */
  *rangeSync(query: RangeQuery = {}): Generator<DictionaryEntry[]> {
    for (const window of this.#windows(query)) yield* entriesOf(this.#runSync(window));
  }

  /** False when `key` is not there for sure. Never reads: true for all keys until the filter is loaded. */
  mayHave(key: Uint8Array): boolean {
    return this.#index.keyCount > 0 && this.#filter?.mayHave(key) !== false;
  }

  /** False when no key begins with `prefix` for sure; only a filter of groups can tell. */
  mayHavePrefix(prefix: Uint8Array): boolean {
    return this.#index.keyCount > 0 && this.#filter?.mayHavePrefix(prefix) !== false;
  }

  /** Read the filter, unless it is there; false when the file has none. */
  loadFilter(options?: TransportReadOptions): Promise<boolean> {
    return this.#run(this.#loadingFilter(), options);
  }

  loadFilterSync(): boolean {
    return this.#runSync(this.#loadingFilter());
  }

  *#loadingFilter(): Reading<boolean> {
    const section = this.#container.find(SectionId.filter);
    if (this.#filter !== undefined || section === undefined) return this.#filter !== undefined;
    const [bytes] = yield* this.#container.sectionBytes([section]);
    this.#filter = KeyFilter.decode(bytes, this.#container.transport.name);
    return true;
  }

  get #index(): DictionaryIndex {
    return this.#blocks.index;
  }

  #windows(query: RangeQuery): ReturnType<typeof windowsOf> | [] {
    const range = rangeOf(query);
    const isEmpty = this.keyCount === 0 || ('prefix' in query && !this.mayHavePrefix(query.prefix));
    return isEmpty ? [] : windowsOf(this.#blocks, range);
  }

  #run<T>(reading: Reading<T>, options?: TransportReadOptions): Promise<T> {
    return this.#container.run(reading, options);
  }

  #runSync<T>(reading: Reading<T>): T {
    return this.#container.runSync(reading);
  }
}

const rangeOf = (query: RangeQuery): KeyRange => {
  if (!('prefix' in query)) return query;
  if ('start' in query || 'end' in query) throw new BadOptionsError('a range has a prefix, or a start and an end');
  return rangeOfPrefix(query.prefix);
};
