// Finds and starts Google's Bigtable emulator, for tests, benchmarks and CI.
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isProgram, letGo, namedBy, onPath, spawnGuarded } from './programs.mjs';
import { root } from './run.mjs';

/** Where build-emulator.mjs puts its own. */
export const BUILT = join(root, '.tmp/cbtemulator/cbtemulator');

/** How to get one, in one line. */
export const HOW_TO_GET =
  'Google\'s Bigtable emulator is not here. Get it with "gcloud components install bigtable", or take cbtemulator out of the ' +
  "container image gcr.io/google.com/cloudsdktool/google-cloud-cli:emulators, or build test/support/cbtemulator with Debian's " +
  'golang-go and golang-google-cloud-dev (node scripts/build-cbtemulator.mjs); then put it on PATH or name it in CBTEMULATOR';

/** Folders that may be a Google Cloud SDK. */
function* sdkFolders() {
  for (const name of ['CLOUDSDK_ROOT_DIR', 'CLOUDSDK_ROOT', 'GOOGLE_CLOUD_SDK']) {
    if (process.env[name]) yield process.env[name];
  }
  const gcloud = onPath('gcloud');
  if (gcloud !== undefined) yield dirname(dirname(realpathSync(gcloud)));
  for (const dir of [
    homedir(),
    '/usr/lib',
    '/usr/local',
    '/usr/share',
    '/usr/local/share',
    '/opt',
    '/opt/homebrew/share',
  ]) {
    yield join(dir, 'google-cloud-sdk');
  }
  yield '/snap/google-cloud-sdk/current';
}

/**
 * The path of `cbtemulator`: CBTEMULATOR, else on PATH, in a Google Cloud SDK, or built here; undefined when there is none.
 * @returns {string | undefined}
 */
export function findEmulator() {
  const found = namedBy('CBTEMULATOR') ?? onPath('cbtemulator');
  if (found !== undefined) return found;
  for (const sdk of sdkFolders()) {
    const path = join(sdk, 'platform/bigtable-emulator/cbtemulator');
    if (isProgram(path)) return path;
  }
  return isProgram(BUILT) ? BUILT : undefined;
}

const START_MS = 30_000;

/**
 * Start `program` empty on a free loopback port.
 * @param {string} program
 * @returns {Promise<{ host: string, stop(): Promise<void> }>} `host` is for BIGTABLE_EMULATOR_HOST.
 */
export function startEmulator(program) {
  const child = spawnGuarded(program, ['-host', '127.0.0.1', '-port', '0']);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why) => {
      clearTimeout(timer);
      void stop();
      reject(new Error(`${program} ${why}: ${output.trim() || 'no output'}`));
    };
    const timer = setTimeout(() => fail(`did not start within ${START_MS} ms`), START_MS);
    const read = (chunk) => {
      if (output.length > 10_000) return;
      output += chunk;
      const host = /running on (\S+:\d+)\s/.exec(output)?.[1];
      if (host === undefined) return;
      clearTimeout(timer);
      resolve({ host, stop });
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.on('error', (error) => fail(`did not start (${error.message})`));
    child.on('exit', (code, signal) => fail(`ended (${signal ?? `exit code ${code}`})`));
    // Alone they must not keep this process alive; closing the pipe at its end is what stops the emulator.
    letGo(child);
  });
}
