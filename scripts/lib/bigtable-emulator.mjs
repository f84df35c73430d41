// Finds and starts Google's Bigtable emulator, for tests, benchmarks and CI. An emulator must never outlive who started it, even
// when that process is killed.
import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from './run.mjs';

/** Where build-emulator.mjs puts its own. */
export const BUILT = join(root, '.tmp/cbtemulator/cbtemulator');

/** How to get one, in one line. */
export const HOW_TO_GET =
  'Google\'s Bigtable emulator is not here. Get it with "gcloud components install bigtable", or take cbtemulator out of the ' +
  "container image gcr.io/google.com/cloudsdktool/google-cloud-cli:emulators, or build test/support/cbtemulator with Debian's " +
  'golang-go and golang-google-cloud-dev (node scripts/build-cbtemulator.mjs); then put it on PATH or name it in CBTEMULATOR';

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '')
    .map((dir) => join(dir, name))
    .find(isProgram);

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
  const named = process.env.CBTEMULATOR;
  if (named) {
    if (!isProgram(named)) throw new Error(`CBTEMULATOR names ${named}, which is no program`);
    return named;
  }
  const found = onPath('cbtemulator');
  if (found !== undefined) return found;
  for (const sdk of sdkFolders()) {
    const path = join(sdk, 'platform/bigtable-emulator/cbtemulator');
    if (isProgram(path)) return path;
  }
  return isProgram(BUILT) ? BUILT : undefined;
}

// Ends the emulator when our end of the pipe closes, which happens however this process dies.
const GUARDED = 'exec 3<&0; "$@" & pid=$!; { cat <&3 >/dev/null; kill -9 $pid; } 2>/dev/null & wait $pid';
const START_MS = 30_000;

/**
 * Start `program` empty on a free loopback port.
 * @param {string} program
 * @returns {Promise<{ host: string, stop(): Promise<void> }>} `host` is for BIGTABLE_EMULATOR_HOST.
 */
export function startEmulator(program) {
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', program, '-host', '127.0.0.1', '-port', '0'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
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
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.unref();
  });
}
