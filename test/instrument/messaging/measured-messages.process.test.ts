// What is measured of messages, through real brokers: each that is sent and each that is done with, whether or not it has a span.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { always, configure, never, type Sampler } from '../../../src/index.js';
import type { Instruments } from '../../../src/metrics/reader.js';
import { hasRedis, type RedisServer, startRedis } from '../db/redis-server.js';
import { library } from '../libraries.js';
import { measuredIn, measureFrom } from '../measuring.js';
import { instrumentOnly, later, when } from '../support.js';
import { hasKafka, type Kafka, startKafka } from './kafka.js';
import { hasRabbitmq, type Rabbitmq, startRabbitmq } from './rabbitmq.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SAMPLERS: [string, Sampler][] = [
  ['recorded', always],
  ['sampled out', never],
];

let instruments: Instruments;
beforeEach(() => {
  instruments = measureFrom();
});

/** All that was measured, once there is so much of what is done with. */
const measuredWhen = async (count: number): Promise<string[]> => {
  const sum = (): number =>
    measuredIn(instruments).reduce((all, line) => {
      const [, processed] = /^messaging\.process\.duration .*: (\d+)$/.exec(line) ?? [];
      return all + Number(processed ?? 0);
    }, 0);
  await when(() => sum() === count);
  return measuredIn(instruments);
};

const boom = (): never => {
  throw Object.assign(new Error('boom'), { code: 'E_BOOM' });
};

describe.skipIf(!hasRabbitmq)('amqplib', () => {
  let server: Rabbitmq;
  let connection: Untyped;
  beforeAll(async () => {
    server = await startRabbitmq();
    connection = await library('amqplib').connect(server.url);
  }, 120_000);
  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  });

  test.each(SAMPLERS)('%s', async (_, sampler) => {
    configure({ sampler });
    instrumentOnly({ amqplib: { ignore: ({ destination }) => destination === 'ignored' } });
    const channel = await connection.createConfirmChannel();
    later(() => channel.close());
    await channel.assertQueue('orders', { autoDelete: true });
    await channel.assertQueue('ignored', { autoDelete: true });
    const { queue } = await channel.assertQueue('', { exclusive: true });
    let ignored = 0;
    let seen = 0;
    const consume = (message: Untyped): void => {
      if (++seen % 4 === 0) channel.nack(message, false, false);
      else channel.ack(message);
    };
    await channel.consume('orders', consume);
    await channel.consume(queue, (message: Untyped) => channel.ack(message));
    await channel.consume('ignored', (message: Untyped) => {
      channel.ack(message);
      ignored++;
    });
    channel.sendToQueue('ignored', Buffer.from('x'));
    await when(() => ignored === 1);
    for (let i = 0; i < 8; i++) channel.sendToQueue('orders', Buffer.from('x'));
    for (let i = 0; i < 3; i++) channel.sendToQueue(queue, Buffer.from('x'));
    expect((await measuredWhen(11)).sort()).toEqual([
      'messaging.client.operation.duration rabbitmq publish send (anonymous) 127.0.0.1: 3',
      'messaging.client.operation.duration rabbitmq publish send orders 127.0.0.1: 8',
      'messaging.process.duration rabbitmq process process (anonymous) 127.0.0.1: 3',
      'messaging.process.duration rabbitmq process process orders 127.0.0.1: 6',
      'messaging.process.duration rabbitmq process process orders nack 127.0.0.1: 2',
    ]);
  });
});

describe.skipIf(!hasRedis)('bullmq', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  test.each(SAMPLERS)('%s', async (_, sampler) => {
    configure({ sampler });
    instrumentOnly({ bullmq: { requireParent: true } });
    const { Queue, Worker } = library('bullmq');
    const connection = { host: '127.0.0.1', port: server.port };
    const name = `orders-${sampler === always}`;
    const queue = new Queue(name, { connection });
    later(() => queue.close());
    for (let i = 0; i < 6; i++) await queue.add('pay', { i });
    await queue.addBulk([{ name: 'pay', data: { i: 6 } }]);
    const worker = new Worker(name, async ({ data }: Untyped) => (data.i % 3 === 0 ? boom() : data.i), { connection });
    later(() => worker.close());
    worker.on('error', () => {});
    expect(await measuredWhen(7)).toEqual([
      `messaging.client.operation.duration bullmq add send ${name} 127.0.0.1: 6`,
      `messaging.client.operation.duration bullmq addBulk send ${name} 127.0.0.1: 1`,
      `messaging.process.duration bullmq process process ${name} E_BOOM 127.0.0.1: 3`,
      `messaging.process.duration bullmq process process ${name} 127.0.0.1: 4`,
    ]);
  });
});

describe.skipIf(!hasKafka)('kafkajs', () => {
  let server: Kafka;
  beforeAll(async () => {
    process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1';
    server = await startKafka();
  }, 60_000);
  afterAll(() => server?.stop());

  test.each(SAMPLERS)('%s', async (_, sampler) => {
    configure({ sampler });
    instrumentOnly({ kafkajs: true });
    const { Kafka, logLevel } = library('kafkajs');
    const client = new Kafka({ clientId: 'test', brokers: [server.broker], logLevel: logLevel.NOTHING });
    const topic = `orders-${sampler === always}`;
    const admin = client.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
    await admin.disconnect();
    const producer = client.producer();
    await producer.connect();
    later(() => producer.disconnect());
    const consumer = client.consumer({ groupId: `group of ${topic}`, maxWaitTimeInMs: 50 });
    await consumer.connect();
    later(() => consumer.disconnect());
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ eachMessage: async () => {} });
    for (let i = 0; i < 5; i++) await producer.send({ topic, messages: [{ value: 'x' }] });
    // One that is not connected.
    await expect(client.producer().send({ topic, messages: [{ value: 'x' }] })).rejects.toThrow();
    const [sent, failed, processed, ...more] = await measuredWhen(5);
    expect(more).toEqual([]);
    expect(sent).toBe(`messaging.client.operation.duration kafka send send ${topic}: 5`);
    expect(failed).toMatch(new RegExp(`^messaging.client.operation.duration kafka send send ${topic} \\w+: 1$`));
    expect(processed).toBe(`messaging.process.duration kafka process process ${topic} group of ${topic}: 5`);
  });
});
