// Finds and starts a FerretDB, which speaks MongoDB's protocol and keeps its data in SQLite.
import { mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, isListening } from './local-ports.mjs';
import { isProgram, namedBy, startGuarded, withFreePorts } from './programs.mjs';

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

async function startOnce(program) {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-ferretdb-'));
  const port = await freePort();
  const args = [`127.0.0.1:${port}`, folder];
  const stop = await startGuarded(program, args, { folder, isUp: () => isListening(port), signal: 'TERM' });
  return { url: `mongodb://127.0.0.1:${port}/shop`, port, stop };
}

/** One of its own for a test or a benchmark, in a new folder, by that program. Resolves when it answers. */
export async function startFerretdb(program) {
  return withFreePorts(() => startOnce(program));
}
