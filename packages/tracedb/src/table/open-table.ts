// Opens a table by what its location looks like. An engine is loaded only when it is the one. A read under a mistyped name must not leave an empty table
// behind.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { noTable } from '../tracedb-error.js';
import type { TableSchema, WideColumnTable } from './wide-column-table.js';

/**
 * Whether `openTable` would find a store at `location` rather than make one. Use it where a mistyped directory must not become an
 * empty store. A Bigtable location always counts as existing: looking would cost what opening does.
 *
 * @example
 * ```ts
 * import { storeExists } from '@spanline/tracedb';
 * console.assert(!(await storeExists('./no-such-directory')));
 * ```
 */
export const storeExists = async (location: string): Promise<boolean> => {
  if (location.startsWith('bigtable:')) return true;
  return access(join(location, 'data.mdb')).then(
    () => true,
    () => false,
  );
};

/**
 * Open a wide-column table, creating it and its families when they are missing, unless the schema says `make: false`.
 *
 * Use it where a store (Perf, Gold) or your own data needs a table; close it when done. `location` is a directory (LMDB; made when
 * missing) or `bigtable://project/instance/table` (the emulator when BIGTABLE_EMULATOR_HOST is set). Rejects with a
 * `TraceDbError`: `ERR_SPANLINE_MISSING_PACKAGE`, `ERR_SPANLINE_STORE_FILE_SYSTEM`, `ERR_SPANLINE_STORE_UNAVAILABLE` and others.
 *
 * @example
 * ```ts
 * import { openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./table', { families: ['V'] });
 * const value = Buffer.from('hello');
 * await table.mutateRows([{ key: 'row', mutations: [{ type: 'set', family: 'V', qualifier: '0', value, timestampMs: 1 }] }]);
 * console.assert((await table.readRow('row'))?.cells.length === 1);
 * await table.close();
 * ```
 */
export const openTable = async (location: string, schema: TableSchema): Promise<WideColumnTable> => {
  if (location.startsWith('bigtable:')) {
    const { openBigtableTable } = await import('./bigtable/bigtable-table.js');
    return openBigtableTable(location, schema);
  }
  // Before the engine, which makes the file of a store when it opens it.
  if (schema.make === false && !(await storeExists(location))) throw noTable(location, []);
  const { LmdbTable } = await import('./lmdb/lmdb-table.js');
  return LmdbTable.open(location, schema);
};
