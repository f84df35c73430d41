// Jobs of the newest bullmq; an older version is in bullmq.full.test.ts.
import { expect, test } from 'vitest';
import { hasRedis, startRedis } from '../db/redis-server.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
import { describeBullmq } from './bullmq-cases.js';

describeBullmq('bullmq');

test.skipIf(!hasRedis)('what a worker waits for, time and again, is no trace', async () => {
  instrumentOnly({ bullmq: true, ioredis: true });
  const server = await startRedis();
  later(server.stop);
  const { Queue, Worker } = library('bullmq');
  const connection = { host: '127.0.0.1', port: server.port };
  const worker = new Worker('orders', async () => {}, { connection, drainDelay: 0.01 });
  later(() => worker.close());
  const queue = new Queue('orders', { connection });
  later(() => queue.close());
  const client = await queue.client;
  const waits = async (): Promise<number> =>
    Number(/cmdstat_bzpopmin:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
  while ((await waits()) < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await recorded();
  const before = await waits();
  while ((await waits()) < before + 5) await new Promise((resolve) => setTimeout(resolve, 5));
  // Between two waits it looks for a job by a script, which is a command as any other.
  const names = new Set((await recorded()).map(({ name }) => name));
  expect([...names].sort()).toEqual(['EVALSHA', 'INFO']);
});

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
