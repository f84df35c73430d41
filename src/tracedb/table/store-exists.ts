// Whether there is a store at a place, without making one.
import { access } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Whether `openTable` would find a store at `location` rather than make one. Use it where a mistyped directory must not become an
 * empty store. A Bigtable location always counts as existing: looking would cost what opening does.
 *
 * @example
 * ```ts
 * import { storeExists } from 'spanline/tracedb';
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
