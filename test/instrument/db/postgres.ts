// A PostgreSQL of its own for a test, in a new folder, listening on a socket in it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = '/usr/lib/postgresql';

const folderOfBinaries = (): string | undefined => {
  try {
    const [newest] = readdirSync(PACKAGES).sort((a, b) => Number(b) - Number(a));
    return newest === undefined ? undefined : join(PACKAGES, newest, 'bin');
  } catch {
    return undefined;
  }
};

const binaries = folderOfBinaries();

/** Whether there is one here. */
export const hasPostgres = binaries !== undefined;
if (!hasPostgres) console.info('skipped: no PostgreSQL here (Debian package postgresql)');

export interface Postgres {
  readonly host: string;
  stop(): Promise<void>;
}

// It refuses to run as root.
const account = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
};

export const startPostgres = async (): Promise<Postgres> => {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-postgres-'));
  const as = account();
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, stdio: 'ignore' } as const;
  const init = ['-D', data, '-U', 'test', '--auth=trust', '--no-sync', '--locale=C', '-E', 'UTF8'];
  execFileSync(join(binaries as string, 'initdb'), init, options);
  const flags = ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'];
  const server: ChildProcess = spawn(join(binaries as string, 'postgres'), flags, options);
  const isReady = (): boolean => {
    try {
      execFileSync(join(binaries as string, 'pg_isready'), ['-h', folder], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    host: folder,
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
