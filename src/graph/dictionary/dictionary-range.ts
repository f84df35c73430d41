// Entries of a dictionary, and ranges of them: what a block has of a range.
import type { DecodedBlock } from './dictionary-blocks.js';
import type { DictionaryIndex } from './dictionary-index.js';
import { behindPrefix } from './key-bytes.js';
import { BLANK } from './ordinal-columns.js';

/** A key and its places. */
export interface DictionaryEntry {
  readonly key: Buffer;
  /** Keys before it. */
  readonly rank: number;
  /** Its ordinal in each graph, -1 where it is not in that graph. */
  readonly ordinals: readonly number[];
}

/** Keys from `start` up to but not including `end`; left out: from the first, to the last. */
export interface KeyRange {
  readonly start?: Uint8Array;
  readonly end?: Uint8Array;
}

/** Place `i` of a block that was fetched with its ordinals. */
export const entryOf = (
  index: DictionaryIndex,
  { keys, ordinals }: DecodedBlock,
  block: number,
  i: number,
): DictionaryEntry => ({
  key: keys.key(i),
  rank: block * index.blockKeys + i,
  ordinals: (ordinals ?? []).map((column) => (column[i] === BLANK ? -1 : column[i])),
});

/** The entries of a block that lie in a range. */
export const entriesIn = (
  index: DictionaryIndex,
  decoded: DecodedBlock,
  block: number,
  { start, end }: KeyRange,
): DictionaryEntry[] => {
  const { keys } = decoded;
  const placeOf = (key: Uint8Array): number => {
    const place = keys.search(key);
    return place < 0 ? ~place : place;
  };
  const first = start === undefined ? 0 : placeOf(start);
  const behind = end === undefined ? keys.count : placeOf(end);
  const entries: DictionaryEntry[] = [];
  for (let i = first; i < behind; i++) entries.push(entryOf(index, decoded, block, i));
  return entries;
};

/** The range of the keys that begin with `prefix`. */
export const rangeOfPrefix = (prefix: Uint8Array): KeyRange => ({ start: prefix, end: behindPrefix(prefix) });
