// What all graph indices have, whether they are a file, several, or a part of one: their interface, what a step of a search leaves to be asked,
// and the closure over several of them. Searches terminate on cycles, since nothing is asked twice.

import { BadOptionsError } from '../container/graph-error.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import { type TupleKey, TupleMap, type TuplePrefix, TupleSet } from './tuple-key.js';

/** What an entry refers to by a list. */
export const referencesOf = ({ references }: IndexEntry, list: number): readonly TupleKey[] => {
  const found = references[list];
  if (found !== undefined) return found;
  throw new BadOptionsError(`the index has ${references.length} reference lists, no list ${list}`);
};

/** Parents of `keys` that are neither found nor known to be missing. */
export const nextToAsk = (
  keys: Iterable<TupleKey>,
  parentMap: TupleMap<readonly TupleKey[]>,
  missing: TupleSet,
): TupleSet => {
  const next = new TupleSet();
  for (const key of keys) {
    for (const parent of parentMap.get(key) ?? []) if (!parentMap.has(parent) && !missing.has(parent)) next.add(parent);
  }
  return next;
};

/** What can be reached from `keys` in `found`; whatever is not there is missing. */
const closureIn = (keys: Iterable<TupleKey>, found: TupleMap<readonly TupleKey[]>): FoundAncestry => {
  const parentMap = new TupleMap<readonly TupleKey[]>();
  const missing = new TupleSet();
  const stack = [...keys];
  for (let key = stack.pop(); key !== undefined; key = stack.pop()) {
    if (parentMap.has(key) || missing.has(key)) continue;
    const parents = found.get(key);
    if (parents === undefined) missing.add(key);
    else {
      parentMap.set(key, parents);
      for (const parent of parents) stack.push(parent);
    }
  }
  return { parentMap, missing };
};

/**
 * The closure over several indices, of which the first that has a key answers for it. A round asks each index for its whole closure of
 * what was not found before it, so rounds are as many as the references go back and forth between indices, not as long as the history.
 */
export const findAncestryOver = async (
  indices: readonly ReadableIndex[],
  keys: Iterable<TupleKey>,
  list: number,
  options?: TransportReadOptions,
): Promise<FoundAncestry> => {
  const starts = new TupleSet(keys);
  const found = new TupleMap<readonly TupleKey[]>();
  const missing = new TupleSet();
  for (let unknown = starts; unknown.size > 0; ) {
    const fresh: TupleKey[] = [];
    let left = unknown;
    for (const [place, index] of indices.entries()) {
      if (left.size === 0) break;
      const answer = await index.findAncestry(left, list, options);
      const contested = answer.parentMap.keys().filter((key) => !found.has(key));
      for (const key of contested) fresh.push(key);
      // An index walks through keys that one before it has too: those are not its to answer.
      for (const earlier of indices.slice(0, place)) {
        const open = contested.filter((key) => !found.has(key));
        for await (const entry of earlier.iterEntries(open, options)) found.set(entry.key, referencesOf(entry, list));
      }
      for (const [key, parents] of answer.parentMap) if (!found.has(key)) found.set(key, parents);
      left = new TupleSet([...answer.missing].filter((key) => !found.has(key)));
    }
    // What this round began with every index was asked for; the rest of what is left may be in an earlier one.
    for (const key of unknown) if (!found.has(key)) missing.add(key);
    unknown = nextToAsk(fresh, found, missing);
  }
  return closureIn(starts, found);
};

/** A node of an index. */
export interface IndexEntry {
  readonly key: TupleKey;
  readonly value: Uint8Array;
  /** One for each reference list. */
  readonly references: readonly (readonly TupleKey[])[];
}

/** A closure over references. */
export interface FoundAncestry {
  /** Every key that was reached and is here, with what it refers to. */
  readonly parentMap: TupleMap<readonly TupleKey[]>;
  /** Keys that were reached and are not here. */
  readonly missing: TupleSet;
}

/** What every index answers. Entries come in no order unless said otherwise. */
export interface ReadableIndex {
  /** Nodes of the index; for a combined one the sum of its children, of which some may have the same. */
  keyCount(): Promise<number>;
  /** The entries of those keys that are here. */
  iterEntries(keys: Iterable<TupleKey>, options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  iterAllEntries(options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  /** The entries whose keys begin with one of the prefixes, element by element. */
  iterEntriesPrefix(prefixes: Iterable<TuplePrefix>, options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  /**
   * One step of a search: the parents of `keys` by reference list `list` go into `parentMap`, keys that are not here into `missing`.
   * The result is what to ask next: parents in neither. Stop or go on as you like.
   */
  findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet>;
  /** The whole closure. */
  findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry>;
  /** Keys that reference list `list` refers to and that are not here. */
  externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet>;
  /** Reads everything and checks it; rejects with the first damage. */
  validate(options?: TransportReadOptions): Promise<void>;
  /** Forget decoded blocks. */
  clearCache(): void;
  close(): Promise<void>;
}
