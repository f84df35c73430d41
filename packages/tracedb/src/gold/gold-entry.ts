// What is put into a Gold store for a commit, checked and written: its entries, the texts that show people what digests are, and the hash and time of
// the commit where they are known. Equal digests have one text: the options of a trace tell only what it is now. All entries are checked before the
// first is written: a bad one changes nothing. The param set is written first, then digest ids, texts, options, and traces last: whatever a reader
// meets can be read, also when the writer dies half way; putting the same again completes it.

import { chunks, inParallel } from 'spanline/internal/base';
import type { CallDeadline } from '../params/call-deadline.js';
import type { OpsRows } from '../params/ops-rows.js';
import { type CleaningRule, checkKey, checkParams, checkValue, type Params } from '../params/param-text.js';
import type { CommitInfo } from '../perf/commit-log.js';
import { setCell, textOf, valueOfJson } from '../table/cells.js';
import { checkRowKey } from '../table/checked-table.js';
import type { Cell, RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { offsetOf, tileOf } from '../tile.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import type { DigestIds } from './digest-ids.js';
import {
  COMMIT_COLUMN,
  commitRowKey,
  OPTIONS_COLUMN,
  OPTIONS_FAMILY,
  offsetColumn,
  optionsRowKey,
  TEXT_COLUMN,
  TRACE_FAMILY,
  textRowKey,
  traceRowKey,
} from './gold-keys.js';
import { checkDigest, encodeVarint, MISSING_DIGEST, textIn, toMs } from './values.js';

/** One result of one trace at one commit. */
export interface GoldEntry {
  /** What identifies the trace. */
  readonly params: Params;
  /** What is known of the trace beside that, in any characters; left out: what was put before stays. */
  readonly options?: Params;
  /** Digest of the result, lower-case hex; '' says that there is none, and takes back an earlier one. */
  readonly digest: string;
  /** What the result is, for people to read, up to 65,536 characters; it is kept by digest. */
  readonly text?: string;
}

/** UTF-16 code units of the options of one trace as JSON. */
const MAX_OPTIONS_LENGTH = 65_536;
/** UTF-16 code units of the text of a digest. */
const MAX_TEXT_LENGTH = 65_536;

/** Options in their one form: JSON with sorted keys. */
const encodeOptions = (options: Params): string =>
  JSON.stringify(Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))));

/** The options in a cell; `where` is for the message. */
export const decodeOptions = (text: string, where: string): Params => {
  const options = valueOfJson(text);
  if (!isTexts(options)) {
    throw storeCorrupt(`${where} holds no options of a trace; write them again`);
  }
  return Object.freeze(options);
};

const isTexts = (value: unknown): value is Params =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((text) => typeof text === 'string');

const checkOptions = (options: unknown): void => {
  if (!isTexts(options)) throw invalidInput('options must be an object whose values are strings');
  // A tile lists options with the params in one param set.
  for (const [key, value] of Object.entries(options)) {
    checkKey(key);
    checkValue(key, value);
  }
  const text = encodeOptions(options);
  if (text.length > MAX_OPTIONS_LENGTH) {
    throw invalidInput(`options of ${text.length} characters; the limit is ${MAX_OPTIONS_LENGTH}`);
  }
};

/** Throws `ERR_SPANLINE_INVALID_INPUT`, naming the entry, unless every one can be put. */
export const checkEntries = (entries: readonly GoldEntry[], digestDigits: number, rule: CleaningRule): void => {
  if (!Array.isArray(entries)) throw invalidInput('entries must be an array');
  entries.forEach((entry: GoldEntry | null | undefined, i) => {
    try {
      if (!isTexts(entry?.params)) throw invalidInput('params must be an object whose values are strings');
      checkParams(entry.params, rule);
      if (entry.options !== undefined) checkOptions(entry.options);
      if (entry.text !== undefined) textIn('text', entry.text, 0, MAX_TEXT_LENGTH);
      if (entry.digest !== MISSING_DIGEST) checkDigest(entry.digest, digestDigits, 'the entry');
    } catch (cause) {
      throw invalidInput(`entry ${i}: ${(cause as Error).message}`, { cause });
    }
  });
};

/** The rows of the texts that entries bring, each once. */
const textRows = (entries: readonly GoldEntry[], timestampMs: number): RowMutation[] => {
  const rows = new Map<string, RowMutation>();
  for (const { digest, text } of entries) {
    if (text === undefined || digest === MISSING_DIGEST) continue;
    const key = textRowKey(digest);
    rows.set(key, { key, mutations: [setCell(OPTIONS_FAMILY, TEXT_COLUMN, text, timestampMs)] });
  }
  return [...rows.values()];
};

/** What rows of the family of options say of these things, of which each has a row; those that have none are absent. */
const readKept = async <K, V>(
  table: WideColumnTable,
  things: readonly K[],
  keyOf: (thing: K) => string,
  parse: (cells: readonly Cell[], key: string) => V | undefined,
  deadline: CallDeadline,
): Promise<ReadonlyMap<K, V>> => {
  const byKey = new Map(things.map((thing) => [keyOf(thing), thing]));
  const found = new Map<K, V>();
  if (byKey.size === 0) return found;
  const read = { ...deadline.next(), families: [OPTIONS_FAMILY] };
  for await (const rows of table.readRows({ keys: [...byKey.keys()] }, read)) {
    for (const { key, cells } of rows) {
      const value = parse(cells, key);
      if (value !== undefined) found.set(byKey.get(key) as K, value);
    }
  }
  return found;
};

/** The texts of digests; those that nobody brought are absent. */
export const readTexts = (
  table: WideColumnTable,
  digests: readonly string[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<string, string>> =>
  readKept(table, digests, textRowKey, (cells) => textOf(cells, TEXT_COLUMN), deadline);

const MAX_HASH = 256;

/** A commit as it is stored. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const checkedInfo = ({ hash, timestampMs }: CommitInfo): CommitInfo => ({
  hash: textIn('commitInfo.hash', hash, 1, MAX_HASH),
  ...(timestampMs !== undefined && { timestampMs: toMs('commitInfo.timestampMs', timestampMs) }),
});

/** The row that says what is known of a commit. */
export const infoRow = (commit: number, info: CommitInfo, timestampMs: number): RowMutation => ({
  key: commitRowKey(commit),
  mutations: [setCell(OPTIONS_FAMILY, COMMIT_COLUMN, JSON.stringify(info), timestampMs)],
});

const parseInfo = (cells: readonly Cell[], key: string): CommitInfo => {
  const { hash, timestampMs } = (valueOfJson(textOf(cells, COMMIT_COLUMN)) ?? {}) as Partial<CommitInfo>;
  if (typeof hash === 'string' && (timestampMs === undefined || Number.isSafeInteger(timestampMs)))
    return { hash, ...(timestampMs !== undefined && { timestampMs }) };
  throw storeCorrupt(`row ${key} holds no commit; put its results again`);
};

/** What is known of these commits, by number. */
export const readInfos = (
  table: WideColumnTable,
  commits: readonly number[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<number, CommitInfo>> => readKept(table, commits, commitRowKey, parseInfo, deadline);

/** What the parts of a store work with. */
export interface GoldParts {
  readonly table: WideColumnTable;
  readonly tileSize: number;
  readonly opsRows: OpsRows;
  readonly digestIds: DigestIds;
  /** Shards read at a time. */
  readonly shardReads: number;
}

const ROWS_PER_CALL = 1000;
const CALLS_AT_ONCE = 4;

/** Writes checked entries, of which cells with a later time (Unix milliseconds) stay; resolves to the number of trace rows. */
export const writeEntries = async (
  { table, tileSize, opsRows, digestIds }: GoldParts,
  commit: number,
  entries: readonly GoldEntry[],
  times: { readonly digestMs: number; readonly optionsMs: number },
  deadline: CallDeadline,
): Promise<number> => {
  const tile = tileOf(commit, tileSize);
  const column = offsetColumn(offsetOf(commit, tileSize));
  const ops = await opsRows.at(tile).update(
    entries.map(({ params }) => params),
    deadline.next(),
  );
  const ids = await digestIds.idsOf(
    entries.map(({ digest }) => digest),
    deadline,
  );
  // One row once: the last entry of a trace wins, which the order of the calls could not promise.
  const traces = new Map<string, RowMutation>();
  const options = new Map<string, RowMutation>();
  const setRow = (
    rows: typeof traces,
    key: string,
    family: string,
    qualifier: string,
    value: Uint8Array,
    timestampMs: number,
  ): void => {
    checkRowKey(key);
    rows.set(key, { key, mutations: [setCell(family, qualifier, value, timestampMs)] });
  };
  for (const entry of entries) {
    const encoded = ops.encode(entry.params);
    const id = encodeVarint(ids.get(entry.digest) as number);
    setRow(traces, traceRowKey(tile, encoded), TRACE_FAMILY, column, id, times.digestMs);
    if (entry.options === undefined) continue;
    const text = Buffer.from(encodeOptions(entry.options));
    setRow(options, optionsRowKey(tile, encoded), OPTIONS_FAMILY, OPTIONS_COLUMN, text, times.optionsMs);
  }
  for (const rows of [textRows(entries, times.digestMs), [...options.values()], [...traces.values()]]) {
    await inParallel(chunks(rows, ROWS_PER_CALL), CALLS_AT_ONCE, (chunk) => table.mutateRows(chunk, deadline.next()));
  }
  return traces.size;
};
