// What a program records through OpenTelemetry's API is recorded here, in one tree with HTTP; contexts travel as OTEL_PROPAGATORS says; and
// without the API everything else works.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst, root } from '../support/built.js';
import { type ChildOptions, out, runFile } from '../support/child.js';
import { sampleOf } from '../support/samples.js';
import { service } from './support/official.js';

buildFirst();

let sink: TestServer | undefined;
afterEach(async () => {
  await sink?.close();
  sink = undefined;
});

const app = join(out, 'api-app.mjs');
writeFileSync(
  app,
  `import { createServer, get } from 'node:http';
   import { once } from 'node:events';
   import { connect } from 'node:net';
   import { context, propagation, trace } from '@opentelemetry/api';
   const tracer = trace.getTracer('shop', '1.2');
   const server = createServer((request, response) => {
     if (request.url === '/behind') return void response.end(JSON.stringify(request.headers));
     tracer.startActiveSpan('order', (span) => {
       const user = propagation.getBaggage(context.active())?.getEntry('user')?.value;
       span.setAttribute('user', user ?? 'nobody');
       const headers = { 'x-b3-flags': '1', baggage: 'own=1' };
       get({ port: server.address().port, path: '/behind', host: '127.0.0.1', headers }, (answer) => {
         answer.pipe(response);
         answer.on('end', () => span.end());
       });
     });
   }).listen(0, '127.0.0.1');
   await once(server, 'listening');
   // By hand: a request of http would bring a context of its own.
   const lines = Object.entries(JSON.parse(process.argv[2])).map(([name, value]) => name + ': ' + value);
   const socket = connect(server.address().port, '127.0.0.1');
   socket.write(['GET / HTTP/1.1', 'host: a', 'connection: close', ...lines, '', ''].join('\\r\\n'));
   let text = '';
   for await (const chunk of socket) text += chunk;
   console.log(/\\{.*\\}/s.exec(text)[0]);
   server.close();`,
);

const run = async (headers: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
  sink = await startServer();
  const child = await runFile(app, {
    execArgv: ['--import', 'spanline/register'],
    args: [JSON.stringify(headers)],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', ...env },
  });
  expect(child.stderr).toBe('');
  const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
  return { spans, behind: JSON.parse(child.stdout) as Record<string, string> };
};

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

test('spans of the API, and baggage, in one tree with HTTP', async () => {
  const { spans, behind } = await run({ traceparent: `00-${TRACE}-${PARENT}-01`, baggage: 'user=7,tenant=a' });
  const front = spans.find(({ parentSpanId, kind }) => parentSpanId === PARENT && kind === 2);
  const order = spans.find(({ name }) => name === 'order');
  const call = spans.find(({ parentSpanId }) => parentSpanId === order?.spanId);
  expect(order).toMatchObject({ traceId: TRACE, parentSpanId: front?.spanId, attributes: [['user', ['string', '7']]] });
  expect(order?.scope).toBe('shop');
  expect(call?.kind).toBe(3);
  expect(behind.traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
  expect(behind.baggage).toBe('user=7,tenant=a');
});

test('a route that a framework says on a span of its own names the request', async () => {
  const program = join(out, 'api-routes.mjs');
  writeFileSync(
    program,
    `import { createServer } from 'node:http';
     import { once } from 'node:events';
     import { SpanKind, trace } from '@opentelemetry/api';
     const tracer = trace.getTracer('framework');
     // SvelteKit answers what a page fetches from itself inside the request of the page.
     const kit = (route, fetched = () => {}) =>
       tracer.startActiveSpan('sveltekit.handle.root', { attributes: { 'http.route': route } }, (span) => {
         fetched();
         span.end();
       });
     const server = createServer((request, response) => {
       tracer.startActiveSpan('handle', { kind: SpanKind.SERVER }, (span) => {
         if (request.url === '/users/7') tracer.startSpan('render', { attributes: { 'next.route': '/users/[id]' } }).end();
         if (request.url === '/items/7') span.setAttributes({ 'http.route': '/items/[id]' });
         if (request.url === '/books/7') kit('/books/[id]', () => kit('/api/books/[id]'));
         if (request.url === '/none') kit('unknown', () => kit('/api/menu'));
         response.end();
         setImmediate(() => span.end());
       });
     }).listen(0, '127.0.0.1');
     await once(server, 'listening');
     for (const path of ['/users/7', '/items/7', '/books/7', '/none', '/other']) await (await fetch('http://127.0.0.1:' + server.address().port + path)).text();
     server.close();`,
  );
  sink = await startServer();
  const child = await runFile(program, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '' },
  });
  expect(child).toMatchObject({ code: 0, stderr: '' });
  const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
  const requests = spans.filter(({ kind, scope }) => kind === 2 && scope !== 'framework');
  expect(requests.map(({ name }) => name).sort()).toEqual([
    'GET',
    'GET',
    'GET /books/[id]',
    'GET /items/[id]',
    'GET /users/[id]',
  ]);
});

const PROPAGATORS = [
  ['b3', { b3: `${TRACE}-${PARENT}-1` }, 'b3', /^0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-1$/],
  ['b3multi', { 'x-b3-traceid': TRACE, 'x-b3-spanid': PARENT, 'x-b3-sampled': '1' }, 'x-b3-traceid', TRACE],
  [
    'jaeger',
    { 'uber-trace-id': `${TRACE}:${PARENT}:0:1` },
    'uber-trace-id',
    /^0af7651916cd43dd8448eb211c80319c:[0-9a-f]{1,16}:0:0?1$/,
  ],
] as const;

test.each(sampleOf(PROPAGATORS, 1, PROPAGATORS.length))(
  'OTEL_PROPAGATORS=%s',
  async (name, headers, header, expected) => {
    const { spans, behind } = await run(headers, { OTEL_PROPAGATORS: name });
    expect(spans.some(({ parentSpanId, traceId }) => parentSpanId === PARENT && traceId === TRACE)).toBe(true);
    expect(behind[header]).toMatch(expected);
    // What its own headers say of another context is taken out, and nothing else.
    expect(behind).toMatchObject(name === 'b3multi' ? { baggage: 'own=1' } : { baggage: 'own=1', 'x-b3-flags': '1' });
    if (name === 'b3multi') expect(behind).not.toHaveProperty('x-b3-flags');
    expect(behind).not.toHaveProperty('traceparent');
  },
);

test('OTEL_PROPAGATORS=none: nothing comes in or goes out', async () => {
  const { spans, behind } = await run({ traceparent: `00-${TRACE}-${PARENT}-01` }, { OTEL_PROPAGATORS: 'none' });
  expect(spans.filter(({ traceId }) => traceId === TRACE)).toEqual([]);
  expect(behind).not.toHaveProperty('traceparent');
});

const WITHOUT_API = [
  ['b3', { b3: `${TRACE}-${PARENT}-1` }, { b3: expect.stringMatching(`^${TRACE}-[0-9a-f]{16}-1$`) }],
  [
    'tracecontext,baggage',
    { traceparent: `00-${TRACE}-${PARENT}-01`, baggage: 'user=7' },
    { traceparent: expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`), baggage: 'user=7' },
  ],
] as const;

test.each(sampleOf(WITHOUT_API, 1, WITHOUT_API.length))(
  'without the API HTTP is traced all the same, and contexts travel by %s',
  async (propagators, sent, passedOn) => {
    // A package of its own, outside this one.
    const folder = mkdtempSync(join(tmpdir(), 'spanline-no-api-'));
    const home = join(folder, 'node_modules/spanline');
    mkdirSync(home, { recursive: true });
    for (const part of ['package.json', 'dist/esm', 'dist/cjs'])
      cpSync(join(root, part), join(home, part), { recursive: true });
    const program = join(folder, 'app.mjs');
    writeFileSync(
      program,
      `import { createServer, request } from 'node:http';
     import { connect } from 'node:net';
     const server = createServer(({ url, headers }, response) => {
       if (url === '/behind') return void response.end(JSON.stringify(headers));
       request({ port: server.address().port, path: '/behind', agent: false }, (answer) => answer.pipe(response)).end();
     }).listen(0, async () => {
       const lines = Object.entries(${JSON.stringify(sent)}).map(([name, value]) => name + ': ' + value);
       const socket = connect(server.address().port);
       socket.write(['GET / HTTP/1.1', 'host: a', 'connection: close', ...lines, '', ''].join('\\r\\n'));
       const text = (await socket.toArray()).join('');
       console.log(/\\{.*\\}/s.exec(text)[0]);
       server.close();
     });`,
    );
    sink = await startServer();
    const execArgv = ['--import', join(home, 'dist/esm/register/preload.js')];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_PROPAGATORS: propagators };
    const child = await runFile(program, { execArgv, env, cwd: folder });
    rmSync(folder, { recursive: true, force: true });
    expect(child).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(child.stdout)).toMatchObject(passedOn);
    const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
    expect(spans.map(({ kind }) => kind).sort()).toEqual([2, 2, 3]);
    expect(spans.filter(({ traceId }) => traceId === TRACE)).toHaveLength(3);
  },
);

const firstLine = join(out, 'first-line.cjs');
writeFileSync(
  firstLine,
  `require('@opentelemetry/api').trace.getTracer('shop').startSpan('first').end();
   console.log(process.argv.length);`,
);

const WAYS = [
  ['--require', { execArgv: ['--require', 'spanline/register'] }],
  ['--import', { execArgv: ['--import', 'spanline/register'] }],
  ['NODE_OPTIONS with --require', { env: { NODE_OPTIONS: '--require spanline/register' } }],
  ['NODE_OPTIONS with --import', { env: { NODE_OPTIONS: '--import spanline/register' } }],
] as const;

test.each(sampleOf(WAYS, 2, WAYS.length))(
  'by %s the API is there at the first line',
  async (_, { env = {}, execArgv = [] }: ChildOptions) => {
    sink = await startServer();
    const child = await runFile(firstLine, {
      execArgv,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', ...env },
    });
    expect(child).toMatchObject({ code: 0, stdout: '2\n', stderr: '' });
    const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
    expect(spans).toMatchObject([{ name: 'first', scope: 'shop' }]);
  },
);

test('counters of ours among the metrics of a program that sets a MeterProvider', async () => {
  sink = await startServer();
  const program = service('metrics.cjs');
  const child = await runFile(program, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '' },
  });
  expect(child).toMatchObject({ code: 0, stderr: '' });
  const names = JSON.parse(child.stdout) as readonly string[];
  expect(names).toContain('orders');
  expect(names).toContain('spanline.spans_over_trace_cap');
});
