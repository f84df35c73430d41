// Nothing of a request that is over is kept: neither itself, nor its answer, nor what was asked of others for it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst } from '../../support/built.js';
import { out, runFile } from '../../support/child.js';

buildFirst();

const program = join(out, 'leaks.mjs');
writeFileSync(
  program,
  `import { createServer, Agent, get } from 'node:http';
   import { once } from 'node:events';
   import { setTimeout as sleep } from 'node:timers/promises';
   import { setReporter, stats } from 'spanline';
   setReporter({ name: 'noop', keepsNoTrace: true, report() {} });
   let gone = 0;
   const registry = new FinalizationRegistry(() => gone++);
   const server = createServer((request, response) => {
     registry.register(request);
     registry.register(response);
     if (request.url === '/gone') return void request.socket.destroy();
     response.end('ok');
   }).listen(0, '127.0.0.1');
   await once(server, 'listening');
   const agent = new Agent({ keepAlive: true, maxSockets: 4 });
   const ask = (path) => new Promise((resolve) => {
     const request = get({ port: server.address().port, host: '127.0.0.1', path, agent }, (answer) => answer.resume().on('close', resolve));
     request.on('error', resolve);
     registry.register(request);
   });
   for (let i = 0; i < 200; i++) await Promise.all(['/a', '/b', '/c', '/gone'].map(ask));
   for (let i = 0; i < 20 && gone < 2400; i++) { await sleep(20); globalThis.gc(); }
   const { openTraces, readyTraces } = stats().collector;
   console.log(JSON.stringify({ gone, openTraces, errors: stats().instrumentationErrors }));
   process.exit();`,
);

test('requests of both sides, also those cut off', async () => {
  const execArgv = ['--expose-gc', '--import', 'spanline/register'];
  const child = await runFile(program, { execArgv, env: { OTEL_TRACES_EXPORTER: 'none' } });
  const { gone, openTraces, errors } = JSON.parse(child.stdout) as Record<string, number>;
  // The last ones of each connection may still be in its hands.
  expect(gone).toBeGreaterThan(2350);
  expect([openTraces, errors]).toEqual([0, 0]);
});
