// A program that has a MeterProvider of its own: the instruments are made from it, and our own exporters send nothing any more.
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { runFile } from '../support/child.js';
import { write } from './support/app.js';

const setting = write(
  'own-provider-set.mjs',
  `import { metrics } from '@opentelemetry/api';
   import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

   export const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
   export const provider = new MeterProvider({
     readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e8 })],
   });
   metrics.setGlobalMeterProvider(provider);`,
);

/** Answers requests, prints what the program's reader has collected of them. */
const app = write(
  'own-provider.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { once } from 'node:events';
   import { createServer, get } from 'node:http';
   import { exporter, provider } from './own-provider-set.mjs';

   const cache = tracingChannel('ioredis:command');
   const server = createServer(async (request, response) => {
     const command = { command: 'get', args: [request.url], database: 0, serverAddress: 'cache', serverPort: 6379 };
     await cache.tracePromise(async () => 'value', command);
     response.writeHead(request.url === '/bad' ? 500 : 200).end();
   });
   await once(server.listen(0, '127.0.0.1'), 'listening');
   const url = 'http://127.0.0.1:' + server.address().port;
   const ask = (path) => new Promise((resolve) => get(url + path, (answer) => answer.resume().on('close', resolve)));
   for (let i = 0; i < 30; i++) await ask(i % 3 === 0 ? '/bad' : '/good');
   server.close();
   server.closeAllConnections();
   await provider.forceFlush();
   const [{ scopeMetrics }] = exporter.getMetrics();
   const all = scopeMetrics.flatMap(({ scope, metrics }) => metrics.map((metric) => ({ scope: scope.name, ...metric })));
   console.log(JSON.stringify(all.map(({ scope, descriptor, dataPoints }) => ({
     scope, name: descriptor.name, unit: descriptor.unit, boundaries: dataPoints[0]?.value?.buckets?.boundaries,
     points: dataPoints.map(({ attributes, value }) => [attributes, value?.count ?? value]),
   }))));
   await provider.shutdown();
   if (process.argv[2] === 'exit') process.exit(0);`,
);

const EXEC = ['--import', 'spanline/register'];
const ENV = { OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'always_off', SPANLINE_ARCHIVE: '' };

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Collected {
  readonly scope: string;
  readonly name: string;
  readonly unit: string;
  readonly boundaries?: readonly number[];
  readonly points: readonly (readonly [attributes: Readonly<Record<string, unknown>>, value: number])[];
}

/** `name values: count` of requests and calls. */
const countsOf = (all: readonly Collected[]): string[] =>
  all
    .filter(({ name }) => /^(?:http|db)\./.test(name))
    .flatMap(({ name, points }) =>
      points.map(([{ 'server.port': _, ...set }, value]) => `${name} ${Object.values(set).join(' ')}: ${value}`),
    )
    .sort();

test.each([
  ['at its end', 'end', []],
  ['at its exit', 'exit', []],
  ['set before us', 'end', ['--import', pathToFileURL(setting).href]],
])("all of it is in the program's readers and nowhere else, %s", async (_, how, before) => {
  server = await startServer();
  const env = {
    ...ENV,
    OTEL_METRICS_EXPORTER: 'otlp,prometheus',
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    OTEL_METRIC_EXPORT_INTERVAL: '5',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    OTEL_LOG_LEVEL: 'debug',
  };
  const { stdout, stderr, code } = await runFile(app, { execArgv: [...before, ...EXEC], args: [how], env });
  expect(code).toBe(0);
  expect(stderr.split('\n').filter((line) => /metric/i.test(line))).toContain(
    "spanline: metrics go to the program's own MeterProvider",
  );
  const all = (JSON.parse(stdout) as Collected[]).filter(({ scope }) => scope === 'spanline');
  expect(countsOf(all)).toEqual([
    'db.client.operation.duration redis 0 GET GET cache: 30',
    'http.client.request.duration GET 127.0.0.1 200 1.1: 20',
    'http.client.request.duration GET 127.0.0.1 500 500 1.1: 10',
    'http.server.active_requests GET http: 0',
    'http.server.request.duration GET http 200 1.1: 20',
    'http.server.request.duration GET http 500 500 1.1: 10',
  ]);
  const served = all.find(({ name }) => name === 'http.server.request.duration');
  expect([served?.unit, served?.boundaries?.slice(0, 3), served?.boundaries?.length]).toEqual([
    's',
    [0.005, 0.01, 0.025],
    14,
  ]);
  const names = all.map(({ name }) => name);
  for (const name of ['nodejs.eventloop.utilization', 'v8js.memory.heap.used', 'otel.sdk.processor.span.queue.size'])
    expect(names).toContain(name);
  // What had begun before the program set its provider may be there; nothing came after it.
  expect(server.requests.every(({ body }) => !body.includes('http.server.request.duration'))).toBe(true);
});

test('where nobody has asked for metrics the provider has the counters of stats() alone', async () => {
  const { stdout, code } = await runFile(app, { execArgv: EXEC, args: ['end'], env: ENV });
  expect(code).toBe(0);
  const names = (JSON.parse(stdout) as Collected[]).map(({ name }) => name);
  expect(names).toContain('spanline.traces_unsampled');
  expect(names.filter((name) => !name.startsWith('spanline.'))).toEqual([]);
});
