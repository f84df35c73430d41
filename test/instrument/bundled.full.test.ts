// What docs/instrumentation.md says of bundled applications: a library that publishes to channels is traced inside a bundle of esbuild, one that is patched as it
// is loaded only where it is left out of the bundle.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst } from '../support/built.js';
import { root, runFile } from '../support/child.js';
import './libraries.js';

buildFirst();

const libraries = fileURLToPath(new URL('./libraries/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'spanline-bundles-'));
symlinkSync(join(libraries, 'node_modules'), join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const APPS = {
  fastify: `
    const app = require('fastify')();
    app.get('/orders/:id', async () => 'ok');
    const { server } = app;
    app.listen({ port: 0 }).then(ask);`,
  koa: `
    const Router = require('@koa/router');
    const router = new (Router.default ?? Router)();
    router.get('/orders/:id', (context) => { context.body = 'ok'; });
    const Koa = require('koa');
    const server = new (Koa.default ?? Koa)().use(router.routes()).listen(0, ask);`,
};
const ASK = `
  async function ask() {
    await (await fetch('http://127.0.0.1:' + server.address().port + '/orders/7')).text();
    server.close();
  }`;

test.each([
  ['a library with channels, inside', 'fastify', [], 'GET /orders/:id'],
  ['one without, left out', 'koa', ['koa'], 'GET /orders/:id'],
  ['one without, inside: its request has no route', 'koa', [], 'GET'],
] as const)('%s', async (_, library, external, expected) => {
  const outfile = join(folder, `${library}-${external.length}.cjs`);
  const stdin = { contents: APPS[library] + ASK, resolveDir: libraries };
  await build({ stdin, outfile, bundle: true, platform: 'node', external: [...external], logLevel: 'error' });
  const sink = await startServer();
  const child = await runFile(outfile, {
    execArgv: ['--import', join(root, 'dist/esm/register/preload.js')],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '' },
  });
  const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
  await sink.close();
  expect(child).toMatchObject({ code: 0 });
  expect(spans.find(({ kind }) => kind === 2)?.name).toBe(expected);
});
