// Finds a FerretDB, the server of MongoDB's protocol that tests of mongoose talk to.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isProgram, namedBy } from './programs.mjs';

/** The module that is built: its last version that keeps data in SQLite. */
export const VERSION = 'v1.24.0';

/** Where build-ferretdb.mjs puts it: outside the checkout, since it is one for a machine. */
export const BUILT = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  `spanline/ferretdb-${VERSION}/ferretdb`,
);

/** How to get one, in one line. */
export const HOW_TO_GET =
  'no FerretDB is here. With Go 1.25 or later on PATH it is built in some minutes, once a machine: node scripts/build-ferretdb.mjs';

/**
 * The path of the one built here before, or named in FERRETDB_BIN; undefined when there is none. The program of others takes other arguments.
 * @returns {string | undefined}
 */
export const findFerretdb = () => namedBy('FERRETDB_BIN') ?? (isProgram(BUILT) ? BUILT : undefined);
