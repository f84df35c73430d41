// The archives that the page is measured on: one trace of so many spans, or so many traces. Plain spans with names, properties and errors as services have
// them; what is random is the same every time.
import { createHash } from 'node:crypto';
import { Archive } from '../../packages/archive/dist/esm/index.js';

const NS_PER_US = 1000n;
const START = 1_760_000_000_000_000_000n;
const RESOURCE = { properties: { 'service.name': 'shop', 'process.pid': 4711 } };
const SCOPE = { name: 'bench', version: '1', properties: {} };
const NAMES = [
  'GET /cart',
  'auth',
  'parse',
  'SELECT items',
  'SELECT prices',
  'render',
  'cache.get',
  'json',
  'pay',
  'log',
];

/** Numbers from 0 to 1. */
const randomFrom = (seed) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const idOf = (number, digits) => createHash('sha256').update(String(number)).digest('hex').slice(0, digits);

const spanOf = (random, { traceId, spanId, parentSpanId, name, startUs, durationUs }) => ({
  ...{ traceId, spanId, parentSpanId, name, kind: 'internal', traceState: '', resource: RESOURCE, scope: SCOPE },
  startUnixNs: START + BigInt(startUs) * NS_PER_US,
  endUnixNs: START + BigInt(startUs + durationUs) * NS_PER_US,
  status: { code: random() < 0.02 ? 'error' : 'unset', message: '' },
  properties: { 'db.rows': Math.floor(random() * 1000), user: `user-${Math.floor(random() * 500)}` },
  events: [],
  links: [],
});

/** A trace of `count` spans, a hundred below each of those in the middle; its id. */
function* oneTrace(count) {
  const random = randomFrom(count);
  const traceId = idOf(`trace ${count}`, 32);
  const id = (i) => idOf(`span ${i}`, 16);
  const middle = Math.ceil((count - 1) / 101);
  const durationUs = count * 20;
  yield spanOf(random, { traceId, spanId: id(0), parentSpanId: '', name: 'import', startUs: 0, durationUs });
  for (let i = 1; i < count; i++) {
    const isMiddle = i <= middle;
    const parent = isMiddle ? 0 : 1 + ((i - middle - 1) % middle);
    const length = durationUs / middle;
    const startUs = Math.floor((isMiddle ? i - 1 : parent - 1 + random() * 0.9) * length);
    yield spanOf(random, {
      ...{ traceId, spanId: id(i), parentSpanId: id(parent), startUs },
      name: isMiddle ? 'batch' : NAMES[i % NAMES.length],
      durationUs: Math.floor(isMiddle ? length : random() * length * 0.1),
    });
  }
}

/** `count` traces of three spans, over an hour. */
function* manyTraces(count) {
  const random = randomFrom(count);
  for (let i = 0; i < count; i++) {
    const traceId = idOf(`trace ${i}`, 32);
    const startUs = Math.floor((3_600_000_000 * i) / count);
    const durationUs = Math.floor(Math.exp(5 + random() * 9));
    const root = idOf(`root ${i}`, 16);
    const name = NAMES[i % 3];
    yield spanOf(random, { traceId, spanId: root, parentSpanId: '', name, startUs, durationUs });
    for (const [place, below] of ['auth', 'SELECT items'].entries()) {
      const spanId = idOf(`child ${place} of ${i}`, 16);
      const half = Math.floor(durationUs / 2);
      yield spanOf(random, {
        ...{ traceId, spanId, parentSpanId: root, name: below },
        ...{ startUs: startUs + place * half, durationUs: half },
      });
    }
  }
}

const BATCH = 10_000;

const fill = async (directory, spans) => {
  const archive = await Archive.open(directory);
  let batch = [];
  const flush = async () => {
    for (let at = 0; at < batch.length; ) {
      const taken = archive.append(batch.slice(at));
      at += taken;
      if (taken === 0) await archive.seal();
    }
    batch = [];
  };
  for (const span of spans) if (batch.push(span) === BATCH) await flush();
  await flush();
  await archive.seal();
  await archive.compact();
  await archive.close();
};

/** Makes an archive with one trace; its id. */
export const makeTrace = async (directory, spans) => {
  await fill(directory, oneTrace(spans));
  return idOf(`trace ${spans}`, 32);
};

/** Makes an archive of many traces. */
export const makeTraces = (directory, traces) => fill(directory, manyTraces(traces));
