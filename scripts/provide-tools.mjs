// What CI needs beside the root's packages: others of npm, Debian's packages, the Bigtable emulator, Go. Run beside other steps, since it mostly
// waits for the network and the disk. What cannot be had is said in a line: the tests that need it fail in CI, or are skipped and say so.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureEmulator } from './lib/build-emulator.mjs';
import { hasGo } from './lib/go-programs.mjs';
import { ensureGo } from './lib/install-go.mjs';
import { root } from './lib/run.mjs';

/**
 * Servers that tests of instrumentations talk to, the browser that looks at the page, compilers for other machines and what runs their programs,
 * and where their Debian packages put them. Without one its tests are skipped, with a line; those of arm64 and of the browser fail.
 */
const PROGRAMS = {
  'g++-aarch64-linux-gnu': '/usr/bin/aarch64-linux-gnu-g++',
  'qemu-user-static': '/usr/bin/qemu-aarch64-static',
  'musl-tools': '/usr/bin/musl-gcc',
  'redis-server': '/usr/bin/redis-server',
  prometheus: '/usr/bin/prometheus',
  'chromium-headless-shell': '/usr/bin/chromium-headless-shell',
  postgresql: '/usr/lib/postgresql',
  'mariadb-server': '/usr/sbin/mariadbd',
  'rabbitmq-server': '/usr/lib/rabbitmq/lib',
};

function installPrograms() {
  const missing = Object.keys(PROGRAMS).filter((name) => !existsSync(PROGRAMS[name]));
  if (missing.length === 0) return;
  const get = (...args) => spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).status;
  const install = (...names) => get('install', '-y', '--no-install-recommends', ...names) === 0;
  if (install(...missing) || (get('update') === 0 && install(...missing))) return;
  // One that this Debian does not have hinders no other.
  const refused = missing.filter((name) => !install(name));
  if (refused.length > 0) console.error(`no ${refused.join(' and no ')} here: what needs it is skipped`);
}

/** Some minutes on a fresh machine: the tests that need them come last, and wait for them. */
function startGoBuilds() {
  for (const name of ['jaeger', 'ferretdb', 'kafka', 'collector', 'versitygw']) {
    spawn(process.execPath, [join(root, `scripts/build-${name}.mjs`)], { stdio: ['ignore', 'ignore', 2] }).unref();
  }
}

function attempt(step) {
  try {
    return step();
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

const isGoHere = hasGo();
if (isGoHere) startGoBuilds();
// This process ends when it has.
spawn(process.execPath, [join(root, 'scripts/provide-packages.mjs')], { stdio: ['ignore', 'ignore', 2] });
installPrograms();
attempt(ensureEmulator);
if (!attempt(ensureGo)) console.error('no go tool pprof on PATH: the tests of profile files that ask it will fail');
if (!isGoHere) startGoBuilds();
