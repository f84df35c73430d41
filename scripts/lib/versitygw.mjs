// Finds and starts versitygw, a server of S3's protocol that keeps objects as files of a folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './local-ports.mjs';
import { isProgram, letGo, namedBy, onPath, spawnGuarded } from './programs.mjs';

/** The module that is built. */
export const VERSION = 'v1.8.0';

/** Where build-versitygw.mjs puts it: outside the checkout, since it is one for a machine. */
export const BUILT = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  `spanline/versitygw-${VERSION}/versitygw`,
);

/** How to get one, in one line. */
export const HOW_TO_GET =
  `no versitygw is here. Put it on PATH or name it in VERSITYGW_BIN; or, with Go 1.25 or later on PATH, build ${VERSION} ` +
  'in some minutes, once a machine: node scripts/build-versitygw.mjs';

/**
 * The path of the program: VERSITYGW_BIN, else on PATH, or built here before; undefined when there is none.
 * @returns {string | undefined}
 */
export const findVersitygw = () =>
  namedBy('VERSITYGW_BIN') ?? onPath('versitygw') ?? (isProgram(BUILT) ? BUILT : undefined);

const START_MS = 60_000;
/** Somebody else may take a port between its choice and its use. */
const ATTEMPTS = 3;

/** Of its root account. */
const ACCOUNT = { accessKeyId: 'spanline-root', secretAccessKey: 'spanline-root-secret', region: 'us-east-1' };

/** An account that may do nothing with the buckets. */
const STRANGER = { accessKeyId: 'spanline-stranger', secretAccessKey: 'spanline-stranger-secret' };

const answers = async (url) => {
  try {
    await fetch(url, { signal: AbortSignal.timeout(1000) });
    return true;
  } catch {
    return false;
  }
};

async function startOnce(program, buckets) {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-versitygw-'));
  const [data, users] = [join(folder, 'data'), join(folder, 'users')];
  mkdirSync(users);
  const stranger = { access: STRANGER.accessKeyId, secret: STRANGER.secretAccessKey, role: 'user' };
  writeFileSync(join(users, 'users.json'), JSON.stringify({ accessAccounts: { [stranger.access]: stranger } }));
  // A folder is a bucket.
  for (const bucket of buckets) mkdirSync(join(data, bucket), { recursive: true });
  const host = `127.0.0.1:${await freePort()}`;
  const child = spawnGuarded(program, [
    ...['--access', ACCOUNT.accessKeyId, '--secret', ACCOUNT.secretAccessKey, '--region', ACCOUNT.region],
    ...['--port', host, '--quiet', '--iam-dir', users, 'posix', data],
  ]);
  let output = '';
  const keep = (chunk) => {
    output = `${output}${chunk}`.slice(-10_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let isOver = false;
  const exited = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).then(() => {
    isOver = true;
    rmSync(folder, { recursive: true, force: true });
  });
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  const endpoint = `http://${host}`;
  const end = Date.now() + START_MS;
  while (!(await answers(endpoint))) {
    if (isOver || Date.now() > end) {
      await stop();
      throw new Error(`${program} did not start: ${output.trim() || 'no output'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  letGo(child);
  return { endpoint, host, ...ACCOUNT, stranger: STRANGER, data, stop };
}

/**
 * Start `program` on a free port of 127.0.0.1 with empty buckets.
 * @param {string} program
 * @param {readonly string[]} [buckets]
 * @returns {Promise<import('./versitygw.d.mts').RunningVersitygw>}
 */
export async function startVersitygw(program, buckets = ['traces']) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(program, buckets);
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/.test(error.message)) throw error;
    }
  }
}
