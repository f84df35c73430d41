// Builds a Bigtable emulator where Google's is missing: test/support/cbtemulator with Debian's Go packages, into .tmp. It installs
// packages only as root with apt-get, which is what a CI container is, and never asks.
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT, findEmulator } from './bigtable-emulator.mjs';
import { root, runQuietly } from './run.mjs';

const PACKAGES = ['golang-go', 'golang-google-cloud-dev'];
const GO_PATH = '/usr/share/gocode';
const LIBRARY = join(GO_PATH, 'src/cloud.google.com/go/bigtable/bttest');
const GO = '/usr/bin/go';
const APT = '/usr/bin/apt-get';

const source = join(root, 'test/support/cbtemulator');

const hasPackages = () => existsSync(GO) && existsSync(LIBRARY);

function installPackages() {
  console.error(`installing ${PACKAGES.join(' and ')} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  runQuietly(APT, ['-qq', 'update'], { env });
  runQuietly(APT, ['-qq', '-y', 'install', '--no-install-recommends', ...PACKAGES], { env });
}

const isCurrent = () => existsSync(BUILT) && statSync(BUILT).mtimeMs >= statSync(join(source, 'main.go')).mtimeMs;

function build() {
  if (isCurrent()) return;
  console.error('building a Bigtable emulator into .tmp/cbtemulator ...');
  mkdirSync(dirname(BUILT), { recursive: true });
  const env = {
    ...process.env,
    // Debian's libraries are sources under GOPATH, without modules; nothing is downloaded.
    GO111MODULE: 'off',
    GOPATH: GO_PATH,
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GOCACHE: join(root, '.tmp/go-cache'),
    CGO_ENABLED: '0',
  };
  // Moved into place whole: another process may be about to start it.
  const fresh = `${BUILT}-${process.pid}`;
  runQuietly(GO, ['build', '-o', fresh, './test/support/cbtemulator'], { env });
  renameSync(fresh, BUILT);
}

/**
 * An emulator that is here, or the one built from Debian's packages; undefined where that cannot be done.
 * @returns {string | undefined}
 */
export function ensureEmulator() {
  const found = findEmulator();
  if (found !== undefined && found !== BUILT) return found;
  if (!hasPackages()) {
    if (process.getuid?.() !== 0 || !existsSync(APT)) return undefined;
    installPackages();
  }
  build();
  return BUILT;
}
