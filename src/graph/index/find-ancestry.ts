// Searches over references that are the same for all indices: what a step leaves to be asked, and the closure by repeated steps. They
// terminate on cycles, since nothing is asked twice.
import { BadOptionsError } from '../../container/graph-error.js';
import type { TransportReadOptions } from '../../container/transport/transport.js';
import type { FoundAncestry, IndexEntry, ReadableIndex } from './graph-index-types.js';
import { type TupleKey, TupleMap, TupleSet } from './tuple-key.js';

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
