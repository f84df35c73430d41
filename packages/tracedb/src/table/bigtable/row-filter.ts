// What a read asks the server to leave out. The first filter of every chain keeps the latest cell only: the server removes older
// ones lazily, and a filter by value before it would find a value that was overwritten.
import type { protos } from '@google-cloud/bigtable';
import type { Predicate, ReadOptions } from '../wide-column-table.js';

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
