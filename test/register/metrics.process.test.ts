// Metrics under `--import spanline/register`: every request, and every call that it makes, is counted, whatever is sampled; nothing of it is there where
// nobody has asked.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { root, runFile } from '../support/child.js';
import { otlpMessages } from '../support/otlp-messages.js';
import { write } from './support/app.js';

/** 60 requests to a service, a third of which fail; each asks a cache, and another service by `http` and by `fetch`. */
const app = write(
  'metrics-app.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { once } from 'node:events';
   import { createServer, get } from 'node:http';
   import { Span } from 'spanline';

   const cache = tracingChannel('ioredis:command');
   const fails = async () => { throw Object.assign(new Error('WRONGTYPE of it'), { name: 'ReplyError' }); };
   const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
   const listen = async (server) => {
     await once(server.listen(0, '127.0.0.1'), 'listening');
     return 'http://127.0.0.1:' + server.address().port;
   };
   const backend = createServer((_, response) => response.end('item'));
   const items = await listen(backend);
   const ask = (url) => new Promise((resolve, reject) =>
     get(url, (answer) => answer.resume().on('end', () => resolve(answer.statusCode))).on('error', reject));
   const service = createServer(async (request, response) => {
     const isBad = request.url === '/bad';
     await cache.tracePromise(isBad ? fails : async () => 'value', { ...command }).catch(() => {});
     await ask(items + '/item');
     await (await fetch(items + '/item')).text();
     response.writeHead(isBad ? 500 : 200).end();
   });
   const here = await listen(service);
   // A collection at least.
   for (let i = 0; i < 2e6; i++) globalThis.sink = { i };
   for (let i = 0; i < 60; i++) await ask(here + (i % 3 === 0 ? '/bad' : '/good'));
   console.log(JSON.stringify({ recording: Span.root('probe').isRecording, service: service.address().port, backend: backend.address().port }));
   const how = process.argv[2];
   if (how === 'exit') process.exit(0);
   if (how === 'throw') throw new Error('nobody catches it');
   if (how === 'own') process.on('SIGTERM', () => process.exit(0));
   if (how !== 'wait' && how !== 'own') { for (const server of [service, backend]) { server.close(); server.closeAllConnections(); } }
   else console.log('ready');`,
);

const QUIET = {
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_TRACES_SAMPLER: 'always_off',
  SPANLINE_ARCHIVE: '',
  OTEL_LOG_LEVEL: '',
};
const EXEC = ['--import', 'spanline/register'];

const children: ChildProcess[] = [];
let server: TestServer | undefined;
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await server?.close();
  server = undefined;
});

interface Ports {
  readonly recording: boolean;
  readonly service: number;
  readonly backend: number;
}

/** What a scrape or an export says of durations: `name{attributes} count`, without what differs from run to run. */
const EXPECTED = ({ service, backend }: Ports): string[] =>
  [
    `db.client.operation.duration{db.namespace=0,db.operation.name=GET,db.query.summary=GET,db.system.name=redis,server.address=cache,server.port=6379} 40`,
    `db.client.operation.duration{db.namespace=0,db.operation.name=GET,db.query.summary=GET,db.response.status_code=WRONGTYPE,db.system.name=redis,error.type=WRONGTYPE,server.address=cache,server.port=6379} 20`,
    `http.client.request.duration{error.type=500,http.request.method=GET,http.response.status_code=500,network.protocol.version=1.1,server.address=127.0.0.1,server.port=${service}} 20`,
    `http.client.request.duration{http.request.method=GET,http.response.status_code=200,network.protocol.version=1.1,server.address=127.0.0.1,server.port=${backend}} 120`,
    `http.client.request.duration{http.request.method=GET,http.response.status_code=200,network.protocol.version=1.1,server.address=127.0.0.1,server.port=${service}} 40`,
    `http.server.active_requests{http.request.method=GET,url.scheme=http} 0`,
    `http.server.request.duration{error.type=500,http.request.method=GET,http.response.status_code=500,network.protocol.version=1.1,url.scheme=http} 20`,
    `http.server.request.duration{http.request.method=GET,http.response.status_code=200,network.protocol.version=1.1,url.scheme=http} 160`,
  ].sort();

// biome-ignore lint/suspicious/noExplicitAny: protobufjs's form of it.
type Raw = any;
const Request = otlpMessages.lookupType('MetricsRequest');

const metricsIn = (body: Uint8Array): Raw[] =>
  (Request.toObject(Request.decode(body), { longs: String, defaults: true }) as Raw).resourceMetrics[0].scopeMetrics[0]
    .metrics;

const setOf = (attributes: Raw[]): string =>
  attributes
    .map(({ key, value }) => `${key}=${value.stringValue ?? value.intValue ?? value.boolValue}`)
    .sort()
    .join(',');

/** Counts of requests and calls in one export. */
const countsIn = (body: Uint8Array): string[] =>
  metricsIn(body)
    .filter(({ name }) => /^(http|db)\./.test(name))
    .flatMap(({ name, histogram, sum }) =>
      (histogram ?? sum).dataPoints.map(
        ({ attributes, count, asInt }: Raw) => `${name}{${setOf(attributes)}} ${count ?? asInt}`,
      ),
    )
    .sort();

test.each([
  ['its end', 'end', undefined],
  ['process.exit', 'exit', undefined],
  ['a signal', 'wait', 'SIGTERM'],
  ['a signal by which the program ends itself', 'own', 'SIGTERM'],
] as const)('OTLP: all of it is in the last export, at %s', async (_, how, sent) => {
  server = await startServer();
  const { stdout, stderr, code, signal } = await runFile(app, {
    execArgv: EXEC,
    args: [how],
    env: {
      ...QUIET,
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
      OTEL_SERVICE_NAME: 'shop',
    },
    ...(sent === undefined ? {} : { signalWhenReady: sent }),
  });
  expect({ code, signal, stderr }).toEqual(
    how === 'wait' ? { code: null, signal: 'SIGTERM', stderr: '' } : { code: 0, signal: null, stderr: '' },
  );
  const ports = JSON.parse(stdout.split('\n')[0]) as Ports;
  expect(ports.recording).toBe(false);
  const { requests } = server;
  expect(requests.map(({ path, headers }) => [path, headers['content-type']])).toEqual([
    ['/v1/metrics', 'application/x-protobuf'],
  ]);
  expect(countsIn(requests[0].body)).toEqual(EXPECTED(ports));
});

test('OTLP: differences add up to all of it, also after an export that failed', async () => {
  server = await startServer((response, _, n) => {
    response.statusCode = n === 1 ? 503 : 200;
    response.end();
  });
  const env = {
    ...QUIET,
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${server.url}/own`,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'none',
    OTEL_METRIC_EXPORT_INTERVAL: '5',
    OTEL_LOG_LEVEL: 'none',
  };
  const { stdout, code } = await runFile(app, { execArgv: EXEC, args: ['end'], env });
  expect(code).toBe(0);
  expect(server.requests.length).toBeGreaterThan(2);
  expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/own']));
  const sums = new Map<string, number>();
  for (const { body } of server.requests.slice(1)) {
    for (const line of countsIn(body)) {
      const at = line.lastIndexOf(' ');
      const [set, count] = [line.slice(0, at), Number(line.slice(at))];
      // Active requests are no difference.
      sums.set(set, set.includes('active') ? count : (sums.get(set) ?? 0) + count);
    }
  }
  expect([...sums].map(([set, count]) => `${set} ${count}`).sort()).toEqual(EXPECTED(JSON.parse(stdout)));
});

/** A started service, once it has said all; what its metrics are at. */
const waiting = async (env: Readonly<Record<string, string>>): Promise<{ url: string; ports: Ports }> => {
  const child = spawn(process.execPath, [...EXEC, app, 'wait'], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...QUIET, OTEL_LOG_LEVEL: 'debug', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let url: string | undefined;
  let ports: Ports | undefined;
  const lines = [createInterface({ input: child.stderr }), createInterface({ input: child.stdout })];
  lines[0].on('line', (line) => {
    url ??= /metrics are at (.*)/.exec(line)?.[1];
  });
  for await (const line of lines[1]) {
    if (line === 'ready') break;
    ports = JSON.parse(line);
  }
  // Said before the program began, which may be read after.
  while (url === undefined) await once(lines[0], 'line');
  return { url, ports: ports as Ports };
};

/** Counts of requests and calls in the text for Prometheus, by the names of OpenTelemetry. */
const countsOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => /^(http|db)_\w+(_count|active_requests)\{/.test(line))
    .map((line) =>
      line
        .replace('_seconds_count', '')
        .replace(/^[a-z_]+/, (name) => name.replace(/_/g, '.').replace('active.requests', 'active_requests'))
        .replace(/\{(.*)\}/, (_, labels: string) => {
          const pairs = labels.split(',').map((pair) => pair.replace(/"/g, ''));
          const named = pairs.map((pair) =>
            pair.replace(/^[a-z_]+/, (key) => key.replace(/_/g, '.').replace('status.code', 'status_code')),
          );
          return `{${named.sort().join(',')}}`;
        }),
    )
    .sort();

test.each([
  ['sampled out', {}],
  ['with tracing switched off', { SPANLINE_DISABLED: '1' }],
  ['recorded', { OTEL_TRACES_SAMPLER: 'always_on' }],
  ['with the flight recorder', { SPANLINE_FLIGHT_RECORDER: '10s' }],
])('Prometheus reads all of it, %s, and not its own requests', async (_, more) => {
  const { url, ports } = await waiting({
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    OTEL_SERVICE_NAME: 'shop',
    ...more,
  });
  expect(ports.recording).toBe('OTEL_TRACES_SAMPLER' in more || 'SPANLINE_FLIGHT_RECORDER' in more);
  await (await fetch(url)).text();
  const answer = await fetch(url, { headers: { accept: 'application/openmetrics-text; version=1.0.0' } });
  expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
  const text = await answer.text();
  expect(countsOf(text)).toEqual(EXPECTED(ports));
  expect(text).toMatch(/^target_info\{service_name="shop",/m);
  expect(text).toMatch(/^http_server_request_duration_seconds_created\{.*\} \d+\.\d{3}$/m);
  for (const name of [
    'nodejs_eventloop_delay_p99_seconds',
    'nodejs_eventloop_utilization_ratio',
    'otel_sdk_processor_span_queue_size{otel_component_name="spanline.collector/0",otel_component_type="spanline.collector"}',
    'v8js_gc_duration_seconds_count{v8js_gc_type="minor"}',
    'v8js_memory_heap_used_bytes{v8js_heap_space_name="new_space"}',
  ])
    expect(text.split('\n').some((line) => line.startsWith(`${name} `))).toBe(true);
  expect(text.endsWith('# EOF\n')).toBe(true);
  expect((await fetch(new URL('/', url))).status).toBe(404);
});

test('a port that is taken is one line, and the service goes on', async () => {
  server = await startServer();
  const { stdout, stderr, code } = await runFile(app, {
    execArgv: EXEC,
    args: ['end'],
    env: {
      ...QUIET,
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: new URL(server.url).port,
    },
  });
  expect(code).toBe(0);
  expect(stdout).toContain('"recording":false');
  expect(stderr).toMatch(/^spanline: Prometheus cannot read metrics at 127.*set OTEL_EXPORTER_PROMETHEUS_PORT.*\n$/);
});

test('nothing is loaded where nobody has asked', async () => {
  const files = write(
    'metrics-off.mjs',
    `import { createRequire } from 'node:module';
     import 'spanline/register';
     const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /start-metrics/.test(file));
     console.log(loaded.length);`,
  );
  const run = (env: object) => runFile(files, { execArgv: EXEC, env: { ...QUIET, ...env } });
  server = await startServer();
  expect(await run({})).toMatchObject({ code: 0, stdout: '0\n', stderr: '' });
  expect(await run({ OTEL_METRICS_EXPORTER: 'none' })).toMatchObject({ code: 0, stdout: '0\n', stderr: '' });
  const env = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  expect(await run(env)).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
});

/** Spans of both builds of the package, half of them wanted before register has begun. */
const spansApp = write(
  'metrics-spans.mjs',
  `import { createRequire } from 'node:module';
   import { LocalSpan, Span, spanMetrics } from 'spanline';

   spanMetrics({ checkout: { properties: ['plan'] } });
   await import('spanline/register');
   createRequire(import.meta.url)('spanline').spanMetrics({ price: {} });
   let recorded = 0;
   for (let i = 0; i < 400; i++) {
     const span = Span.root('checkout', undefined, { properties: { plan: i % 2 === 0 ? 'team' : 'free' } });
     if (span.isRecording) recorded++;
     span.runToEnd(() => LocalSpan.start('price').end());
   }
   console.log(recorded);
   // As a worker does at a signal: it ends its work, then itself.
   if (process.argv[2] === 'own') {
     process.on('SIGTERM', () => {
       for (let i = 0; i < 400; i++) Span.root('checkout', undefined, { properties: { plan: 'late' } }).end();
       process.exit(0);
     });
     setInterval(() => {}, 1000);
     console.log('ready');
   }`,
);

test('own spans are counted as many as were recorded', async () => {
  server = await startServer();
  const { stdout, stderr } = await runFile(spansApp, {
    env: {
      ...QUIET,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    },
  });
  expect(stderr).toBe('');
  const metric = metricsIn(server.requests[0].body).find(({ name }) => name === 'spanline.recorded_span.duration');
  const counts = new Map<string, number>(
    metric.histogram.dataPoints.map(({ attributes, count }: Raw) => [setOf(attributes), Number(count)]),
  );
  expect([...counts.keys()].sort()).toEqual([
    'plan=free,span.name=checkout',
    'plan=team,span.name=checkout',
    'span.name=price',
  ]);
  const price = counts.get('span.name=price');
  expect(price).toBe(Number(stdout));
  expect(price).toBeLessThan(400);
  expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(2 * Number(stdout));
});

test('with the flight recorder own spans are all of them, whatever is sampled', async () => {
  server = await startServer();
  const env = { ...QUIET, SPANLINE_FLIGHT_RECORDER: '10s', OTEL_METRICS_EXPORTER: 'otlp' };
  await runFile(spansApp, { env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: server.url } });
  const metric = metricsIn(server.requests[0].body).find(({ name }) => name === 'spanline.recorded_span.duration');
  const counts = metric.histogram.dataPoints.map(({ attributes, count }: Raw) => `${setOf(attributes)} ${count}`);
  expect(counts.sort()).toEqual([
    'plan=free,span.name=checkout 200',
    'plan=team,span.name=checkout 200',
    'span.name=price 400',
  ]);
});

test('own spans that end after the export of a signal are in another one', async () => {
  server = await startServer();
  const env = { ...QUIET, OTEL_TRACES_SAMPLER: 'always_on', OTEL_METRICS_EXPORTER: 'otlp' };
  const { code } = await runFile(spansApp, {
    args: ['own'],
    env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: server.url },
    signalWhenReady: 'SIGTERM',
  });
  expect(code).toBe(0);
  const metric = metricsIn(server.requests.at(-1)?.body as Uint8Array).find(({ name }) =>
    name.startsWith('spanline.rec'),
  );
  const counts = metric.histogram.dataPoints.map(({ attributes, count }: Raw) => `${setOf(attributes)} ${count}`);
  expect(counts).toContain('plan=late,span.name=checkout 400');
});

test('OTLP: all of it is in the last export of a program that an exception ends', async () => {
  server = await startServer();
  const env = { ...QUIET, OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  const { stdout, stderr, code } = await runFile(app, { execArgv: EXEC, args: ['throw'], env });
  expect(code).toBe(1);
  expect(stderr).toContain('nobody catches it');
  expect(server.requests).toHaveLength(1);
  expect(countsIn(server.requests[0].body)).toEqual(EXPECTED(JSON.parse(stdout)));
});

/** When the sums of an export began, Unix nanoseconds. */
const startOf = (body: Uint8Array): bigint => {
  const served = metricsIn(body).find(({ name }) => name === 'http.server.request.duration');
  return BigInt(served.histogram.dataPoints[0].startTimeUnixNano);
};

test('a process that is killed loses what it has not exported, and the next one counts from its own start', async () => {
  const sink = await startServer();
  server = sink;
  const killed = async (): Promise<{ ports: Ports; last: Buffer }> => {
    sink.requests.length = 0;
    const child = spawn(process.execPath, [...EXEC, app, 'wait'], {
      cwd: root,
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        ...QUIET,
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
        OTEL_METRIC_EXPORT_INTERVAL: '5',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const ports = JSON.parse(line) as Ports;
    const isWhole = (): boolean =>
      sink.requests.some(({ body }) => JSON.stringify(countsIn(body)) === JSON.stringify(EXPECTED(ports)));
    await expect.poll(isWhole).toBe(true);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    return { ports, last: sink.requests.at(-1)?.body as Buffer };
  };
  const [first, second] = [await killed(), await killed()];
  for (const { ports, last } of [first, second]) expect(countsIn(last)).toEqual(EXPECTED(ports));
  expect(startOf(second.last)).toBeGreaterThan(startOf(first.last));
});

/** Two workers behind one port; each says where its metrics are. The primary serves nothing. */
const clusterApp = write(
  'metrics-cluster.mjs',
  `import cluster from 'node:cluster';
   import { createServer } from 'node:http';

   if (cluster.isPrimary) {
     const workers = [cluster.fork(), cluster.fork()];
     let listening = 0;
     cluster.on('listening', (_, { port }) => { if (++listening === 2) console.log(port); });
     process.on('SIGTERM', () => {
       let left = workers.length;
       cluster.on('exit', () => { if (--left === 0) process.exit(0); });
       for (const worker of workers) worker.process.kill('SIGTERM');
     });
   } else createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');`,
);

test('processes of a cluster have a port each, and sums of all are whole', async () => {
  server = await startServer();
  const free = await startServer();
  const { port: base } = new URL(free.url);
  await free.close();
  const child = spawn(process.execPath, [...EXEC, clusterApp], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ...QUIET,
      OTEL_LOG_LEVEL: 'debug',
      OTEL_METRICS_EXPORTER: 'prometheus,otlp',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: base,
      OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const [log, out] = [createInterface({ input: child.stderr }), createInterface({ input: child.stdout })];
  const urls: string[] = [];
  log.on('line', (line) => {
    const [, url] = /metrics are at (.*)/.exec(line) ?? [];
    if (url !== undefined) urls.push(url);
  });
  const [port] = await once(out, 'line');
  while (urls.length < 3) await once(log, 'line');
  expect(new Set(urls).size).toBe(3);
  // A connection each: the primary gives them to its workers by turns, more or less.
  for (let i = 0; i < 40; i++)
    await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text();
  const SERVED = 'http.server.request.duration';
  const countIn = (lines: readonly string[]): number =>
    lines.filter((line) => line.startsWith(SERVED)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  const scraped = texts.map((text) => countIn(countsOf(text))).sort();
  expect(scraped[0]).toBe(0);
  expect(scraped[1]).toBeGreaterThan(0);
  expect(scraped[1] + scraped[2]).toBe(40);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  // By process: without a name of its own a server would take their sums for those of one. What is in flight as one ends goes out again.
  const exported = new Map<string, number>();
  for (const { body } of server.requests) {
    const { attributes } = (Request.toObject(Request.decode(body), { longs: String }) as Raw).resourceMetrics[0]
      .resource;
    const id = attributes.find(({ key }: Raw) => key === 'service.instance.id').value.stringValue;
    exported.set(id, countIn(countsIn(body)));
  }
  expect([...exported.values()].sort()).toEqual(scraped);
});
