// A package that is an ES module is patched when a program imports it, where Node has hooks in the program's own thread; elsewhere the program
// runs as ever.
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildFirst } from '../cli/support/spanline.js';
import { startServer } from '../exporters/support/http-server.js';
import { decodeProtobuf } from '../exporters/support/otlp-decode.js';
import { runFile } from '../support/child.js';
import './libraries.js';
import { later } from './support.js';

buildFirst();

const app = fileURLToPath(new URL('./libraries/hono-app.mjs', import.meta.url));

test('the route of hono, under register', async () => {
  const server = await startServer();
  later(() => server.close());
  const child = await runFile(app, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'undici' },
  });
  expect(child).toMatchObject({ code: 0, stdout: '7\n', stderr: '' });
  const names = server.requests.flatMap(({ body }) => decodeProtobuf(body).spans.map(({ name }) => name));
  expect(names).toEqual(['registerHooks' in Module ? 'GET /users/:id' : 'GET']);
});
