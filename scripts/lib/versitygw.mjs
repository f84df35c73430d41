// Finds and starts versitygw, a server of S3's protocol that keeps objects as files of a folder.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './local-ports.mjs';
import { answers, isProgram, namedBy, onPath, startGuarded, withFreePorts } from './programs.mjs';

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

/** Of its root account. */
const ACCOUNT = { accessKeyId: 'spanline-root', secretAccessKey: 'spanline-root-secret', region: 'us-east-1' };

/** An account that may do nothing with the buckets. */
const STRANGER = { accessKeyId: 'spanline-stranger', secretAccessKey: 'spanline-stranger-secret' };

async function startOnce(program, buckets) {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-versitygw-'));
  const [data, users] = [join(folder, 'data'), join(folder, 'users')];
  mkdirSync(users);
  const stranger = { access: STRANGER.accessKeyId, secret: STRANGER.secretAccessKey, role: 'user' };
  writeFileSync(join(users, 'users.json'), JSON.stringify({ accessAccounts: { [stranger.access]: stranger } }));
  // A folder is a bucket.
  for (const bucket of buckets) mkdirSync(join(data, bucket), { recursive: true });
  const host = `127.0.0.1:${await freePort()}`;
  const endpoint = `http://${host}`;
  const args = [
    ...['--access', ACCOUNT.accessKeyId, '--secret', ACCOUNT.secretAccessKey, '--region', ACCOUNT.region],
    ...['--port', host, '--quiet', '--iam-dir', users, 'posix', data],
  ];
  const stop = await startGuarded(program, args, { folder, isUp: () => answers(endpoint) });
  return { endpoint, host, ...ACCOUNT, stranger: STRANGER, data, stop };
}

/**
 * Start `program` on a free port of 127.0.0.1 with empty buckets.
 * @param {string} program
 * @param {readonly string[]} [buckets]
 * @returns {Promise<import('./versitygw.d.mts').RunningVersitygw>}
 */
export async function startVersitygw(program, buckets = ['traces']) {
  return withFreePorts(() => startOnce(program, buckets));
}
