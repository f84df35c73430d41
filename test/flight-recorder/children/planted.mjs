// A service with causes of slow requests planted in it, which asks itself, and saves what the flight recorder has seen. It knows nothing of tracing,
// for who runs it with `spanline/register`; with PLANTED_BY_HAND=1 it traces itself.
import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { lookup } from 'node:dns';
import { closeSync, mkdtempSync, openSync, readFile, rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const isByHand = process.env.PLANTED_BY_HAND === '1';
const { configure, Span } = isByHand ? await import('spanline') : {};
configure?.({ flightRecorder: {} });

const MIB = 2 ** 20;
const item = (id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] });
const items = Math.ceil((30 * MIB) / JSON.stringify(item(100_000)).length);
const text = JSON.stringify(Array.from({ length: items }, (_, i) => item(i)));

function parseBody() {
  const parsed = JSON.parse(text);
  return parsed.filter(({ id }) => id % 2 === 0).length;
}

function matchSlowly() {
  return /^(a+)+$/.test(`${'a'.repeat(24)}b`);
}

function makeGarbage() {
  // Each is dropped when a million others have come: long enough to be copied twice. Closures, since V8 does not learn to make those as old objects.
  const held = [];
  for (let i = 0; i < 4_000_000; i++) held[i % 1_000_000] = () => i;
  return held.length;
}

function busyTimer() {
  const end = performance.now() + 200;
  while (performance.now() < end);
}

const hash = () => new Promise((resolve) => pbkdf2('secret', 'salt', 60_000, 64, 'sha512', resolve));

// glibc opens the file of aliases before it asks for a name without dots: a pipe lets a look-up last as long as nobody writes to it.
const directory = mkdtempSync(join(tmpdir(), 'planted-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const aliases = join(directory, 'aliases');
const hasAliases = process.report.getReport().header.glibcVersionRuntime !== undefined;
if (hasAliases) {
  execFileSync('mkfifo', [aliases]);
  Object.assign(process.env, { HOSTALIASES: aliases, RES_OPTIONS: 'timeout:1 attempts:1' });
}
const look = (name) => new Promise((resolve) => lookup(name, () => resolve()));
const lookSlowly = async () => {
  let isOver = false;
  const looks = Promise.all(Array.from({ length: 4 }, () => look('nowhere'))).then(() => {
    isOver = true;
  });
  await sleep(200);
  while (!isOver) {
    closeSync(openSync(aliases, 'r+'));
    await sleep(5);
  }
  return looks;
};

// What a library for a database is traced by under `register` is a span by hand here.
const query = () => (isByHand ? Span.startWithLocalParent('SELECT orders', { kind: 'client' }).runToEnd(ask) : ask());
const ask = (path = '/backend') =>
  new Promise((resolve, reject) => {
    get({ port, path, host: '127.0.0.1' }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });

const HANDLERS = {
  // After an await, as handlers that read a body do it.
  '/parse': () => sleep(1).then(parseBody),
  '/regex': () => sleep(1).then(matchSlowly),
  '/garbage': () => sleep(1).then(makeGarbage),
  '/wait': () => sleep(300),
  '/query': () => query(),
  '/backend': () => sleep(200),
  '/hashes': () => Promise.all(Array.from({ length: 16 }, hash)),
  '/file': () => new Promise((resolve) => readFile(import.meta.filename ?? process.argv[1], () => resolve())),
  '/names': lookSlowly,
  '/name': () => look('localhost'),
  '/fast': () => 1,
};

const traced = (path, handle) => {
  if (!isByHand) return handle();
  const span = Span.root(`GET ${path}`, undefined, { kind: 'server', properties: { 'url.path': path } });
  return span.runToEnd(async () => handle());
};

const server = createServer(async (request, response) => {
  const result = await traced(request.url, HANDLERS[request.url]);
  response.end(String(result ?? ''));
});
const port = await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

/** One that only waits is under way while `cause` happens. */
const beside = async (cause) => {
  const waits = ask('/wait');
  await sleep(30);
  await cause();
  await waits;
};

for (let i = 0; i < 180; i++) await ask('/fast');
await ask('/query');
for (const [path, waiter] of [['/hashes', '/file'], ...(hasAliases ? [['/names', '/name']] : [])]) {
  const filled = ask(path);
  await sleep(20);
  await Promise.all([ask(waiter), filled]);
}
await beside(() => setTimeout(busyTimer, 10));
// What leaves garbage comes last: V8 goes on to clean up between other work.
for (const path of ['/regex', '/parse', '/garbage']) {
  await beside(() => Promise.all([ask(path), ask('/fast'), ask('/fast')]));
}

const { saveSnapshot } = await import('spanline/flight-recorder');
await saveSnapshot(process.env.FLIGHT_FILE, 'planted');
server.close();
// What has ended last is to be sent, however busy the machine is.
const { flush } = await import('spanline');
await flush();
process.exit(0);
