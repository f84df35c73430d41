// Provides `go tool pprof`, which the tests of profile files ask for a second opinion. It installs Debian's package only as root with
// apt-get, which is what a CI container is, and never asks.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { runQuietly } from './run.mjs';

const PACKAGE = 'golang-go';
const APT = '/usr/bin/apt-get';

const hasGo = () => spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;

/** True when there is a `go` on PATH, found or installed. */
export function ensureGo() {
  if (hasGo()) return true;
  if (process.getuid?.() !== 0 || !existsSync(APT)) return false;
  console.error(`installing ${PACKAGE} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  runQuietly(APT, ['-qq', 'update'], { env });
  runQuietly(APT, ['-qq', '-y', 'install', '--no-install-recommends', PACKAGE], { env });
  return hasGo();
}
