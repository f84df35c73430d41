// A part of an index as an index of its own: the keys below one prefix, without it. A reference out of the part cannot be said without
// the prefix and is an error.
import { BadKeyError, CorruptError } from '../graph-error.js';
import type { TransportReadOptions } from '../transport/transport.js';
import { findAncestryByStep } from './find-ancestry.js';
import type { FoundAncestry, IndexEntry, ReadableIndex } from './graph-index-types.js';
import { type TupleKey, TupleMap, type TuplePrefix, TupleSet } from './tuple-key.js';

/**
 * The entries of `adapted` whose keys begin with `prefix`, with keys and references cut by it. Interface: bzr's
 * GraphIndexPrefixAdapter.
 *
 * @example
 * ```ts
 * import { GraphIndex, PrefixAdapter } from 'spanline/graph';
 * const revisions = new PrefixAdapter(await GraphIndex.open('files.graph'), ['file-1'], 1);
 * for await (const { key } of revisions.iterAllEntries()) console.log(key); // [ 'rev-1' ]
 * await revisions.close();
 * ```
 */
export class PrefixAdapter implements ReadableIndex {
  /** @param missingElements Elements of a key behind the prefix, at least one. */
  constructor(
    private readonly adapted: ReadableIndex,
    private readonly prefix: TupleKey,
    private readonly missingElements: number,
  ) {
    if (!Number.isInteger(missingElements) || missingElements < 1 || prefix.length < 1) {
      throw new BadKeyError(
        `a prefix has one element or more, and so have the keys behind it; not ${prefix.length} and ${missingElements}`,
      );
    }
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
    const whole = Array.from(keys, (key) => this.join(key));
    for await (const entry of this.adapted.iterEntries(whole, options)) yield this.cut(entry);
  }

  async *iterAllEntries(options?: TransportReadOptions): AsyncGenerator<IndexEntry, undefined, void> {
    yield* this.iterEntriesPrefix([Array<null>(this.missingElements).fill(null)], options);
  }

  async *iterEntriesPrefix(
    prefixes: Iterable<TuplePrefix>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const whole = Array.from(prefixes, (prefix) => [...this.prefix, ...prefix]);
    for await (const entry of this.adapted.iterEntriesPrefix(whole, options)) yield this.cut(entry);
  }

  async findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet> {
    const wanted = [...new TupleSet(keys)].filter((key) => !parentMap.has(key) && !missing.has(key));
    const wholeParents = new TupleMap<readonly TupleKey[]>();
    const wholeMissing = new TupleSet();
    const next = await this.adapted.findAncestors(
      wanted.map((key) => this.join(key)),
      list,
      wholeParents,
      wholeMissing,
      options,
    );
    for (const [key, parents] of wholeParents)
      parentMap.set(
        this.cutKey(key),
        parents.map((parent) => this.cutKey(parent)),
      );
    for (const key of wholeMissing) missing.add(this.cutKey(key));
    return new TupleSet(
      Array.from(next, (key) => this.cutKey(key)).filter((key) => !parentMap.has(key) && !missing.has(key)),
    );
  }

  findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry> {
    return findAncestryByStep(this, keys, list, options);
  }

  async externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet> {
    const here = new TupleSet();
    const referred = new TupleSet();
    for await (const { key, references } of this.iterAllEntries(options)) {
      here.add(key);
      for (const target of references[list] ?? []) referred.add(target);
    }
    return new TupleSet([...referred].filter((key) => !here.has(key)));
  }

  validate(options?: TransportReadOptions): Promise<void> {
    return this.adapted.validate(options);
  }

  clearCache(): void {
    this.adapted.clearCache();
  }

  close(): Promise<void> {
    return this.adapted.close();
  }

  private join(key: TupleKey): TupleKey {
    if (key.length !== this.missingElements)
      throw new BadKeyError(`key ${JSON.stringify(key)} must have ${this.missingElements} elements behind the prefix`);
    return [...this.prefix, ...key];
  }

  private cutKey(key: TupleKey): TupleKey {
    if (this.prefix.every((element, i) => key[i] === element)) return key.slice(this.prefix.length);
    throw new CorruptError(
      `${JSON.stringify(key)} is referred to from below the prefix ${JSON.stringify(this.prefix)} but lies outside it`,
      'references',
    );
  }

  private cut({ key, value, references }: IndexEntry): IndexEntry {
    return {
      key: this.cutKey(key),
      value,
      references: references.map((list) => list.map((target) => this.cutKey(target))),
    };
  }
}
