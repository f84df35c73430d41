// A real OpenTelemetry Collector takes what we send, in either temporality and compressed, and hands on the same: every point with its times, attributes,
// buckets and exemplars.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCollector, HOW_TO_GET } from '../../scripts/lib/collector.mjs';
import { freePort, isListening } from '../../scripts/lib/local-ports.mjs';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { write } from '../register/support/app.js';
import { provided } from '../support/built-with-go.js';
import { runFile } from '../support/child.js';
import { isCI } from '../support/is-ci.js';
import { otlpMessages } from '../support/otlp-messages.js';

const { program, reason } = await provided({
  name: 'an OpenTelemetry Collector',
  script: 'build-collector.mjs',
  howToGet: HOW_TO_GET,
  find: findCollector,
});
if (program === undefined) console.info(`skipped: ${reason}`);
test.skipIf(!isCI)('the Collector is here', () => expect(program, reason).toBeDefined());

/** Requests, calls and own spans, a third of which fail, all of them sampled; a collection of garbage at least. */
const service = write(
  'collector-service.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { once } from 'node:events';
   import { createServer } from 'node:http';
   import { Span, spanMetrics } from 'spanline';

   spanMetrics({ job: { properties: ['plan'] } });
   const cache = tracingChannel('ioredis:command');
   const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
   const server = createServer(async (request, response) => {
     await cache.tracePromise(async () => 'value', { ...command });
     response.writeHead(request.url === '/bad' ? 500 : 200).end();
   });
   await once(server.listen(0, '127.0.0.1'), 'listening');
   const url = 'http://127.0.0.1:' + server.address().port;
   for (let i = 0; i < 2e6; i++) globalThis.sink = { i };
   for (let i = 0; i < 30; i++) {
     await (await fetch(url + (i % 3 === 0 ? '/bad' : '/'))).arrayBuffer();
     Span.root('job', undefined, { properties: { plan: i % 2 === 0 ? 'team' : '"ü" \\n' } }).end();
   }
   server.close();
   server.closeAllConnections();`,
);

// biome-ignore lint/suspicious/noExplicitAny: protobufjs's form of it.
type Raw = any;
const Request = otlpMessages.lookupType('MetricsRequest');
const unzipped = ({ body, headers }: TestServer['requests'][number]): Buffer =>
  headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
/** All that is in a request, in a form that can be compared. */
const contentOf = (request: TestServer['requests'][number]): Raw =>
  Request.toObject(Request.decode(unzipped(request)), { longs: String, bytes: String, defaults: true });

describe.skipIf(program === undefined)('a real Collector', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-collector-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  let sink: TestServer;
  let seen: TestServer;
  let warnings = '';
  beforeAll(async () => {
    sink = await startServer();
    const port = await freePort();
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      `receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:${port}' } } } }
exporters: { otlphttp: { endpoint: '${sink.url}', sending_queue: { enabled: false } } }
service:
  telemetry: { metrics: { level: none }, logs: { level: warn } }
  pipelines: { metrics: { receivers: [otlp], exporters: [otlphttp] } }
`,
    );
    const child = spawn(program as string, ['--config', config], { stdio: ['ignore', 'inherit', 'pipe'] });
    const gone = once(child, 'exit');
    child.stderr.on('data', (data) => {
      warnings += data;
    });
    while (!(await isListening(port))) {
      if (child.exitCode !== null) throw new Error(`the Collector ended with ${child.exitCode}: ${warnings}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // What it is sent, and what it answers, on the way.
    seen = await startServer(async (response, { path, headers, body }) => {
      const { 'content-type': type = '', 'content-encoding': encoding } = headers;
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { 'content-type': type, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) },
        body: new Uint8Array(body),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    ends.push(
      () => sink.close(),
      () => seen.close(),
      async () => {
        child.kill('SIGTERM');
        await gone;
      },
    );
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test.each([
    ['cumulative', 'gzip'],
    ['delta', 'none'],
  ])('%s, %s', async (temporality, compression) => {
    for (const { requests } of [sink, seen]) requests.length = 0;
    const { code, stderr } = await runFile(service, {
      execArgv: ['--import', 'spanline/register'],
      env: {
        SPANLINE_ARCHIVE: '',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_ENDPOINT: seen.url,
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
        OTEL_EXPORTER_OTLP_COMPRESSION: compression,
      },
    });
    // It warns of what a server refuses in part.
    expect({ code, stderr, warnings }).toEqual({ code: 0, stderr: '', warnings: '' });
    expect(sink.requests.map(contentOf)).toEqual(seen.requests.map(contentOf));
    const { metrics } = contentOf(sink.requests[0]).resourceMetrics[0].scopeMetrics[0];
    const countOf = (name: string): number =>
      metrics
        .find((metric: Raw) => metric.name === name)
        .histogram.dataPoints.reduce((sum: number, { count }: Raw) => sum + Number(count), 0);
    const names = ['http.server.request.duration', 'db.client.operation.duration', 'spanline.recorded_span.duration'];
    expect(names.map(countOf)).toEqual([30, 30, 30]);
    const points = metrics.flatMap(({ histogram }: Raw) => histogram?.dataPoints ?? []);
    expect(points.some(({ exemplars }: Raw) => exemplars.length > 0)).toBe(true);
  });
});
