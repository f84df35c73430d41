// A part of an index as an index of its own: the keys below one prefix, without it. A reference out of the part cannot be said without
// the prefix and is an error.
import { BadKeyError, BadOptionsError, CorruptError } from '../container/graph-error.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import { type FoundAncestry, type IndexEntry, nextToAsk, type ReadableIndex, referencesOf } from './readable-index.js';
import { encodePrefix, encodeTuple, type TupleKey, TupleMap, type TuplePrefix, TupleSet } from './tuple-key.js';

/** How a part of an index is adapted. */
interface PrefixAdapterOptions {
  /** Takes what `addNode` and `addNodes` are given, with whole keys: the `addNodes` of a builder. */
  readonly addNodes?: (entries: Iterable<IndexEntry>) => void;
}

/**
 * The entries of `adapted` whose keys begin with `prefix`, with keys and references cut by it. Interface: bzr's
 * GraphIndexPrefixAdapter.
 *
 * @example
 * ```ts
 * import { BufferSink, GraphIndex, GraphIndexBuilder, PrefixAdapter } from '@spanline/graph';
 * const sink = new BufferSink();
 * const builder = new GraphIndexBuilder(sink, { keyElements: 2 });
 * builder.addNode(['file-1', 'rev-1'], Buffer.from('a'));
 * builder.addNode(['file-2', 'rev-1'], Buffer.from('b'));
 * await builder.finish();
 * const revisions = new PrefixAdapter(await GraphIndex.open(sink.toBuffer()), ['file-1'], 1);
 * for await (const { key } of revisions.iterAllEntries()) console.assert(key[0] === 'rev-1');
 * console.assert((await revisions.keyCount()) === 1);
 * await revisions.close();
 * ```
 */
export class PrefixAdapter implements ReadableIndex {
  readonly #adapted: ReadableIndex;
  readonly #prefix: TupleKey;
  readonly #missingElements: number;
  readonly #options: PrefixAdapterOptions;

  /** @param missingElements Elements of a key behind the prefix, at least one. */
  constructor(adapted: ReadableIndex, prefix: TupleKey, missingElements: number, options: PrefixAdapterOptions = {}) {
    this.#adapted = adapted;
    this.#prefix = prefix;
    this.#missingElements = missingElements;
    this.#options = options;
    if (!Number.isInteger(missingElements) || missingElements < 1)
      throw new BadKeyError(`keys have one element or more behind a prefix, not ${missingElements}`);
    if (!Array.isArray(prefix) || prefix.length === 0) throw new BadKeyError('a prefix has one element or more');
    // A prefix that no key can have is found out now, not at the first look-up.
    encodeTuple(prefix, prefix.length);
  }

  /** Add a node below the prefix, through the `addNodes` it was made with. Throws what that throws, `BadKeyError`, `BadOptionsError`. */
  addNode(key: TupleKey, value: Uint8Array, references: readonly (readonly TupleKey[])[] = []): void {
    this.addNodes([{ key, value, references }]);
  }

  addNodes(entries: Iterable<IndexEntry>): void {
    const { addNodes } = this.#options;
    if (addNodes === undefined)
      throw new BadOptionsError('the adapter was made without addNodes: give it the one of a builder');
    addNodes(
      Array.from(entries, ({ key, value, references }) => ({
        key: this.#join(key),
        value,
        references: references.map((list) => list.map((target) => this.#join(target))),
      })),
    );
  }

  async keyCount(): Promise<number> {
    let count = 0;
    for await (const _ of this.iterAllEntries()) count++;
    return count;
  }

  async *iterEntries(
    keys: Iterable<TupleKey>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const whole = this.#possible(keys).map((key) => this.#join(key));
    for await (const entry of this.#adapted.iterEntries(whole, options)) yield this.#cut(entry);
  }

  async *iterAllEntries(options?: TransportReadOptions): AsyncGenerator<IndexEntry, undefined, void> {
    const all = [...this.#prefix, ...Array<null>(this.#missingElements).fill(null)];
    for await (const entry of this.#adapted.iterEntriesPrefix([all], options)) yield this.#cut(entry);
  }

  async *iterEntriesPrefix(
    prefixes: Iterable<TuplePrefix>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const whole = Array.from(prefixes, (prefix) => {
      // The prefix is no shorter way to ask for everything than it is where nothing is left out.
      encodePrefix(prefix, this.#missingElements);
      if (Array.isArray(prefix) && prefix.length === this.#missingElements) return [...this.#prefix, ...prefix];
      throw new BadKeyError(`the prefix ${JSON.stringify(prefix)} must have ${this.#missingElements} elements`);
    });
    for await (const entry of this.#adapted.iterEntriesPrefix(whole, options)) yield this.#cut(entry);
  }

  async findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet> {
    const asked = new TupleSet(keys);
    const wholeParents = new TupleMap<readonly TupleKey[]>();
    const wholeMissing = new TupleSet();
    const wanted = [...asked].filter((key) => !parentMap.has(key) && !missing.has(key));
    for (const key of wanted) if (key.length !== this.#missingElements) missing.add(key);
    await this.#adapted.findAncestors(
      this.#possible(wanted).map((key) => this.#join(key)),
      list,
      wholeParents,
      wholeMissing,
      options,
    );
    this.#cutInto({ parentMap: wholeParents, missing: wholeMissing }, { parentMap, missing });
    return nextToAsk(asked, parentMap, missing);
  }

  async findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry> {
    const asked = [...new TupleSet(keys)];
    const whole = this.#possible(asked).map((key) => this.#join(key));
    const found = { parentMap: new TupleMap<readonly TupleKey[]>(), missing: new TupleSet() };
    for (const key of asked) if (key.length !== this.#missingElements) found.missing.add(key);
    this.#cutInto(await this.#adapted.findAncestry(whole, list, options), found);
    return found;
  }

  async externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet> {
    const here = new TupleSet();
    const referred = new TupleSet();
    for await (const entry of this.iterAllEntries(options)) {
      here.add(entry.key);
      for (const target of referencesOf(entry, list)) referred.add(target);
    }
    return new TupleSet([...referred].filter((key) => !here.has(key)));
  }

  validate(options?: TransportReadOptions): Promise<void> {
    return this.#adapted.validate(options);
  }

  clearCache(): void {
    this.#adapted.clearCache();
  }

  close(): Promise<void> {
    return this.#adapted.close();
  }

  /** The keys of the right length: others are absent. */
  #possible(keys: Iterable<TupleKey>): TupleKey[] {
    return [...new TupleSet(keys)].filter(({ length }) => length === this.#missingElements);
  }

  #join(key: TupleKey): TupleKey {
    if (!Array.isArray(key) || key.length !== this.#missingElements)
      throw new BadKeyError(`key ${JSON.stringify(key)} must have ${this.#missingElements} elements behind the prefix`);
    return [...this.#prefix, ...key];
  }

  #cutKey(key: TupleKey): TupleKey {
    if (this.#prefix.every((element, i) => key[i] === element)) return key.slice(this.#prefix.length);
    throw new CorruptError(
      `${JSON.stringify(key)} is referred to from below the prefix ${JSON.stringify(this.#prefix)} but lies outside it`,
      'references',
    );
  }

  #cutInto(whole: FoundAncestry, { parentMap, missing }: FoundAncestry): void {
    for (const [key, parents] of whole.parentMap)
      parentMap.set(
        this.#cutKey(key),
        parents.map((parent) => this.#cutKey(parent)),
      );
    for (const key of whole.missing) missing.add(this.#cutKey(key));
  }

  #cut({ key, value, references }: IndexEntry): IndexEntry {
    return {
      key: this.#cutKey(key),
      value,
      references: references.map((list) => list.map((target) => this.#cutKey(target))),
    };
  }
}
