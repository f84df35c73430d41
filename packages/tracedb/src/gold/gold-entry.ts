// What is put into a Gold store, and its checks. All entries are checked before the first is written: a bad one changes nothing.
import { type CleaningRule, checkParams } from '../params/cleaning.js';
import { checkKey, checkValue, type Params } from '../params/param-text.js';
import { valueOfJson } from '../table/cells.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import { checkDigest, MISSING_DIGEST } from './digest.js';
import { textIn } from './values.js';

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
