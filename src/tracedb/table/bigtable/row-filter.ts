// What a read asks the server to leave out. The first filter of every chain keeps the latest cell only: the server removes older
// ones lazily, and a filter by value before it would find a value that was overwritten.
import type { protos } from '@google-cloud/bigtable';
import { TraceDbError } from '../../tracedb-error.js';
import type { Predicate, ReadOptions } from '../wide-column-table.js';
import { exactRegex } from './exact-regex.js';

type RowFilter = protos.google.bigtable.v2.IRowFilter;

// The service takes filters of up to 20 KB.
const MAX_FILTER_BYTES = 16 * 1024;

const LATEST: RowFilter = { cellsPerColumnLimitFilter: 1 };

/** A read's filter. */
export interface ReadFilter {
  readonly filter: RowFilter;
  /** Qualifiers that the filter has no room for and the reader has to sort out. */
  readonly qualifiers: ReadonlySet<string> | undefined;
}

/** The filter of a read; without cells the server sends one empty cell a row. */
export const readFilter = ({ families, qualifiers }: ReadOptions, withCells: boolean): ReadFilter => {
  const filters: RowFilter[] = [LATEST];
  if (families !== undefined) filters.push({ familyNameRegexFilter: exactRegex(families).toString() });
  let unfiltered: ReadonlySet<string> | undefined;
  if (qualifiers !== undefined) {
    const regex = exactRegex(qualifiers);
    if (regex.length > MAX_FILTER_BYTES) unfiltered = new Set(qualifiers);
    else filters.push({ columnQualifierRegexFilter: regex });
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
    if (value.length * 2 > MAX_FILTER_BYTES) {
      throw new TraceDbError(
        'ERR_SPANLINE_TABLE_LIMIT',
        `the predicate on ${family}:${qualifier} compares with ${value.length} bytes; the limit is ${MAX_FILTER_BYTES / 2}`,
      );
    }
    filters.push({ valueRangeFilter: { startValueClosed: value, endValueClosed: value } });
  }
  return { chain: { filters } };
};
