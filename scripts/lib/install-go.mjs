// Provides `go tool pprof`, which the tests of profile files ask for a second opinion. It installs Debian's package only as root with
// apt-get, which is what a CI container is, and never asks.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { runQuietly } from './run.mjs';

const PACKAGE = 'golang-go';
const APT = '/usr/bin/apt-get';

// A Go without its tools will not do.
const hasGo = () => spawnSync('go', ['tool', 'pprof', '-h'], { stdio: 'ignore' }).status === 0;

/** True when the `go` on PATH has pprof, found or installed. */
export function ensureGo() {
  if (hasGo()) return true;
  if (process.getuid?.() !== 0 || !existsSync(APT)) return false;
  console.error(`installing ${PACKAGE} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    runQuietly(APT, ['-qq', 'update'], { env });
  } catch (error) {
    // One mirror that is away; the lists there are may do.
    console.error(error.message);
  }
  runQuietly(APT, ['-qq', '-y', 'install', '--no-install-recommends', PACKAGE], { env });
  return hasGo();
}
