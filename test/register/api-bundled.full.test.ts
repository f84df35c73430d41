// A program that has OpenTelemetry's API inside its bundle and no package of it: whatever the version, its spans, baggage and propagation are
// recorded in one tree with HTTP, what it sets itself is taken, and what others have set stays. So are those of a copy beside an older package.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst, root } from '../support/built.js';
import { runFile } from '../support/child.js';

buildFirst();

/** Where no package of the API is found, from this package either. */
const folder = mkdtempSync(join(tmpdir(), 'spanline-bundled-'));
const spanline = join(folder, 'global/spanline');
beforeAll(() => {
  for (const part of ['package.json', 'dist/esm', 'dist/cjs'])
    cpSync(join(root, part), join(spanline, part), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The API as another version of itself, which copies of it compare. */
const asVersion = (version: string): Plugin => ({
  name: 'as-version',
  setup({ onLoad }) {
    onLoad({ filter: /@opentelemetry\/api\/build\/.*\/version\.js$/ }, () => ({
      contents: `export const VERSION = '${version}';`,
    }));
  },
});

const bundle = async (code: string, version: string, minify = false): Promise<string> => {
  const outfile = join(folder, `${version}${minify ? '-min' : ''}-${code.length}.cjs`);
  const stdin = { contents: code, resolveDir: root };
  const plugins = [asVersion(version)];
  await build({ stdin, outfile, bundle: true, platform: 'node', mainFields: ['module', 'main'], minify, plugins });
  return outfile;
};

const run = async (file: string, execArgv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const sink = await startServer();
  const child = await runFile(file, {
    execArgv,
    cwd: folder,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', ...env },
  });
  const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
  await sink.close();
  expect(child).toMatchObject({ code: 0, stderr: '' });
  return { spans, said: JSON.parse(child.stdout) as Record<string, unknown> };
};

const IMPORT = ['--import', join(spanline, 'dist/esm/register/preload.js')];
const REQUIRE = ['--require', join(spanline, 'dist/cjs/register/index.js')];

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** A request with baggage is answered by a span of the API that calls another one; a message is made and read by hand. */
const APP = `
  import { createServer, get } from 'node:http';
  import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
  const tracer = trace.getTracer('shop', '1.2');
  const said = {};
  const server = createServer((request, response) => {
    if (request.url === '/behind') return void response.end(JSON.stringify(request.headers));
    tracer.startActiveSpan('order', async (span) => {
      await null;
      said.user = propagation.getBaggage(context.active())?.getEntry('user')?.value;
      said.message = {};
      propagation.inject(context.active(), said.message);
      said.span = span.spanContext().spanId;
      get({ port: server.address().port, path: '/behind' }, async (answer) => {
        said.behind = JSON.parse((await answer.toArray()).join(''));
        span.end();
        response.end();
      });
    });
  }).listen(0, () => {
    const headers = { traceparent: '00-${TRACE}-${PARENT}-01', baggage: 'user=7' };
    const there = propagation.extract(ROOT_CONTEXT, headers);
    context.with(there, () => tracer.startActiveSpan('send', (span) => {
      get({ port: server.address().port, headers: { baggage: 'user=7' } }, (answer) => answer.resume().on('end', () => {
        span.end();
        server.close();
        console.log(JSON.stringify(said));
      }));
    }));
  });`;

const BUNDLES = [
  ['1.9, by --import', '1.9.1', false, IMPORT],
  ['1.9, by --require', '1.9.1', false, REQUIRE],
  ['1.9, minified', '1.9.1', true, IMPORT],
  ['an old one', '1.0.3', false, IMPORT],
  ['one to come', '1.42.0', false, IMPORT],
] as const;

test.each(BUNDLES)('spans of the API in a bundle: %s', async (_, version, minify, execArgv) => {
  const { spans, said } = await run(await bundle(APP, version, minify), execArgv);
  const below = (parent: unknown, kind: number) =>
    spans.find((span) => span.parentSpanId === parent && span.kind === kind);
  const send = spans.find(({ name }) => name === 'send');
  expect(send).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, scope: 'shop' });
  const front = below(below(send?.spanId, 3)?.spanId, 2);
  const order = below(front?.spanId, 1);
  expect(order).toMatchObject({ name: 'order', traceId: TRACE, spanId: said.span });
  expect(below(below(order?.spanId, 3)?.spanId, 2)).toBeDefined();
  expect(said.user).toBe('7');
  expect(said.message).toEqual({ traceparent: `00-${TRACE}-${said.span}-01`, baggage: 'user=7' });
  expect(said.behind).toMatchObject({ baggage: 'user=7' });
});

/** What a program sets in the API, and what it then finds there. */
const SETTER = `
  import { context, diag, metrics, ProxyTracerProvider, trace } from '@opentelemetry/api';
  const names = [];
  const instrument = { addCallback() {}, add() {} };
  const meter = {
    createObservableCounter: (name) => (names.push(name), instrument),
    createObservableGauge: () => instrument,
    addBatchObservableCallback() {},
  };
  const logged = [];
  const provider = { getMeter: () => meter };
  const log = (text) => void logged.push(text);
  const own = new ProxyTracerProvider();
  const said = {
    logger: diag.setLogger({ error: log, warn: log, info: log, debug: log, verbose: log }),
    metrics: metrics.setGlobalMeterProvider(provider) && metrics.getMeterProvider() === provider,
    again: metrics.setGlobalMeterProvider(provider),
    refused: [trace.setGlobalTracerProvider(own), context.setGlobalContextManager({ active() {} })],
    delegate: typeof trace.getTracerProvider().getDelegate().getTracer,
  };
  metrics.disable();
  said.anew = metrics.setGlobalMeterProvider(provider);
  trace.getTracer('t').startSpan('kept').setAttribute('', 1).end();
  said.replaced = (trace.disable(), trace.setGlobalTracerProvider(own));
  trace.getTracer('t').startSpan('lost').end();
  console.log(JSON.stringify({ ...said, counts: names.includes('spanline.spans_over_trace_cap'), logged: logged.map((one) => one.split('\\n')[0]) }));`;

const SETTERS = [
  ['1.9', '1.9.1', false],
  ['1.9, minified', '1.9.1', true],
  ['an old one', '1.4.0', false],
  ['one to come', '1.42.0', true],
] as const;

test.each(SETTERS)('what a bundle sets in its API is taken: %s', async (_, version, minify) => {
  const { spans, said } = await run(await bundle(SETTER, version, minify), IMPORT);
  const { logged, ...rest } = said as { logged: readonly string[] };
  expect(rest).toEqual({
    logger: true,
    metrics: true,
    again: false,
    refused: [false, false],
    delegate: 'function',
    anew: true,
    replaced: true,
    counts: true,
  });
  expect(logged.filter((text) => text.includes('duplicate registration'))).toHaveLength(3);
  expect(logged).toContain('Invalid attribute key: ');
  expect(spans.map(({ name }) => name)).toEqual(['kept']);
});

test('what somebody has set before stays, and the rest is ours', async () => {
  const before = join(folder, 'before.cjs');
  writeFileSync(
    before,
    `globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.1', trace: { getTracer: () => ({ startSpan: () => 'theirs' }) } };`,
  );
  const app = `
    import { context, createContextKey, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
    const key = createContextKey('k');
    const found = context.with(ROOT_CONTEXT.setValue(key, 7), () => context.active().getValue(key));
    console.log(JSON.stringify({ span: trace.getTracer('t').startSpan('x'), found, metrics: metrics.setGlobalMeterProvider({ getMeter() {} }) }));`;
  const { said } = await run(await bundle(app, '1.9.1'), ['--require', before, ...REQUIRE]);
  expect(said).toEqual({ span: 'theirs', found: 7, metrics: true });
});

test('a package that a dependency alone finds', async () => {
  const lib = join(folder, 'node_modules/lib');
  for (const part of ['package.json', 'build/src'])
    cpSync(join(root, 'node_modules/@opentelemetry/api', part), join(lib, 'node_modules/@opentelemetry/api', part), {
      recursive: true,
    });
  writeFileSync(
    join(lib, 'index.js'),
    `const { metrics, trace } = require('@opentelemetry/api');
     trace.getTracer('lib').startSpan('work').end();
     console.log(JSON.stringify({ metrics: metrics.setGlobalMeterProvider({ getMeter() {} }) }));`,
  );
  const program = join(folder, 'dependent.cjs');
  writeFileSync(program, `require('lib');`);
  const { spans, said } = await run(program, IMPORT);
  expect(said).toEqual({ metrics: true });
  expect(spans).toMatchObject([{ name: 'work', scope: 'lib' }]);
});

test('a package of the program that is older than the copy in a bundle', async () => {
  const app = join(folder, 'older');
  const api = join(app, 'node_modules/@opentelemetry/api');
  for (const part of ['package.json', 'build/src'])
    cpSync(join(root, 'node_modules/@opentelemetry/api', part), join(api, part), { recursive: true });
  writeFileSync(join(api, 'build/src/version.js'), `exports.VERSION = '1.4.0';`);
  const manifest = JSON.parse(readFileSync(join(api, 'package.json'), 'utf8')) as object;
  writeFileSync(join(api, 'package.json'), JSON.stringify({ ...manifest, version: '1.4.0' }));
  const copy = await bundle(
    `import { metrics, trace } from '@opentelemetry/api';
     module.exports = (fn) => trace.getTracer('copy').startActiveSpan('of the copy', (span) => {
       fn(); span.end(); return metrics.setGlobalMeterProvider({ getMeter() {} }); });`,
    '1.9.1',
  );
  const program = join(app, 'app.cjs');
  writeFileSync(
    program,
    `const { diag, metrics, trace } = require('@opentelemetry/api');
     const logger = diag.setLogger({ error() {}, warn() {}, info() {}, debug() {}, verbose() {} });
     setImmediate(() => trace.getTracer('package').startActiveSpan('of the package', (span) => {
       const again = require(${JSON.stringify(copy)})(() => trace.getTracer('package').startSpan('below').end());
       span.end();
       metrics.disable();
       const anew = metrics.setGlobalMeterProvider({ getMeter() {} });
       console.log(JSON.stringify({ logger, again, anew }));
     }));`,
  );
  const { spans, said } = await run(program, IMPORT);
  const [top, middle, low] = ['of the package', 'of the copy', 'below'].map((name) =>
    spans.find((span) => span.name === name),
  );
  expect(spans).toHaveLength(3);
  expect(middle?.parentSpanId).toBe(top?.spanId);
  expect(low?.parentSpanId).toBe(middle?.spanId);
  expect(said).toEqual({ logger: true, again: true, anew: true });
});

test('what an API out of a bundle cannot say is said', async () => {
  // As in a single executable: there is no file to be read.
  const file = await bundle(
    'import { metrics } from "@opentelemetry/api"; console.log(metrics.setGlobalMeterProvider({}));',
    '1.9.1',
  );
  const program = join(folder, 'no-file.cjs');
  writeFileSync(
    program,
    `const { readFileSync } = require('node:fs');
     require('node:vm').runInThisContext('(require) => {' + readFileSync(${JSON.stringify(file)}, 'utf8') + '}', 'app')(require);`,
  );
  const child = await runFile(program, { execArgv: IMPORT, cwd: folder, env: { OTEL_TRACES_EXPORTER: 'none' } });
  expect(child).toMatchObject({ code: 0, stdout: 'false\n' });
  expect(child.stderr).toMatch(/^spanline: .*@opentelemetry\/api.*\n$/);
});
