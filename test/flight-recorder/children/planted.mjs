// A service that knows nothing of tracing, with causes of slow requests planted in it. It asks itself, and saves what the flight recorder has seen.
import { pbkdf2 } from 'node:crypto';
import { createServer, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const text = JSON.stringify(
  Array.from({ length: 400_000 }, (_, i) => ({ id: i, name: `item ${i}`, tags: ['a', 'b'] })),
);

function parseBody() {
  const items = JSON.parse(text);
  return items.filter(({ id }) => id % 2 === 0).length;
}

function matchSlowly() {
  return /^(a+)+$/.test(`${'a'.repeat(26)}b`);
}

function makeGarbage() {
  let kept = [];
  for (let round = 0; round < 240; round++) {
    kept = kept.slice(-30).concat([Array.from({ length: 20_000 }, (_, i) => ({ i, text: `${i}` }))]);
  }
  return kept.length;
}

function busyTimer() {
  const end = performance.now() + 80;
  while (performance.now() < end);
}

const hash = () => new Promise((resolve) => pbkdf2('secret', 'salt', 60_000, 64, 'sha512', resolve));

const HANDLERS = {
  // After an await, as handlers that read a body do it.
  '/parse': () => sleep(1).then(parseBody),
  '/regex': () => sleep(1).then(matchSlowly),
  '/garbage': () => sleep(1).then(makeGarbage),
  '/wait': () => sleep(300),
  '/query': () => ask('/backend'),
  '/backend': () => sleep(200),
  '/pool': () => Promise.all(Array.from({ length: 16 }, hash)),
  '/fast': () => 1,
};

const server = createServer(async (request, response) => {
  const result = await HANDLERS[request.url]();
  response.end(String(result ?? ''));
});
const port = await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

const ask = (path) =>
  new Promise((resolve, reject) => {
    get({ port, path, host: '127.0.0.1' }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });

for (let i = 0; i < 150; i++) await ask('/fast');
for (const path of ['/parse', '/regex', '/garbage']) {
  // One that only waits is under way meanwhile, and others come.
  const waits = ask('/wait');
  await sleep(30);
  await Promise.all([ask(path), ask('/fast'), ask('/fast')]);
  await waits;
}
await ask('/query');
await ask('/pool');
const waits = ask('/wait');
await sleep(30);
setTimeout(busyTimer, 10);
await waits;

const { saveSnapshot } = await import('spanline/flight-recorder');
await saveSnapshot(process.env.FLIGHT_FILE, 'planted');
server.close();
process.exit(0);
