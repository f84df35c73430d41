// A PostgreSQL of its own for a test or a benchmark, in a new folder, listening on a socket in it.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './local-ports.mjs';
import { startGuarded, withFreePorts } from './programs.mjs';

const PACKAGES = '/usr/lib/postgresql';

const folderOfBinaries = () => {
  try {
    const [newest] = readdirSync(PACKAGES).sort((a, b) => Number(b) - Number(a));
    return newest === undefined ? undefined : join(PACKAGES, newest, 'bin');
  } catch {
    return undefined;
  }
};

const binaries = folderOfBinaries();

/** Whether the machine has one. */
export const hasPostgres = binaries !== undefined;

// It refuses to run as root.
const account = () => {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
};

async function startOnce(listens) {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-postgres-'));
  const as = account();
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder };
  const init = ['-D', data, '-U', 'test', '--auth=trust', '--no-sync', '--locale=C', '-E', 'UTF8'];
  execFileSync(join(binaries, 'initdb'), init, { ...options, stdio: 'pipe' });
  const port = listens ? await freePort() : 5432;
  const address = `listen_addresses=${listens ? '127.0.0.1' : ''}`;
  const flags = ['-D', data, '-k', folder, '-p', String(port), '-c', address, '-c', 'fsync=off'];
  const isUp = () => {
    try {
      execFileSync(join(binaries, 'pg_isready'), ['-h', folder, '-p', String(port)], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  const stop = await startGuarded(join(binaries, 'postgres'), flags, { ...options, folder, isUp, signal: 'INT' });
  return {
    host: folder,
    port,
    /** Have psql carry out what `text` says, of the database `database`. */
    run(text, database = 'postgres') {
      const place = ['-h', folder, '-p', String(port), '-U', 'test', '-v', 'ON_ERROR_STOP=1', '-q', database];
      execFileSync('psql', place, { input: text, stdio: ['pipe', 'ignore', 2] });
    },
    stop,
  };
}

/**
 * Resolves when it answers.
 * @param {{ listens?: boolean }} [options] `listens`: on a port of the loopback interface too, whose number is then that of its socket.
 */
export async function startPostgres({ listens = false } = {}) {
  return withFreePorts(() => startOnce(listens));
}
