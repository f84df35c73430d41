// A package that is an ES module is patched when a program imports it, where Node has hooks in the program's own thread; elsewhere the program
// runs as ever.
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildFirst } from '../support/built.js';
import { runFile } from '../support/child.js';
import './libraries.js';

buildFirst();

/** What it prints, and the spans of requests, as the console exporter shows them on standard error. */
const run = async (app: string, disabled: string) => {
  const { code, stdout, stderr } = await runFile(fileURLToPath(new URL(`./libraries/${app}`, import.meta.url)), {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_TRACES_EXPORTER: 'console', OTEL_NODE_DISABLED_INSTRUMENTATIONS: disabled },
  });
  const spans = [...stderr.matchAll(/^(GET.*?) {2}.* {2}(server|client) {2}/gm)].map(
    ([, name, kind]) => `${kind} ${name}`,
  );
  return { code, stdout, spans: spans.sort() };
};

test.each(['hono-app.mjs', 'hono-again.mjs'])('the route of hono, under register: %s', async (app) => {
  expect(await run(app, 'undici')).toEqual({
    code: 0,
    stdout: '7\n',
    spans: ['registerHooks' in Module ? 'server GET /users/:id' : 'server GET'],
  });
});

test.skipIf(!('registerHooks' in Module))(
  'an ES module that is required later, by a program that pays nothing for hooks meanwhile',
  async () => {
    expect(await run('hono-required.cjs', 'undici')).toEqual({
      code: 0,
      stdout: 'crypto: at once\n7\n',
      spans: ['server GET /users/:id'],
    });
  },
);

test.skipIf(!('registerHooks' in Module))("what the program's own hooks give in place of CommonJS files", async () => {
  const app = fileURLToPath(new URL('./libraries/virtual-app.mjs', import.meta.url));
  const { stdout: plain } = await runFile(app);
  const { stdout } = await runFile(app, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_TRACES_EXPORTER: 'none' },
  });
  // Lines of Node differ in what they can.
  expect(stdout).toBe(plain);
  expect(plain).not.toBe('');
});

test("Node's own http2, which a program loads later", async () => {
  expect(await run('http2-app.mjs', '')).toEqual({ code: 0, stdout: '55\n', spans: ['client GET', 'server GET'] });
});
