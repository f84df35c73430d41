// Entries of a dictionary, and how far a walk over a range of them has come. It fetches a window of blocks at a time, larger ones the longer
// the walk lasts, and decodes one block at a time: a walk that ends early has read little, one that goes on makes few requests.

import type { Reading } from '../container/container.js';
import type { DecodedBlock, DictionaryBlocks, Tables } from './dictionary-blocks.js';
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

const FIRST_WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 1024 * 1024;
/** A longer walk would only push out of the cache what look-ups use. */
const MAX_KEPT_BLOCKS = 32;

/** Decodes a block and gives what it has of the range. */
export type Batch = () => DictionaryEntry[];

/** A walk over a range. */
export class RangeCursor {
  readonly #blocks: DictionaryBlocks;
  readonly #range: KeyRange;
  #next = 0;
  #last = -1;
  #tables: Tables | undefined;
  #windowBytes = FIRST_WINDOW_BYTES;
  #keep = false;

  constructor(
    blocks: DictionaryBlocks,
    range: KeyRange,
    /** Nothing is left. */
    public isDone: boolean,
  ) {
    this.#blocks = blocks;
    this.#range = range;
  }

  /** The next blocks of the range, fetched. */
  *window(): Reading<readonly Batch[]> {
    const blocks = this.#blocks;
    const range = this.#range;
    const { index } = blocks;
    this.#tables ??= yield* this.#begin();
    if (this.#next > this.#last) {
      this.isDone = true;
      return [];
    }
    const indexBlock = blocks.indexBlockOf(this.#next);
    if (!this.#tables.has(indexBlock)) this.#tables = yield* blocks.tables([indexBlock]);
    const behind = Math.min(this.#last + 1, index.cuts[indexBlock + 1]);
    const ahead = Array.from({ length: behind - this.#next }, (_, i) => this.#next + i);
    const window = ahead.slice(0, blocks.windowEnd(this.#tables, ahead, 0, this.#windowBytes));
    const decoders = yield* blocks.fetch(this.#tables, window, { ordinals: true, keep: this.#keep });
    this.#next += window.length;
    this.isDone = this.#next > this.#last;
    this.#windowBytes = Math.min(MAX_WINDOW_BYTES, this.#windowBytes * 2);
    return window.map((block, i) => () => entriesIn(index, decoders[i](), block, range));
  }

  *#begin(): Reading<Tables> {
    const { first, last } = this.#blocks.indexBlocksOfRange(this.#range);
    const tables = yield* this.#blocks.tables([first, last]);
    const span = this.#blocks.blocksOfRange(tables, this.#range);
    this.#next = span.first;
    this.#last = span.last;
    this.#keep = span.last - span.first < MAX_KEPT_BLOCKS;
    return tables;
  }
}

/** What batches give, one at a time, without those that have nothing. */
export function* entriesOf(batches: readonly Batch[]): Generator<DictionaryEntry[]> {
  for (const batch of batches) {
    const entries = batch();
    if (entries.length > 0) yield entries;
  }
}
