// Several indices as one: children are asked in order, the first that has a key wins. Children that answered move to the front, because
// what was asked of them last is asked of them next. When a file has vanished the caller's reload gives new children; nothing
// that was handed out before comes twice.
import { BadOptionsError, ChangedError, ClosedError, NotFoundError, TransportError } from '../container/graph-error.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import {
  type FoundAncestry,
  findAncestryOver,
  type IndexEntry,
  nextToAsk,
  type ReadableIndex,
  referencesOf,
} from './readable-index.js';
import { type TupleKey, TupleMap, type TuplePrefix, TupleSet } from './tuple-key.js';

/** How indices are combined. */
export interface CombinedGraphIndexOptions {
  /**
   * Called when a child's file can no longer be read. Resolves to the children there are now, or undefined when nothing changed:
   * then the failure stands. Those it leaves out are its to close. It is called once for readers that fail at the same time.
   */
  readonly reload?: () => Promise<readonly ReadableIndex[] | undefined>;
}

const isVanished = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof NotFoundError || error instanceof ChangedError;

/** Reloads of one call at most: files that vanish faster than they are read are an error. */
const MAX_RELOADS = 10;

/**
 * Reads several indices as one. Interface: bzr's CombinedGraphIndex.
 *
 * @example
 * ```ts
 * import { BufferSink, CombinedGraphIndex, GraphIndex, GraphIndexBuilder } from '@spanline/graph';
 * const build = async (name: string) => {
 *   const sink = new BufferSink();
 *   const builder = new GraphIndexBuilder(sink);
 *   builder.addNode([name], Buffer.from('value'));
 *   await builder.finish();
 *   return GraphIndex.open(sink.toBuffer());
 * };
 * const combined = new CombinedGraphIndex([await build('new'), await build('old')]);
 * for await (const { key } of combined.iterEntries([['old']])) console.assert(key[0] === 'old');
 * console.assert((await combined.keyCount()) === 2);
 * await combined.close();
 * ```
 */
export class CombinedGraphIndex implements ReadableIndex {
  readonly #options: CombinedGraphIndexOptions;
  #children: ReadableIndex[];
  readonly #names = new WeakMap<ReadableIndex, string>();
  /** Goes up with every reload: who fails on children of a reload ago need not ask for another. */
  #generation = 0;
  #reloading: Promise<boolean> | undefined;

  constructor(children: readonly ReadableIndex[], options: CombinedGraphIndexOptions = {}) {
    this.#options = options;
    this.#children = [...children];
  }

  /** Put an index at a place of the order; 0 is asked first. */
  insertIndex(position: number, index: ReadableIndex, name?: string): void {
    if (!Number.isInteger(position) || position < 0 || position > this.#children.length)
      throw new BadOptionsError(`there are places 0 to ${this.#children.length} for an index, not ${position}`);
    this.#children.splice(position, 0, index);
    if (name !== undefined) this.#names.set(index, name);
  }

  /** The children in the order in which they are asked now, with the names they were inserted by. */
  indices(): readonly { readonly index: ReadableIndex; readonly name: string | undefined }[] {
    return this.#children.map((index) => ({ index, name: this.#names.get(index) }));
  }

  keyCount(): Promise<number> {
    return this.#retrying(async () =>
      (await Promise.all(this.#children.map((child) => child.keyCount()))).reduce((a, b) => a + b, 0),
    );
  }

  async *iterEntries(
    keys: Iterable<TupleKey>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const left = new TupleSet(keys);
    yield* this.#retryingEach(async function* (child) {
      if (left.size === 0) return;
      for await (const entry of child.iterEntries([...left], options)) {
        if (left.delete(entry.key)) yield entry;
      }
    }, true);
  }

  async *iterAllEntries(options?: TransportReadOptions): AsyncGenerator<IndexEntry, undefined, void> {
    yield* this.#once((child) => child.iterAllEntries(options));
  }

  async *iterEntriesPrefix(
    prefixes: Iterable<TuplePrefix>,
    options?: TransportReadOptions,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const wanted = [...prefixes];
    yield* this.#once((child) => child.iterEntriesPrefix(wanted, options), true);
  }

  /** What each key refers to by the first list; keys that are nowhere are left out. */
  async getParentMap(keys: Iterable<TupleKey>, options?: TransportReadOptions): Promise<TupleMap<readonly TupleKey[]>> {
    const parents = new TupleMap<readonly TupleKey[]>();
    for await (const { key, references } of this.iterEntries(keys, options)) parents.set(key, references[0] ?? []);
    return parents;
  }

  async findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet> {
    const asked = new TupleSet(keys);
    const wanted = new TupleSet([...asked].filter((key) => !parentMap.has(key) && !missing.has(key)));
    for await (const entry of this.iterEntries(wanted, options)) {
      parentMap.set(entry.key, referencesOf(entry, list));
      wanted.delete(entry.key);
    }
    for (const key of wanted) missing.add(key);
    return nextToAsk(asked, parentMap, missing);
  }

  findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry> {
    const wanted = [...keys];
    return this.#retrying(() => findAncestryOver([...this.#children], wanted, list, options));
  }

  async externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet> {
    const external = await this.#retrying(async () => {
      const found = new TupleSet();
      for (const child of this.#children)
        for (const key of await child.externalReferences(list, options)) found.add(key);
      return found;
    });
    // What one child lacks another may have.
    for await (const { key } of this.iterEntries([...external], options)) external.delete(key);
    return external;
  }

  validate(options?: TransportReadOptions): Promise<void> {
    return this.#retrying(async () => {
      for (const child of this.#children) await child.validate(options);
    });
  }

  clearCache(): void {
    for (const child of this.#children) child.clearCache();
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.close()));
  }

  /** Entries of all children, those of one key only from the first. */
  async *#once(
    entries: (child: ReadableIndex) => AsyncIterableIterator<IndexEntry>,
    movesHits = false,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const seen = new TupleSet();
    yield* this.#retryingEach(async function* (child) {
      for await (const entry of entries(child)) {
        if (seen.has(entry.key)) continue;
        seen.add(entry.key);
        yield entry;
      }
    }, movesHits);
  }

  async *#retryingEach(
    work: (child: ReadableIndex) => AsyncGenerator<IndexEntry, void, void>,
    movesHits: boolean,
  ): AsyncGenerator<IndexEntry, undefined, void> {
    const hits = new Set<ReadableIndex>();
    for (let reloads = 0; ; reloads++) {
      const generation = this.#generation;
      try {
        for (const child of [...this.#children]) {
          for await (const entry of work(child)) {
            hits.add(child);
            yield entry;
          }
        }
        break;
      } catch (error) {
        await this.#reload(error, generation, reloads);
      }
    }
    if (movesHits && hits.size > 0) {
      this.#children = [
        ...this.#children.filter((child) => hits.has(child)),
        ...this.#children.filter((child) => !hits.has(child)),
      ];
    }
  }

  async #retrying<T>(work: () => Promise<T>): Promise<T> {
    for (let reloads = 0; ; reloads++) {
      const generation = this.#generation;
      try {
        return await work();
      } catch (error) {
        await this.#reload(error, generation, reloads);
      }
    }
  }

  /** Take new children after a failure of those of `generation`; throws `error` on when that does not help. */
  async #reload(error: unknown, generation: number, reloads: number): Promise<void> {
    if (reloads === MAX_RELOADS) throw error;
    if (generation !== this.#generation) {
      // Somebody else has reloaded by now, and may have closed the old children.
      if (isVanished(error) || error instanceof ClosedError) return;
      throw error;
    }
    if (!isVanished(error) || this.#options.reload === undefined) throw error;
    this.#reloading ??= this.#takeNew(this.#options.reload).finally(() => {
      this.#reloading = undefined;
    });
    if (!(await this.#reloading)) throw error;
  }

  async #takeNew(reload: () => Promise<readonly ReadableIndex[] | undefined>): Promise<boolean> {
    const children = await reload();
    if (children === undefined) return false;
    this.#children = [...children];
    this.#generation++;
    return true;
  }
}
