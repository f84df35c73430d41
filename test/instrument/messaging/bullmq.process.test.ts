// Jobs of the newest bullmq; an older version is in bullmq.full.test.ts.
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { hasRedis, startRedis } from '../db/redis-server.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
import { describeBullmq } from './bullmq-cases.js';

describeBullmq('bullmq');

test.skipIf(!hasRedis)('what a worker asks for on its own account is not a trace', async () => {
  instrumentOnly({ bullmq: true, ioredis: true });
  const server = await startRedis();
  later(server.stop);
  const { Queue, Worker } = library('bullmq');
  const connection = { host: '127.0.0.1', port: server.port };
  const options = { connection, drainDelay: 0.01, stalledInterval: 10, lockDuration: 40 };
  let isRenewed = (): void => {};
  const renewed = new Promise<void>((resolve) => {
    isRenewed = resolve;
  });
  const worker = new Worker('orders', () => renewed, options);
  worker.on('locksRenewed', isRenewed);
  later(() => worker.close());
  const queue = new Queue('orders', { connection });
  later(() => queue.close());
  const client = await queue.client;
  const calls = async (command: string): Promise<number> =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await client.info('commandstats'))?.[1] ?? 0);
  const more = async (command: string, count: number): Promise<void> => {
    const before = await calls(command);
    while ((await calls(command)) < before + count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await more('bzpopmin', 1);
  await recorded();
  await more('bzpopmin', 5);
  await more('evalsha', 5);
  const done = new Promise((resolve) => worker.on('completed', resolve));
  await Span.root('request').runToEnd(() => queue.add('a', {}));
  await done;
  await more('evalsha', 5);
  const spans = await recorded();
  // A script that was not known to the server is sent whole.
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === '').map(({ name }) => name);
  expect(roots.sort()).toEqual(['process orders', 'request']);
  expect(spans.filter(({ name }) => name.startsWith('EVAL'))).toHaveLength(1);
});

test.skipIf(!hasRedis)('what a program asks a worker for is below what asks', async () => {
  instrumentOnly({ bullmq: true, ioredis: true });
  const server = await startRedis();
  later(server.stop);
  const { Queue, Worker } = library('bullmq');
  const connection = { host: '127.0.0.1', port: server.port };
  const worker = new Worker('orders', null, { connection });
  later(() => worker.close());
  const queue = new Queue('orders', { connection });
  later(() => queue.close());
  await queue.add('a', {});
  await worker.waitUntilReady();
  await recorded();
  await Span.root('by hand').runToEnd(async () => {
    const job = await worker.getNextJob('token');
    await job.moveToCompleted('done', 'token', false);
  });
  const spans = await recorded();
  const root = spans.find(({ name }) => name === 'by hand');
  const scripts = spans.filter(({ name }) => name.startsWith('EVAL'));
  expect(scripts.map(({ parentSpanId }) => parentSpanId)).toEqual([root?.spanId, root?.spanId]);
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
