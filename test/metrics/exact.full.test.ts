// Whatever is sampled, every request and every call that it makes is counted, to the last one: of 1,000,000 in the nightly suite, of fewer in others. And
// exemplars name traces that are there, and memory does not grow with users.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { write } from '../register/support/app.js';
import { root } from '../support/child.js';
import { otlpMessages } from '../support/otlp-messages.js';
import { samples } from '../support/samples.js';

const REQUESTS = samples(20_000, 40_000, 1_000_000);
const CONNECTIONS = 16;
/** Requests that a connection sends before it waits for their answers. */
const AT_ONCE = 50;

/** Each request is of a user of its own, and asks a cache twice; of every seventh the second call fails, and the request too. */
const service = write(
  'exact-service.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { createServer } from 'node:http';

   const cache = tracingChannel('ioredis:command');
   const fails = async () => { throw Object.assign(new Error('WRONGTYPE of it'), { name: 'ReplyError' }); };
   const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
   let n = 0;
   const server = createServer(async (request, response) => {
     if (request.url === '/memory') {
       globalThis.gc();
       const { heapUsed, arrayBuffers } = process.memoryUsage();
       return void response.end(JSON.stringify({ heapUsed, arrayBuffers }));
     }
     const isBad = n++ % 7 === 6;
     await cache.tracePromise(async () => 'value', { ...command });
     await cache.tracePromise(isBad ? fails : async () => 'value', { ...command }).catch(() => {});
     response.writeHead(isBad ? 500 : 200, { 'content-length': 0 }).end();
   });
   server.listen(0, '127.0.0.1', () => console.log(server.address().port));`,
);

// biome-ignore lint/suspicious/noExplicitAny: protobufjs's form of it.
type Raw = any;
const Request = otlpMessages.lookupType('MetricsRequest');

const sums = new Map<string, number>();
const exemplars = new Set<string>();
const traces = new Set<string>();

const addMetrics = (body: Uint8Array): void => {
  const { resourceMetrics } = Request.toObject(Request.decode(body), { longs: String, defaults: true }) as Raw;
  for (const { name, histogram, sum } of resourceMetrics[0].scopeMetrics[0].metrics) {
    if (!/^(http|db|spanline\.trace)\./.test(name)) continue;
    for (const { attributes, count, asInt, exemplars: own = [] } of (histogram ?? sum).dataPoints) {
      const values = attributes.map(({ value }: Raw) => value.stringValue ?? value.intValue).join(' ');
      const set = `${name} ${values}`.trim();
      // What is no counter is no difference.
      const isDelta = histogram !== undefined || sum.isMonotonic;
      sums.set(set, Number(count ?? asInt) + (isDelta ? (sums.get(set) ?? 0) : 0));
      for (const { traceId } of own) exemplars.add(Buffer.from(traceId).toString('hex'));
    }
  }
};

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Sends `count` requests over one connection and waits for all answers. */
const sendOver = async (port: number, count: number, user: () => number): Promise<void> => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  let rest = '';
  let answered = 0;
  const answers = async (until: number): Promise<void> => {
    while (answered < until) {
      const [data] = (await once(socket, 'data')) as [string];
      const heads = (rest + data).split('\r\n\r\n');
      rest = heads.pop() ?? '';
      answered += heads.length;
    }
  };
  for (let sent = 0; sent < count; ) {
    const some = Math.min(AT_ONCE, count - sent);
    const ask = (): string => `GET /users/${user()} HTTP/1.1\r\nhost: shop\r\n\r\n`;
    socket.write(Array.from({ length: some }, ask).join(''));
    sent += some;
    await answers(sent);
  }
  socket.end();
};

test(
  `${REQUESTS} requests, of whose traces one in a hundred is sampled`,
  async () => {
    const sink = await startServer((response, { path, body }) => {
      sink.requests.length = 0;
      if (path === '/v1/metrics') addMetrics(body);
      else for (const { traceId } of decodeSpans(body)) traces.add(traceId);
      response.end();
    });
    ends.push(() => sink.close());
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'spanline/register', service], {
      cwd: root,
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        SPANLINE_ARCHIVE: '',
        OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    ends.push(() => child.kill('SIGKILL'));
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const port = Number(line);
    const memory = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/memory`, { headers: { connection: 'close' } });
      const { heapUsed, arrayBuffers } = (await answer.json()) as { heapUsed: number; arrayBuffers: number };
      return heapUsed + arrayBuffers;
    };
    let users = 0;
    const user = (): number => users++;
    const send = async (count: number): Promise<void> => {
      const each = Math.floor(count / CONNECTIONS);
      const shares = Array.from({ length: CONNECTIONS }, (_, i) => (i === 0 ? count - each * (CONNECTIONS - 1) : each));
      await Promise.all(shares.map((share) => sendOver(port, share, user)));
    };
    const first = REQUESTS / 4;
    await send(first);
    const before = await memory();
    await send(REQUESTS - first);
    const after = await memory();
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;

    const failed = Math.floor(REQUESTS / 7);
    const { recorded, unsampled, open } = Object.fromEntries(
      ['recorded', 'unsampled', 'open'].map((name) => [name, sums.get(`spanline.trace.${name}`) ?? 0]),
    );
    const looks = 2;
    expect(
      [...sums]
        .filter(([set]) => /^(http|db)/.test(set))
        .map(([set, count]) => `${set}: ${count}`)
        .sort(),
    ).toEqual([
      `db.client.operation.duration redis 0 GET GET WRONGTYPE WRONGTYPE cache 6379: ${failed}`,
      `db.client.operation.duration redis 0 GET GET cache 6379: ${2 * REQUESTS - failed}`,
      'http.server.active_requests GET http: 0',
      `http.server.request.duration GET http 200 1.1: ${REQUESTS - failed + looks}`,
      `http.server.request.duration GET http 500 500 1.1: ${failed}`,
    ]);
    expect(recorded + unsampled).toBe(REQUESTS + looks);
    expect(open).toBe(0);
    // Those that were reported, and no others.
    expect(traces.size).toBe(recorded);
    expect(exemplars.size).toBeGreaterThan(0);
    expect([...exemplars].filter((trace) => !traces.has(trace))).toEqual([]);
    // Three quarters of the users came in between; V8 compiles and drops code as it likes.
    expect(after - before).toBeLessThan(3e6);
  },
  20 * 60_000,
);
