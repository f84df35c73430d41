// What is put into a Gold store for a commit, checked and as rows: its entries, the texts that show people what digests are, and the hash and time of
// the commit where they are known. Equal digests have one text: the options of a trace tell only what it is now. All entries are checked before the
// first is written: a bad one changes nothing.

import type { CallDeadline } from '../params/call-deadline.js';
import { type CleaningRule, checkKey, checkParams, checkValue, type Params } from '../params/param-text.js';
import type { CommitInfo } from '../perf/commit-log.js';
import { setCell, textOf, valueOfJson } from '../table/cells.js';
import type { RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import { COMMIT_COLUMN, commitRowKey, OPTIONS_FAMILY, TEXT_COLUMN, textRowKey } from './gold-keys.js';
import { checkDigest, MISSING_DIGEST, textIn, toMs } from './values.js';

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
export const encodeOptions = (options: Params): string =>
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
export const textRows = (entries: readonly GoldEntry[], timestampMs: number): RowMutation[] => {
  const rows = new Map<string, RowMutation>();
  for (const { digest, text } of entries) {
    if (text === undefined || digest === MISSING_DIGEST) continue;
    const key = textRowKey(digest);
    rows.set(key, { key, mutations: [setCell(OPTIONS_FAMILY, TEXT_COLUMN, text, timestampMs)] });
  }
  return [...rows.values()];
};

/** The texts of digests; those that nobody brought are absent. */
export const readTexts = async (
  table: WideColumnTable,
  digests: readonly string[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<string, string>> => {
  const byKey = new Map(digests.map((digest) => [textRowKey(digest), digest]));
  const found = new Map<string, string>();
  if (byKey.size === 0) return found;
  const read = { ...deadline.next(), families: [OPTIONS_FAMILY] };
  for await (const rows of table.readRows({ keys: [...byKey.keys()] }, read)) {
    for (const { key, cells } of rows) {
      const text = textOf(cells, TEXT_COLUMN);
      if (text !== undefined) found.set(byKey.get(key) as string, text);
    }
  }
  return found;
};

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

const parse = (text: string | undefined, key: string): CommitInfo => {
  const { hash, timestampMs } = (valueOfJson(text) ?? {}) as Partial<CommitInfo>;
  if (typeof hash === 'string' && (timestampMs === undefined || Number.isSafeInteger(timestampMs)))
    return { hash, ...(timestampMs !== undefined && { timestampMs }) };
  throw storeCorrupt(`row ${key} holds no commit; put its results again`);
};

/** What is known of these commits, by number. */
export const readInfos = async (
  table: WideColumnTable,
  commits: readonly number[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<number, CommitInfo>> => {
  const byKey = new Map(commits.map((commit) => [commitRowKey(commit), commit]));
  const found = new Map<number, CommitInfo>();
  if (byKey.size === 0) return found;
  const read = { ...deadline.next(), families: [OPTIONS_FAMILY] };
  for await (const rows of table.readRows({ keys: [...byKey.keys()] }, read)) {
    for (const { key, cells } of rows) found.set(byKey.get(key) as number, parse(textOf(cells, COMMIT_COLUMN), key));
  }
  return found;
};
