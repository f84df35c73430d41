// Where module hooks are forbidden, as in jest 30, instrument() goes on without them, says once what has to be handed over, and everything else is
// traced as ever.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst } from '../support/built.js';
import { out, resultOf, runFile } from '../support/child.js';

buildFirst();

const program = join(out, 'no-hooks.mjs');
writeFileSync(
  program,
  `import Module from 'node:module';
   import { createServer as createHttp2, connect } from 'node:http2';
   import { createServer } from 'node:http';
   import { once } from 'node:events';
   Module.registerHooks = () => { throw new Error('hooks are not supported in this runner'); };
   const { setReporter, flush } = await import('spanline');
   const { MemoryReporter } = await import('spanline/exporters/memory');
   const { instrument } = await import('spanline/instrument');
   const memory = new MemoryReporter();
   setReporter(memory);
   const on = [instrument(JSON.parse(process.argv[2])), instrument()];
   const answer = (request, response) => response.end();
   const urlOf = async (server) => {
     await once(server.listen(0, '127.0.0.1'), 'listening');
     return 'http://127.0.0.1:' + server.address().port;
   };
   const [one, two] = [createServer(answer), createHttp2(answer)];
   const request = async () => {
     await (await fetch(one.address() ? 'http://127.0.0.1:' + one.address().port : await urlOf(one))).text();
     const session = connect(two.address() ? 'http://127.0.0.1:' + two.address().port : await urlOf(two));
     await once(session.request({ ':path': '/' }).resume().end(), 'close');
     session.close();
     await once(session, 'close');
   };
   await request();
   const count = async () => { await flush(); const { length } = memory.spans; memory.clear(); return length; };
   while (memory.spans.length < 4) await flush();
   const before = await count();
   for (const { disable } of on) disable();
   await request();
   one.close(); two.close(); one.closeAllConnections();
   console.log(JSON.stringify({ before, after: await count(), left: Object.keys(globalThis).filter((key) => key.startsWith('spanline_')) }));`,
);

test('it goes on, names what is not seen, and takes everything back', async () => {
  const child = await runFile(program, { args: ['{}'] });
  expect(resultOf(child)).toEqual({ before: 4, after: 0, left: [] });
  const [line, ...more] = child.stderr.split('\n').filter((text) => text.includes('SpanlineWarning'));
  expect(line).toMatch(
    /SPANLINE_NO_MODULE_HOOKS.* express, koa, hapi, hono, trpc, grpc, pg, postgres, mariadb, mysql, ioredis, mongodb, mongoose, amqplib, kafkajs, bullmq, aws-sdk, bluebird, winston, bunyan .*hooks are not supported/,
  );
  expect(more).toEqual([]);
});
