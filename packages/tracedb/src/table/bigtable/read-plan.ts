// What a read asks the server for: the rows that are left, from behind the last one that was read on, so that a read whose connection broke goes on
// without a row twice or a row less; and what the server leaves out of them. The first filter of every chain keeps the latest cell only: the server
// removes older ones lazily, and a filter by value before it would find a value that was overwritten.
import type { protos } from '@google-cloud/bigtable';
import { compareBytes, prefixEnd } from '../cells.js';
import type { Predicate, ReadOptions, RowSelection } from '../wide-column-table.js';

type RowFilter = protos.google.bigtable.v2.IRowFilter;

// The service takes filters of up to 20 KB.
const MAX_FILTER_BYTES = 16 * 1024;

const FAMILY = /^[A-Za-z0-9_]+$/;

const LATEST: RowFilter = { cellsPerColumnLimitFilter: 1 };

const SPECIAL = /[^A-Za-z0-9_]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are legal in qualifiers
const ASCII = /^[\x00-\x7f]*$/;

/** The regex, in the dialect of Bigtable's filters, that matches exactly one of `texts`; undefined when it cannot be told: what filters make of bytes beyond ASCII differs between servers. */
const exactRegex = (texts: readonly string[]): string | undefined => {
  if (!texts.every((text) => ASCII.test(text))) return undefined;
  // Always a group: some servers write the match of the whole value around it without one.
  return `(?:${texts.map((text) => text.replace(SPECIAL, '\\$&')).join('|')})`;
};

/** A read's filter. */
export interface ReadFilter {
  readonly filter: RowFilter;
  /** Qualifiers that the filter cannot express or has no room for; the reader has to sort them out. */
  readonly qualifiers: ReadonlySet<string> | undefined;
}

/** The filter of a read; without cells the server sends one empty cell a row. */
export const readFilter = ({ families, qualifiers }: ReadOptions, withCells: boolean): ReadFilter => {
  const filters: RowFilter[] = [LATEST];
  // What cannot name a family has no cells, and no business in a regex.
  if (families !== undefined) {
    filters.push({ familyNameRegexFilter: exactRegex(families.filter((family) => FAMILY.test(family))) });
  }
  let unfiltered: ReadonlySet<string> | undefined;
  if (qualifiers !== undefined) {
    const regex = exactRegex(qualifiers);
    if (regex === undefined || regex.length > MAX_FILTER_BYTES) unfiltered = new Set(qualifiers);
    else filters.push({ columnQualifierRegexFilter: Buffer.from(regex) });
  }
  if (!withCells) {
    if (unfiltered === undefined) filters.push({ cellsPerRowLimitFilter: 1 });
    filters.push({ stripValueTransformer: true });
  }
  return { filter: filters.length === 1 ? LATEST : { chain: { filters } }, qualifiers: unfiltered };
};

/** The filter that lets a cell through when the predicate holds. Ranges from a value to itself need no escaping. */
export const predicateFilter = ({ family, qualifier, value }: Predicate): RowFilter => {
  const column = Buffer.from(qualifier);
  const filters: RowFilter[] = [
    LATEST,
    { columnRangeFilter: { familyName: family, startQualifierClosed: column, endQualifierClosed: column } },
  ];
  if (value !== undefined) {
    filters.push({ valueRangeFilter: { startValueClosed: value, endValueClosed: value } });
  }
  return { chain: { filters } };
};

type RowSet = protos.google.bigtable.v2.IRowSet;

// Keeps a request with a list of keys small; the service refuses large ones.
const MAX_KEYS = 1000;
const MAX_KEY_BYTES = 128 * 1024;

/** The rows that are left. */
export interface ReadPlan {
  /** What to ask for next; undefined when nothing is left. */
  next(): RowSet | undefined;
  /** Whether nothing is left behind what `next` named. */
  readonly isLast: boolean;
  /** What `next` named was answered up to and with this key. */
  readTo(key: Buffer): void;
  /** What `next` named was answered to its end. */
  finished(): void;
}

const keysPlan = (names: readonly string[]): ReadPlan => {
  const keys = [...new Set(names)].map((key) => Buffer.from(key)).sort(Buffer.compare);
  let from = 0;
  let to = 0;
  return {
    next() {
      if (from >= keys.length) return undefined;
      let bytes = 0;
      for (to = from; to < keys.length && to - from < MAX_KEYS; to++) {
        bytes += (keys[to] as Buffer).length;
        if (bytes > MAX_KEY_BYTES) break;
      }
      return { rowKeys: keys.slice(from, to) };
    },
    get isLast() {
      return to === keys.length;
    },
    readTo(key) {
      while (from < to && Buffer.compare(keys[from] as Buffer, key) <= 0) from++;
    },
    finished() {
      from = to;
    },
  };
};

const rangePlan = (start: string, end: Uint8Array | undefined): ReadPlan => {
  let after: Buffer | undefined;
  let isFinished = false;
  return {
    next() {
      if (isFinished) return undefined;
      const startKeyClosed = start === '' ? undefined : Buffer.from(start);
      return {
        rowRanges: [{ ...(after === undefined ? { startKeyClosed } : { startKeyOpen: after }), endKeyOpen: end }],
      };
    },
    isLast: true,
    readTo(key) {
      after = key;
    },
    finished() {
      isFinished = true;
    },
  };
};

/** The plan for `selection`. */
export const planRead = (selection: RowSelection): ReadPlan => {
  if ('keys' in selection) return keysPlan(selection.keys);
  if ('prefix' in selection) return rangePlan(selection.prefix, prefixEnd(selection.prefix));
  const { start = '', end } = selection;
  // The service takes an empty end for none, and refuses a range that ends before it starts.
  if (end !== undefined && compareBytes(start, end) >= 0) return keysPlan([]);
  return rangePlan(start, end === undefined ? undefined : Buffer.from(end));
};
