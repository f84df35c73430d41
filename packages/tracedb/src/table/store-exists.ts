// Whether there is a store at a place, without making one, and the error where there is none: a read under a mistyped name must not leave an
// empty table behind.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { TraceDbError } from '../tracedb-error.js';

/** `missing`: the families that a table lacks; none when there is no table. */
export const noTable = (location: string, missing: readonly string[]): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_NOT_FOUND',
    missing.length === 0
      ? `there is no table in ${location}; check the name, or open it with make`
      : `the table in ${location} has no column families ${missing.join(', ')}: it is a store of another kind`,
  );

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
  try {
    await access(join(location, 'data.mdb'));
    return true;
  } catch {
    return false;
  }
};
