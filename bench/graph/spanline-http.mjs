// Subject: a segment of an archive behind a web server that answers 100 ms late, opened anew for each look-up.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Segment } from '../../dist/bench/graph.js';
import { segmentPath, shopSpans } from './archive-files.mjs';
import { sample } from './random.mjs';
import { sizes } from './settings.mjs';
import { check, countCase } from './support.mjs';

const SERVER = fileURLToPath(new URL('./slow-server.mjs', import.meta.url));
const LATENCY_MS = 100;
const TIMES = 5;

let started;
const server = () => {
  started ??= (async () => {
    const child = fork(SERVER, [segmentPath, String(LATENCY_MS)]);
    const [port] = await once(child, 'message');
    const counts = async () => {
      child.send('counts');
      return (await once(child, 'message'))[0];
    };
    return { url: `http://127.0.0.1:${port}/shop.spans`, counts };
  })();
  return started;
};

let ids;
const traceIds = (count, seed) => {
  ids ??= [...new Set(shopSpans().map(({ traceId }) => traceId))];
  // Each once: asking twice for one trace would be cheaper.
  const drawn = new Set(sample(ids, 3 * count, seed));
  for (const id of ids) if (drawn.size < count) drawn.add(id);
  return [...drawn].slice(0, count);
};

/** What finding `count` traces takes, from opening on: once for each seed. */
const find = async (count) => {
  const { url, counts } = await server();
  const found = [];
  for (let seed = 0; seed < TIMES; seed++) {
    const wanted = traceIds(count, seed);
    await counts();
    const since = performance.now();
    const segment = await Segment.open(url);
    const traces = await segment.traces(wanted);
    const ms = performance.now() - since;
    await segment.close();
    check('traces', traces.size, count);
    found.push({ ms, ...(await counts()) });
  }
  return found;
};

const { shop } = sizes;
const FIGURES = [
  ['round-trips', 'round trips', ({ roundTrips }) => roundTrips],
  ['requests', 'requests', ({ requests }) => requests],
  ['time', 'ms', ({ ms }) => ms],
  ['read', '%', ({ bytes }, fileBytes) => (100 * bytes) / fileBytes],
];

const httpCases = (name, count) => {
  let measured;
  const results = () => {
    measured ??= find(count);
    return measured;
  };
  return FIGURES.map(([n, unit, figure]) =>
    countCase({
      name,
      n,
      unit,
      note: `${count === 1 ? 'one trace' : `${count} traces`} of a segment of ${shop.traces}, from opening it, each answer ${LATENCY_MS} ms late${n === 'read' ? '; percent of the file' : ''}`,
      body: async () => (await results()).map((one) => figure(one, statSync(segmentPath).size)),
    }),
  );
};

export const subject = 'spanline';
export const cases = [
  ...httpCases('http-cold-lookup', 1),
  ...httpCases('http-batch-1000', Math.min(1000, shop.traces)),
];
