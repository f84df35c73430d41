// What is asked of every version of amqplib, in both of its interfaces, against a real RabbitMQ.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, type SpanRecord } from '../../../src/index.js';
import { library } from '../libraries.js';
import { contextsOf, instrumentOnly, later, recorded, when } from '../support.js';
import { hasRabbitmq, type Rabbitmq, startRabbitmq } from './rabbitmq.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';
const CALLERS = 16;

const inRoot = <T>(work: () => T, name = 'request'): T => Span.root(name).runToEnd(work);

const named = (spans: readonly SpanRecord[], name: string): SpanRecord[] => spans.filter((span) => span.name === name);

/** One server for all of them: it takes seconds to start. */
export const describeAmqplib = (names: readonly string[]): void => {
  let server: Rabbitmq;
  beforeAll(async () => {
    if (hasRabbitmq) server = await startRabbitmq();
  }, 120_000);
  afterAll(() => server?.stop());

  describe.skipIf(!hasRabbitmq).each(names)('%s', (name) => {
    const folder = join(library.resolve.paths(name)?.[0] ?? '', name);
    const file = (path: string): Untyped => library(join(folder, path));
    const on = (options: object = {}): void =>
      instrumentOnly({ amqplib: { module: file('lib/channel.js'), ...options } });

    let connection: Untyped;
    let queues = 0;
    beforeAll(async () => {
      connection = await file('channel_api.js').connect(server.url);
    });
    afterAll(() => connection?.close());

    const channelWith = async (confirms = false): Promise<{ channel: Untyped; queue: string }> => {
      const channel = await (confirms ? connection.createConfirmChannel() : connection.createChannel());
      later(() => channel.close().catch(() => {}));
      // Closed by the server in some tests.
      channel.on('error', () => {});
      const queue = `orders-${++queues}`;
      await channel.assertQueue(queue, { autoDelete: true });
      return { channel, queue };
    };

    /** All that was recorded, once `isDone` holds of it. */
    const recordedWhen = async (isDone: (spans: readonly SpanRecord[]) => boolean): Promise<readonly SpanRecord[]> => {
      const spans: SpanRecord[] = [];
      while (!isDone(spans)) {
        spans.push(...(await recorded()));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return spans;
    };

    test('a message is sent, and processed in a trace of its own with a link', async () => {
      on();
      const { channel, queue } = await channelWith();
      const headers = { 'x-secret': SECRET };
      let seen: Untyped;
      await channel.consume(queue, async (message: Untyped) => {
        seen = message;
        await new Promise((resolve) => setImmediate(resolve));
        expect(Span.current()?.name).toBe(`process ${queue}`);
        Span.startWithLocalParent('work').end();
        channel.ack(message);
      });
      inRoot(() => channel.sendToQueue(queue, Buffer.from(SECRET), { headers, messageId: 'id-1' }));
      const spans = await recordedWhen((all) => named(all, `process ${queue}`).length === 1);
      const [root] = named(spans, 'request');
      const [sent] = named(spans, `publish ${queue}`);
      const [processed] = named(spans, `process ${queue}`);
      expect(sent).toMatchObject({ kind: 'producer', parentSpanId: root.spanId, status: { code: 'unset' } });
      expect(sent.properties).toEqual({
        'messaging.system': 'rabbitmq',
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
        'messaging.destination.name': queue,
        'messaging.rabbitmq.destination.routing_key': queue,
        'messaging.message.id': 'id-1',
        'messaging.message.body.size': SECRET.length,
        'server.address': '127.0.0.1',
        'server.port': server.port,
      });
      expect(processed).toMatchObject({ kind: 'consumer', status: { code: 'unset' } });
      expect(processed.traceId).not.toBe(sent.traceId);
      expect(processed.links.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([[sent.traceId, sent.spanId]]);
      expect(processed.properties).toMatchObject({
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': queue,
        'messaging.rabbitmq.message.delivery_tag': 1,
      });
      expect(named(spans, 'work')[0].parentSpanId).toBe(processed.spanId);
      expect(seen.properties.headers).toEqual({
        'x-secret': SECRET,
        traceparent: expect.stringContaining(`00-${sent.traceId}-${sent.spanId}-0`),
      });
      expect(headers).toEqual({ 'x-secret': SECRET });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('through an exchange, with a routing key', async () => {
      on();
      const { channel, queue } = await channelWith();
      await channel.assertExchange('shop', 'topic', { autoDelete: true });
      await channel.bindQueue(queue, 'shop', 'order.*');
      await channel.consume(queue, () => {}, { noAck: true });
      inRoot(() => channel.publish('shop', 'order.7', Buffer.from('a')));
      const spans = await recordedWhen((all) => named(all, `process ${queue}`).length === 1);
      expect(named(spans, 'publish shop')[0].properties).toMatchObject({
        'messaging.destination.name': 'shop:order.7',
        'messaging.rabbitmq.destination.routing_key': 'order.7',
      });
      expect(named(spans, `process ${queue}`)[0].properties['messaging.destination.name']).toBe(
        `shop:order.7:${queue}`,
      );
    });

    test('what acknowledges later, gives back or fails', async () => {
      on();
      const { channel, queue } = await channelWith();
      const messages: Untyped[] = [];
      await channel.consume(queue, (message: Untyped) => void messages.push(message));
      for (let i = 0; i < 6; i++) channel.sendToQueue(queue, Buffer.from('a'));
      await when(() => messages.length === 6);
      expect(named(await recorded(), `process ${queue}`)).toEqual([]);
      channel.ack(messages[1], true);
      channel.nack(messages[2], false, false);
      channel.reject(messages[3], false);
      channel.nack(messages[5], true, false);
      const statuses = (await recordedWhen((all) => all.length === 6)).map(({ status }) => status.message ?? '');
      expect(statuses).toEqual(['', '', 'nack', 'reject', 'nack', 'nack']);
      const failing = await channelWith();
      const failed = new Promise((resolve) => process.once('unhandledRejection', resolve));
      await failing.channel.consume(
        failing.queue,
        async () => {
          throw Object.assign(new Error(SECRET), { code: 'ENOENT' });
        },
        { noAck: true },
      );
      failing.channel.sendToQueue(failing.queue, Buffer.from('a'));
      expect(await failed).toMatchObject({ code: 'ENOENT' });
      const spans = await recordedWhen((all) => named(all, `process ${failing.queue}`).length === 1);
      const [process_] = named(spans, `process ${failing.queue}`);
      expect(process_.status).toEqual({ code: 'error', message: 'ENOENT' });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('a channel that closes ends what is not acknowledged', async () => {
      on();
      const { channel, queue } = await channelWith();
      let got = 0;
      await channel.consume(queue, () => void got++);
      channel.sendToQueue(queue, Buffer.from('a'));
      await when(() => got === 1);
      await recorded();
      await channel.close();
      expect((await recorded()).map(({ name: of, status }) => [of, status.message])).toEqual([
        [`process ${queue}`, 'channel_closed'],
      ]);
    });

    test('a channel with confirms: sent is what the broker has', async () => {
      on();
      const { channel, queue } = await channelWith(true);
      await inRoot(
        () =>
          new Promise<void>((resolve) => {
            channel.sendToQueue(queue, Buffer.from('a'), {}, (error: unknown) => {
              expect(error).toBe(null);
              expect(Span.current()?.name).toBe('request');
              resolve();
            });
          }),
      );
      channel.sendToQueue(queue, Buffer.from('a'));
      await channel.waitForConfirms();
      expect(named(await recorded(), `publish ${queue}`)).toHaveLength(2);
      const broken = channel.sendToQueue(queue, Buffer.from('a'), {}, () => {});
      expect(typeof broken).toBe('boolean');
      await channel.checkQueue('no-such-queue').catch(() => {});
      const spans = await recordedWhen((all) => named(all, `publish ${queue}`).length === 1);
      expect(['unset', 'error']).toContain(named(spans, `publish ${queue}`)[0].status.code);
    });

    test('many at once: none has the ids of another', async () => {
      on();
      const { channel, queue } = await channelWith();
      const links = new Map<number, string>();
      await channel.consume(queue, async (message: Untyped) => {
        const own = Span.current();
        await new Promise((resolve) => setTimeout(resolve, 1));
        expect(Span.current()).toBe(own);
        links.set(Number(message.content.toString()), message.properties.headers.traceparent.split('-')[1]);
        channel.ack(message);
      });
      const traces = await Promise.all(
        Array.from({ length: CALLERS }, (_, i) =>
          inRoot(async () => {
            await new Promise((resolve) => setImmediate(resolve));
            channel.sendToQueue(queue, Buffer.from(String(i)));
            return Span.current()?.context?.traceId;
          }, `caller ${i}`),
        ),
      );
      const spans = await recordedWhen((all) => named(all, `process ${queue}`).length === CALLERS);
      expect(traces.map((_, i) => links.get(i))).toEqual(traces);
      const processed = named(spans, `process ${queue}`);
      expect(new Set(processed.map(({ traceId }) => traceId)).size).toBe(CALLERS);
      expect(new Set(processed.map(({ links: [link] }) => link.traceId))).toEqual(new Set(traces));
      for (const root of spans.filter((span) => span.name.startsWith('caller'))) {
        const own = spans.filter((span) => span.traceId === root.traceId);
        expect(own.map((span) => span.name).sort()).toEqual([root.name, `publish ${queue}`]);
      }
    });

    test('what the broker answers is called back in the context of who asked', async () => {
      on();
      const model = await new Promise<Untyped>((resolve, reject) => {
        file('callback_api.js').connect(server.url, (error: unknown, opened: Untyped) =>
          error ? reject(error) : resolve(opened),
        );
      });
      later(() => new Promise((resolve) => model.close(resolve)));
      const channel = await new Promise<Untyped>((resolve) =>
        model.createChannel((_: unknown, it: Untyped) => resolve(it)),
      );
      const contexts = await contextsOf((note, done) => {
        const queue = `asked-${++queues}`;
        channel.assertQueue(queue, { autoDelete: true }, () => {
          note('assertQueue', () => {
            channel.sendToQueue(queue, Buffer.from('a'));
            channel.get(queue, { noAck: true }, () => note('get', done));
          });
        });
      });
      // It is in a file that only the package of this name is seen to load.
      expect(contexts).toEqual(['assertQueue: own', name === 'amqplib' ? 'get: own' : 'get: none']);
    });

    test('what is ignored has no span and no header, and what is off none any more', async () => {
      on({ ignore: ({ destination }: { destination: string }) => destination.startsWith('orders') });
      const { channel, queue } = await channelWith();
      const seen: unknown[] = [];
      await channel.consume(queue, (message: Untyped) => {
        seen.push(message.properties.headers.traceparent);
        inRoot(() => {}, 'inside');
        channel.ack(message);
      });
      inRoot(() => channel.sendToQueue(queue, Buffer.from('a')));
      await when(() => seen.length === 1);
      expect(seen).toEqual([undefined]);
      expect((await recorded()).map((span) => span.name)).toEqual(['request', 'inside']);
    });

    test('shapes stay, and go back', () => {
      const { Channel, BaseChannel } = file('lib/channel.js');
      const methods = ['sendMessage', 'pushConfirmCallback', 'sendOrEnqueue', 'sendImmediately', 'toClosed', '_rpc'];
      const originals = methods.map((method) => Channel.prototype[method]);
      const dispatch = BaseChannel.prototype.dispatchMessage;
      const shapeOf = ({ name: of, length }: Untyped): unknown => [of, length];
      later(() => expect(methods.map((method) => Channel.prototype[method])).toEqual(originals));
      on();
      expect(Channel.prototype.sendMessage).not.toBe(originals[0]);
      expect(methods.map((method) => shapeOf(Channel.prototype[method]))).toEqual(originals.map(shapeOf));
      expect(shapeOf(BaseChannel.prototype.dispatchMessage)).toEqual(shapeOf(dispatch));
    });
  });
};
