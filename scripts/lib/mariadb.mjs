// A MariaDB of its own for a test or a benchmark, in a new folder, listening on the loopback interface.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './local-ports.mjs';
import { startGuarded, withFreePorts } from './programs.mjs';

const SERVER = '/usr/sbin/mariadbd';

/** Whether the machine has one. */
export const hasMariadb = existsSync(SERVER);

/** It refuses to run as root. */
const account = () => (process.getuid?.() === 0 ? 'mysql' : userInfo().username);

/** It speaks first. */
const greets = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => {}).once('close', () => resolve(false));
  });

async function startOnce() {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-mariadb-'));
  const [data, temporary] = [join(folder, 'data'), join(folder, 'temporary')];
  mkdirSync(temporary);
  const user = account();
  if (process.getuid?.() === 0) {
    const idOf = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
    for (const own of [folder, temporary]) chownSync(own, idOf('-u'), idOf('-g'));
  }
  // A server that starts removes all temporary tables of its folder for them, those of other servers too.
  const same = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`, `--user=${user}`];
  const install = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('/usr/bin/mariadb-install-db', [...same, ...install], { stdio: 'pipe' });
  const port = await freePort();
  const places = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 's')}`];
  const args = [...same, ...places, `--pid-file=${join(folder, 'pid')}`];
  const stop = await startGuarded(SERVER, args, { folder, isUp: () => greets(port), signal: 'TERM' });
  return {
    port,
    /** Have it carry out what `text` says. */
    run(text) {
      const place = ['--no-defaults', '--host=127.0.0.1', `--port=${port}`, '--user=root'];
      execFileSync('/usr/bin/mariadb', place, { input: text, stdio: ['pipe', 'ignore', 2] });
    },
    stop,
  };
}

/** Resolves when it answers; `root` has no password. */
export async function startMariadb() {
  return withFreePorts(startOnce);
}
