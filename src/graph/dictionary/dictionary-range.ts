// Entries of a dictionary: what a block has of a range of keys.
import type { DecodedBlock } from './dictionary-blocks.js';
import type { DictionaryIndex } from './dictionary-index.js';
import type { KeyRange } from './key-bytes.js';
import { BLANK } from './ordinal-columns.js';

/** A key and its places. */
export interface DictionaryEntry {
  readonly key: Buffer;
  /** Keys before it. */
  readonly rank: number;
  /** Its ordinal in each graph, -1 where it is not in that graph. */
  readonly ordinals: readonly number[];
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
