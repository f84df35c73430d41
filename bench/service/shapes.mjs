// What the service suite does in a request, shape by shape, for whatever traces it: a tracer has `root` of a name and the value of `http.target`,
// `async` and `local` of a name, a function and at most one property, `localOfThree` of three. All subjects must do the same work, the
// untraced one through the same calls.

const ROWS = Array.from({ length: 20 }, (_, id) => ({ id, name: `row ${id}`, value: Math.sin(id) * 1000 }));
const PARTS = 6;
const DEPTH = 12;
const LOOP = 2000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * The flow that most services have: seven spans over awaits, twelve local spans in ones and twos, a property on half of them. `values`: what
 * the properties say.
 */
async function serve(tracer, { statement, part: partValue, rows, cacheKey }) {
  const read = (part) =>
    tracer.async(
      'db.read',
      async () => {
        await turn();
        return tracer.local('decode', () => ROWS.filter(({ id }) => id % 10 === part), 'part', partValue(part));
      },
      'db.statement',
      statement(part),
    );
  const parts = [];
  for (let part = 0; part < PARTS; part++) parts.push(await read(part));
  const joined = tracer.local('join', () => parts.flat(), 'parts', PARTS);
  const sorted = tracer.local('sort', () => joined.sort((a, b) => a.value - b.value));
  const sum = tracer.local('aggregate', () => sorted.reduce((total, { value }) => total + value, 0), 'rows', rows);
  const lookUp = async () => {
    await turn();
    return sum;
  };
  const more = await tracer.async('cache.get', lookUp, cacheKey && 'cache.key', cacheKey);
  const filtered = tracer.local('filter', () => sorted.filter(({ value }) => value > 0));
  const mapped = tracer.local('map', () => filtered.map((row) => ({ ...row, sum: more })));
  return tracer.local('serialize', () => JSON.stringify(mapped), 'n', mapped.length);
}

const LITERALS = {
  statement: () => 'select * from rows where part = ?',
  part: (part) => part,
  rows: 2 * PARTS,
};

const flow = (tracer) => tracer.root('GET /api', '/api', () => serve(tracer, LITERALS));

let seed = 1;

/** The same with values that no other request has: literals flatter whoever keeps references. */
const distinct = (tracer) => {
  seed = (seed * 48_271) % 2_147_483_647;
  const id = seed;
  const values = {
    statement: (part) =>
      `select * from rows where part = ${part} and tenant = 't-${id % 9973}' and user_id = ${id + part}`,
    part: (part) => id + part,
    rows: id / 7,
    cacheKey: `user:${id}:session`,
  };
  return tracer.root('GET /api', `/api/users/${id}`, () => serve(tracer, values));
};

const oneSpan = (tracer) => tracer.root('GET /health', '/health', turn);

const deep = (tracer) => {
  const below = async (level) => {
    await turn();
    return level === DEPTH ? level : tracer.async('step', () => below(level + 1));
  };
  return tracer.root('GET /deep', '/deep', () => below(1));
};

const loop = (tracer) =>
  tracer.root('GET /loop', '/loop', async () => {
    await turn();
    let sum = 0;
    for (let i = 0; i < LOOP; i++) sum += tracer.localOfThree('row', () => ROWS[i % ROWS.length].value, i);
    return sum;
  });

/**
 * By name: `run` of one request, `spans` of its trace, and how many `requests` a round has: so many that a round takes a second or so, and a fifth
 * of a second in the quick form.
 */
export const SHAPES = {
  flow: { run: flow, spans: 20, requests: 30_000, quickRequests: 3_000 },
  'one-span': { run: oneSpan, spans: 1, requests: 200_000, quickRequests: 10_000 },
  deep: { run: deep, spans: DEPTH, requests: 45_000, quickRequests: 3_000 },
  loop: { run: loop, spans: LOOP + 1, requests: 300, quickRequests: 20 },
  distinct: { run: distinct, spans: 20, requests: 30_000, quickRequests: 3_000 },
};

const AT_ONCE = 16;

/** Run so many requests of a shape, sixteen at once. */
export async function serveRequests({ run }, tracer, count) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await run(tracer);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
