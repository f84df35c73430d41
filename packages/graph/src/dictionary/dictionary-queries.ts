// What can be asked of a dictionary, as readings. Answers come in the order of the questions; blocks are read in the order of the file, each once. A
// walk over a range fetches a window of blocks at a time, larger ones the longer it lasts, and decodes one block at a time: one that ends early has
// read little, one that goes on makes few requests.
import { chunks, getOrMake } from 'spanline/internal/base';
import type { Reading } from '../container/container.js';
import { CorruptError, LimitError, NotFoundError } from '../container/graph-error.js';
import type { BlockTable } from './block-table.js';
import { type DecodedBlock, type DictionaryBlocks, type Tables, WINDOW_TABLES } from './dictionary-blocks.js';
import type { DictionaryIndex } from './dictionary-index.js';
import { checkKey, type KeyRange, type KeyTable, rangeOfPrefix } from './key-bytes.js';
import type { KeyFilter } from './key-filter.js';
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
const entryOf = (
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
const entriesIn = (
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
type Batch = () => DictionaryEntry[];

/** A walk over a range: readings of its blocks, window after window. Each is to be run to its end before the next one is asked for. */
export function* windowsOf(blocks: DictionaryBlocks, range: KeyRange): Generator<Reading<readonly Batch[]>, void> {
  const { index } = blocks;
  let tables: Tables | undefined;
  let span = { first: 0, last: -1 };
  let next = 0;
  let windowBytes = FIRST_WINDOW_BYTES;
  function* reading(): Reading<readonly Batch[]> {
    if (tables === undefined) {
      const { first, last } = blocks.indexBlocksOfRange(range);
      tables = yield* blocks.tables([first, last]);
      span = blocks.blocksOfRange(tables, range);
      next = span.first;
    }
    if (next > span.last) return [];
    const indexBlock = blocks.indexBlockOf(next);
    if (!tables.has(indexBlock)) tables = yield* blocks.tables([indexBlock]);
    const behind = Math.min(span.last + 1, index.cuts[indexBlock + 1]);
    const ahead = Array.from({ length: behind - next }, (_, i) => next + i);
    const window = ahead.slice(0, blocks.windowEnd(tables, ahead, 0, windowBytes));
    const keep = span.last - span.first < MAX_KEPT_BLOCKS;
    const decoders = yield* blocks.fetch(tables, window, { ordinals: true, keep });
    next += window.length;
    windowBytes = Math.min(MAX_WINDOW_BYTES, windowBytes * 2);
    return window.map((block, i) => () => entriesIn(index, decoders[i](), block, range));
  }
  do yield reading();
  while (next <= span.last);
}

/** What batches give, one at a time, without those that have nothing. */
export function* entriesOf(batches: readonly Batch[]): Generator<DictionaryEntry[]> {
  for (const batch of batches) {
    const entries = batch();
    if (entries.length > 0) yield entries;
  }
}

const WITH_ORDINALS = { ordinals: true, keep: true } as const;
const KEYS_ONLY = { ordinals: false, keep: true } as const;

const addTo = (groups: Map<number, number[]>, group: number, member: number): void => {
  getOrMake(groups, group, () => []).push(member);
};

/** Numbers of questions by the number they have here, numbers ascending. */
const grouped = (numbers: ArrayLike<number>, questions: Iterable<number>): Map<number, number[]> => {
  const groups = new Map<number, number[]>();
  for (const question of questions) addTo(groups, numbers[question], question);
  return new Map([...groups].sort(([a], [b]) => a - b));
};

/** Where a key is. */
interface Found {
  readonly block: number;
  readonly decoded: DecodedBlock;
  readonly place: number;
}

/** The place of `key`, if the dictionary has it. */
function* find(blocks: DictionaryBlocks, filter: KeyFilter | undefined, key: Uint8Array): Reading<Found | undefined> {
  checkKey(key);
  if (blocks.index.keyCount === 0 || filter?.mayHave(key) === false) return undefined;
  const indexBlock = blocks.indexBlockOfKey(key);
  const table = blocks.index.table ?? ((yield* blocks.tables([indexBlock])).get(indexBlock) as BlockTable);
  const block = table.firstBlock + table.find(key);
  const decoded = yield* blocks.fetchOne(table, block);
  const place = decoded.keys.search(key);
  return place < 0 ? undefined : { block, decoded, place };
}

/** The entry of `key`. */
export function* lookupOne(
  blocks: DictionaryBlocks,
  filter: KeyFilter | undefined,
  key: Uint8Array,
): Reading<DictionaryEntry | undefined> {
  const found = yield* find(blocks, filter, key);
  return found === undefined ? undefined : entryOf(blocks.index, found.decoded, found.block, found.place);
}

/** The ordinal of `key` in `graph`, -1 where there is none. */
export function* ordinalOf(
  blocks: DictionaryBlocks,
  filter: KeyFilter | undefined,
  key: Uint8Array,
  graph: number,
): Reading<number> {
  const found = yield* find(blocks, filter, key);
  const ordinal = found?.decoded.ordinals?.[graph]?.[found.place] ?? BLANK;
  return ordinal === BLANK ? -1 : ordinal;
}

/** The entries of `keys`. */
export function* lookupMany(
  blocks: DictionaryBlocks,
  filter: KeyFilter | undefined,
  keys: readonly Uint8Array[],
): Reading<(DictionaryEntry | undefined)[]> {
  keys.forEach(checkKey);
  const answers = new Array<DictionaryEntry | undefined>(keys.length).fill(undefined);
  if (blocks.index.keyCount === 0) return answers;
  const questions = [...keys.keys()].filter((i) => filter?.mayHave(keys[i]) !== false);
  const byIndexBlock = [
    ...grouped(
      keys.map((key) => blocks.indexBlockOfKey(key)),
      questions,
    ),
  ];
  const places = new Float64Array(keys.length);
  for (const stretch of chunks(byIndexBlock, WINDOW_TABLES)) {
    const tables = yield* blocks.tables(stretch.map(([indexBlock]) => indexBlock));
    for (const [indexBlock, asked] of stretch) {
      const table = tables.get(indexBlock);
      if (table !== undefined) for (const i of asked) places[i] = table.firstBlock + table.find(keys[i]);
    }
    const byBlock = grouped(
      places,
      stretch.flatMap(([, asked]) => asked),
    );
    yield* blocks.visit(tables, [...byBlock.keys()], WITH_ORDINALS, (decoded, block) => {
      for (const i of byBlock.get(block) ?? []) {
        const place = decoded.keys.search(keys[i]);
        if (place >= 0) answers[i] = entryOf(blocks.index, decoded, block, place);
      }
    });
  }
  return answers;
}

/** The keys at `ranks`. */
export function* keysAt(blocks: DictionaryBlocks, ranks: ArrayLike<number>): Reading<Buffer[]> {
  const { keyCount, blockKeys } = blocks.index;
  const numbers = new Float64Array(ranks.length);
  for (let i = 0; i < ranks.length; i++) {
    if (!(Number.isInteger(ranks[i]) && ranks[i] >= 0 && ranks[i] < keyCount)) {
      throw new NotFoundError(`no key has rank ${ranks[i]}: there are ${keyCount}`);
    }
    numbers[i] = Math.floor(ranks[i] / blockKeys);
  }
  const answers = new Array<Buffer>(ranks.length);
  const byBlock = grouped(numbers, [...numbers.keys()]);
  const byIndexBlock = new Map<number, number[]>();
  for (const block of byBlock.keys()) addTo(byIndexBlock, blocks.indexBlockOf(block), block);
  for (const stretch of chunks([...byIndexBlock], WINDOW_TABLES)) {
    const tables = yield* blocks.tables(stretch.map(([indexBlock]) => indexBlock));
    const wanted = stretch.flatMap(([, group]) => group);
    yield* blocks.visit(tables, wanted, KEYS_ONLY, ({ keys }, block) => {
      for (const i of byBlock.get(block) ?? []) answers[i] = keys.key(ranks[i] - block * blockKeys);
    });
  }
  return answers;
}

/** All keys in their order. They are not kept in the cache. */
export function* allKeys(blocks: DictionaryBlocks, maxBytes: number): Reading<KeyTable> {
  const { keyCount, keyBytes, blockKeys, blockCount } = blocks.index;
  const needed = keyBytes + (keyCount + 1) * 4;
  if (needed > maxBytes || keyBytes > 0xffffffff) {
    throw new LimitError(`all keys take ${needed} bytes, the limit is ${maxBytes}: take them by range, or raise it`);
  }
  const wrong = (): CorruptError =>
    new CorruptError(`the dictionary index names ${keyBytes} bytes of keys, which is wrong`, 'dictionaryIndex');
  const bytes = Buffer.allocUnsafeSlow(keyBytes);
  const offsets = new Uint32Array(keyCount + 1);
  for (let first = 0; first < blockCount; ) {
    const indexBlock = blocks.indexBlockOf(first);
    const end = blocks.index.cuts[indexBlock + 1];
    const tables = yield* blocks.tables([indexBlock]);
    const wanted = Array.from({ length: end - first }, (_, i) => first + i);
    yield* blocks.visit(tables, wanted, { ordinals: false, keep: false }, ({ keys }, block) => {
      const at = offsets[block * blockKeys];
      if (at + keys.totalBytes > keyBytes) throw wrong();
      keys.copyAll(bytes, at, offsets, block * blockKeys + 1);
    });
    first = end;
  }
  if (offsets[keyCount] !== keyBytes) throw wrong();
  return { bytes, offsets };
}

/** For each prefix the entries of the keys that begin with it. */
export function* lookupPrefixes(
  blocks: DictionaryBlocks,
  filter: KeyFilter | undefined,
  prefixes: readonly Uint8Array[],
): Reading<DictionaryEntry[][]> {
  const answers = prefixes.map((): DictionaryEntry[] => []);
  if (blocks.index.keyCount === 0) return answers;
  const questions = [...prefixes.keys()].filter((i) => filter?.mayHavePrefix(prefixes[i]) !== false);
  questions.sort((a, b) => Buffer.compare(prefixes[a], prefixes[b]));
  for (let from = 0; from < questions.length; ) {
    // As many as a window of index blocks can tell of, one at least.
    const indexBlocks = new Set<number>();
    let end = from;
    for (; end < questions.length && (end === from || indexBlocks.size < WINDOW_TABLES); end++) {
      const { first, last } = blocks.indexBlocksOfRange(rangeOfPrefix(prefixes[questions[end]]));
      for (let i = first; i <= last; i++) indexBlocks.add(i);
    }
    const tables = yield* blocks.tables(indexBlocks);
    const asked = new Map<number, number[]>();
    for (const i of questions.slice(from, end)) {
      const { first, last } = blocks.blocksOfRange(tables, rangeOfPrefix(prefixes[i]));
      for (let block = first; block <= last; block++) addTo(asked, block, i);
    }
    const wanted = [...asked.keys()].sort((a, b) => a - b);
    yield* blocks.visit(tables, wanted, WITH_ORDINALS, (decoded, block) => {
      for (const i of asked.get(block) ?? []) {
        answers[i].push(...entriesIn(blocks.index, decoded, block, rangeOfPrefix(prefixes[i])));
      }
    });
    from = end;
  }
  return answers;
}
