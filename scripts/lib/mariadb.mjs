// A MariaDB of its own for a test or a benchmark, in a new folder, listening on the loopback interface.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endServer } from './end-server.mjs';
import { freePort } from './local-ports.mjs';

const SERVER = '/usr/sbin/mariadbd';

/** Whether the machine has one. */
export const hasMariadb = existsSync(SERVER);

/** It refuses to run as root. */
const account = () => (process.getuid?.() === 0 ? 'mysql' : userInfo().username);

const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });

/** Resolves when it answers; `root` has no password. */
export async function startMariadb() {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-mariadb-'));
  const user = account();
  if (process.getuid?.() === 0) {
    const idOf = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
    chownSync(folder, idOf('-u'), idOf('-g'));
  }
  const data = join(folder, 'data');
  const same = ['--no-defaults', `--datadir=${data}`, `--user=${user}`];
  const install = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('/usr/bin/mariadb-install-db', [...same, ...install], { stdio: 'ignore' });
  const port = await freePort();
  const places = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 's')}`];
  const server = spawn(SERVER, [...same, ...places, `--pid-file=${join(folder, 'pid')}`], { stdio: 'ignore' });
  while (!(await answers(port))) await sleep(50);
  return {
    port,
    /** Have it carry out what `text` says. */
    run(text) {
      const place = ['--no-defaults', '--host=127.0.0.1', `--port=${port}`, '--user=root'];
      execFileSync('/usr/bin/mariadb', place, { input: text, stdio: ['pipe', 'ignore', 2] });
    },
    stop: () => endServer(server, 'SIGTERM', folder),
  };
}
