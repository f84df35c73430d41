// Jobs of the newest bullmq; an older version is in bullmq.full.test.ts.
import { expect, test } from 'vitest';
import { hasRedis, startRedis } from '../db/redis-server.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
import { describeBullmq } from './bullmq-cases.js';

describeBullmq('bullmq');

test.skipIf(!hasRedis)('where the program has given it a telemetry of its own, that one traces', async () => {
  instrumentOnly({ bullmq: true });
  const server = await startRedis();
  later(server.stop);
  const span = { setSpanOnContext: (one: unknown) => one, setAttribute() {}, setAttributes() {}, end() {} };
  const started: string[] = [];
  const telemetry = {
    tracer: {
      startSpan(name: string) {
        started.push(name);
        return { ...span, addEvent() {}, recordException() {} };
      },
    },
    contextManager: {
      with: (_: unknown, work: () => unknown) => work(),
      active: () => ({}),
      getMetadata: () => 'own',
      fromMetadata: () => ({}),
    },
  };
  const { Queue, Worker } = library('bullmq');
  const options = { connection: { host: '127.0.0.1', port: server.port }, telemetry };
  const queue = new Queue('orders', options);
  const job = await queue.add('a', {});
  expect(job.opts.telemetry).toEqual({ metadata: 'own' });
  await new Promise((resolve) => {
    const worker = new Worker('orders', async () => {}, options);
    worker.on('completed', resolve);
    later(() => worker.close());
  });
  later(() => queue.close());
  expect(started).toEqual(expect.arrayContaining(['add orders.a', 'process orders']));
  expect(await recorded()).toEqual([]);
});
