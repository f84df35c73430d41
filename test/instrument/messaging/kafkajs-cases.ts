// What is asked of every version of kafkajs, against a server of Kafka's protocol.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, type SpanRecord } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { library } from '../libraries.js';
import { ALL_OFF, instrumentOnly, later, recorded, when } from '../support.js';
import { hasKafka, type Kafka, startKafka } from './kafka.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';
const CALLERS = 16;

const inRoot = <T>(work: () => T, name = 'request'): T => Span.root(name).runToEnd(work);

const named = (spans: readonly SpanRecord[], name: string): SpanRecord[] => spans.filter((span) => span.name === name);

const placeOf = ({ traceId, spanId }: { traceId: string; spanId: string }): string => `${traceId} ${spanId}`;

export const describeKafkajs = (name: string): void => {
  describe.skipIf(!hasKafka)(name, () => {
    let server: Kafka;
    let client: Untyped;
    let producer: Untyped;
    let topics = 0;
    const { Kafka: Client, logLevel } = library(name) as Untyped;
    const on = (options: object = {}): void => instrumentOnly({ kafkajs: { module: library(name), ...options } });

    beforeAll(async () => {
      process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1';
      server = await startKafka();
      client = new Client({ clientId: 'test', brokers: [server.broker], logLevel: logLevel.NOTHING });
    }, 60_000);
    afterAll(async () => {
      await server?.stop();
    });

    const topicOf = async (): Promise<string> => {
      const topic = `orders-${++topics}`;
      const admin = client.admin();
      await admin.connect();
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
      await admin.disconnect();
      return topic;
    };

    const connected = async (options?: object): Promise<Untyped> => {
      producer = client.producer(options);
      await producer.connect();
      later(() => producer.disconnect());
      return producer;
    };

    const consume = async (topic: string, handlers: object): Promise<void> => {
      const consumer = client.consumer({ groupId: `group-of-${topic}`, maxWaitTimeInMs: 50 });
      await consumer.connect();
      later(() => consumer.disconnect());
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run(handlers);
    };

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
      const topic = await topicOf();
      const sender = await connected();
      let seen: Untyped;
      await consume(topic, {
        eachMessage: async ({ message }: Untyped) => {
          seen = message;
          await new Promise((resolve) => setImmediate(resolve));
          expect(Span.current()?.name).toBe(`process ${topic}`);
          Span.startWithLocalParent('work').end();
        },
      });
      const messages = [{ key: SECRET, value: SECRET, headers: { 'x-secret': SECRET } }];
      const result = await inRoot(() => sender.send({ topic, messages }));
      expect(result).toMatchObject([{ topicName: topic, errorCode: 0 }]);
      expect(messages).toEqual([{ key: SECRET, value: SECRET, headers: { 'x-secret': SECRET } }]);
      const spans = await recordedWhen((all) => named(all, `process ${topic}`).length === 1);
      const [root] = named(spans, 'request');
      const [sent] = named(spans, `send ${topic}`);
      const [processed] = named(spans, `process ${topic}`);
      expect(sent).toMatchObject({ kind: 'producer', parentSpanId: root.spanId, status: { code: 'unset' } });
      expect(sent.properties).toEqual({
        'messaging.system': 'kafka',
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': topic,
      });
      expect(processed).toMatchObject({ kind: 'consumer', status: { code: 'unset' } });
      expect(processed.traceId).not.toBe(sent.traceId);
      expect(processed.links.map(placeOf)).toEqual([placeOf(sent)]);
      expect(processed.properties).toEqual({
        'messaging.system': 'kafka',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': topic,
        'messaging.destination.partition.id': '0',
        'messaging.consumer.group.name': `group-of-${topic}`,
        'messaging.kafka.offset': 0,
      });
      expect(named(spans, 'work')[0].parentSpanId).toBe(processed.spanId);
      const headers = Object.fromEntries(Object.entries(seen.headers).map(([key, value]) => [key, String(value)]));
      expect(headers).toEqual({
        'x-secret': SECRET,
        traceparent: expect.stringContaining(`00-${sent.traceId}-${sent.spanId}-0`),
      });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('batches, sent and processed', async () => {
      on();
      const [one, two] = [await topicOf(), await topicOf()];
      const sender = await connected();
      const message = { value: 'a' };
      await inRoot(() =>
        sender.sendBatch({
          topicMessages: [
            { topic: one, messages: [message, message] },
            { topic: two, messages: [message] },
          ],
        }),
      );
      await inRoot(() => sender.send({ topic: one, messages: [message] }));
      await consume(one, {
        eachBatch: async ({ batch }: Untyped) => {
          expect(Span.current()?.name).toBe(`process ${batch.topic}`);
        },
      });
      const spans = await recordedWhen(
        (all) =>
          named(all, `process ${one}`).reduce(
            (sum, { properties }) => sum + Number(properties['messaging.batch.message_count']),
            0,
          ) === 3,
      );
      const sent = named(spans, `send ${one}`);
      expect(sent.map(({ properties }) => properties['messaging.batch.message_count'])).toEqual([2, undefined]);
      expect(named(spans, `send ${two}`)).toHaveLength(1);
      const links = named(spans, `process ${one}`).flatMap((span) => span.links.map(placeOf));
      expect(links).toEqual([placeOf(sent[0]), placeOf(sent[0]), placeOf(sent[1])]);
      expect(message).toEqual({ value: 'a' });
    });

    test('transactions', async () => {
      on();
      const topic = await topicOf();
      const sender = await connected({ transactionalId: `tx-${topic}`, idempotent: true, maxInFlightRequests: 1 });
      await inRoot(async () => {
        const transaction = await sender.transaction();
        await transaction.send({ topic, messages: [{ value: 'a' }] });
        await transaction.sendBatch({ topicMessages: [{ topic, messages: [{ value: 'b' }] }] });
        await transaction.commit();
        expect(Span.current()?.name).toBe('request');
      });
      const [root, ...sent] = await recorded();
      expect(sent.map((span) => [span.name, span.parentSpanId === root.spanId])).toEqual([
        [`send ${topic}`, true],
        [`send ${topic}`, true],
      ]);
    });

    test('what fails is thrown as ever, and has a type and no message', async () => {
      on();
      const topic = await topicOf();
      const sender = await connected();
      await inRoot(() => expect(sender.send({ topic, messages: [{ key: SECRET }] })).rejects.toThrow(SECRET));
      await expect(sender.send({ topic: '', messages: [] })).rejects.toThrow('Invalid topic');
      await expect(sender.send()).rejects.toThrow(TypeError);
      await expect(sender.send({ topic, messages: SECRET })).rejects.toThrow();
      let tries = 0;
      await consume(topic, {
        eachMessage: async () => {
          if (++tries === 1) throw Object.assign(new Error(SECRET), { code: 'ENOENT' });
        },
      });
      await sender.send({ topic, messages: [{ value: 'a' }] });
      const spans = await recordedWhen((all) => named(all, `process ${topic}`).length === 2);
      expect(named(spans, `process ${topic}`).map(({ status }) => status.message ?? '')).toEqual(['ENOENT', '']);
      expect(named(spans, `send ${topic}`)[0].status).toEqual({ code: 'error', message: 'KafkaJSNonRetriableError' });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    }, 30_000);

    const unreadable = {
      get topic(): never {
        throw new Error('not to be looked at');
      },
    };
    test.each([
      ['nothing', null],
      ['what cannot be read', unreadable],
    ])('what kafkajs refuses ends its spans: %s', async (_, refused) => {
      on();
      const topic = await topicOf();
      await connected();
      const topicMessages = [{ topic, messages: [{ value: 'one' }] }, refused];
      await expect(producer.sendBatch({ topicMessages })).rejects.toThrow();
      expect(named(await recorded(), `send ${topic}`)).toMatchObject([{ status: { code: 'error' } }]);
    });

    test('what a program sends may be of its own classes', async () => {
      on();
      const topic = await topicOf();
      const sender = await connected();
      class Order {
        readonly #kept = 'partition 0';
        readonly value: string;
        constructor(value: string) {
          this.value = value;
        }
        get partition(): number {
          return Number(this.#kept.slice(-1));
        }
      }
      class Orders {
        readonly #topic = topic;
        get topic(): string {
          return this.#topic;
        }
        get messages(): readonly Order[] {
          return [new Order('a'), new Order('b')];
        }
      }
      const seen: string[] = [];
      await consume(topic, {
        eachMessage: async ({ message }: Untyped) =>
          void seen.push(`${String(message.value)} ${Object.keys(message.headers).join()}`),
      });
      await sender.send(new Orders());
      await sender.sendBatch({ topicMessages: [new Orders()] });
      await when(() => seen.length === 4);
      expect(seen).toEqual(['a', 'b', 'a', 'b'].map((value) => `${value} traceparent`));
    }, 30_000);

    test('many at once: none has the ids of another', async () => {
      on();
      const topic = await topicOf();
      const sender = await connected();
      const seen = new Map<number, string>();
      await consume(topic, {
        partitionsConsumedConcurrently: 4,
        eachMessage: async ({ message }: Untyped) => {
          const own = Span.current();
          await new Promise((resolve) => setTimeout(resolve, 1));
          expect(Span.current()).toBe(own);
          seen.set(Number(String(message.value)), String(message.headers.traceparent).split('-')[1]);
        },
      });
      const traces = await Promise.all(
        Array.from({ length: CALLERS }, (_, i) =>
          inRoot(async () => {
            await sender.send({ topic, messages: [{ value: String(i) }] });
            return Span.current()?.context?.traceId;
          }, `caller ${i}`),
        ),
      );
      const spans = await recordedWhen((all) => named(all, `process ${topic}`).length === CALLERS);
      expect(traces.map((_, i) => seen.get(i))).toEqual(traces);
      const processed = named(spans, `process ${topic}`);
      expect(new Set(processed.map(({ traceId }) => traceId)).size).toBe(CALLERS);
      expect(new Set(processed.map(({ links: [link] }) => link.traceId))).toEqual(new Set(traces));
      for (const root of spans.filter((span) => span.name.startsWith('caller'))) {
        const own = spans.filter((span) => span.traceId === root.traceId);
        expect(own.map((span) => span.name).sort()).toEqual([root.name, `send ${topic}`]);
      }
    });

    test('off: what was made while it was on sends and runs as it did', async () => {
      const { disable } = instrument({ ...ALL_OFF, kafkajs: { module: library(name) } });
      const topic = await topicOf();
      const sender = await connected();
      let got: Untyped;
      await consume(topic, {
        eachMessage: async ({ message }: Untyped) => {
          got = message;
        },
      });
      disable();
      await inRoot(() => sender.send({ topic, messages: [{ value: 'a' }] }));
      await when(() => got !== undefined);
      expect(got.headers).toEqual({});
      expect((await recorded()).map((span) => span.name)).toEqual(['request']);
    });

    test('what is made while it is on is traced by whatever is on later, and not when it is off', async () => {
      on();
      const topic = await topicOf();
      const sender = await connected();
      const shape = [sender.send.name, sender.send.length, sender.sendBatch.length];
      expect(shape).toEqual(['send', 1, 1]);
      const ignored = new Set<string>();
      on({ ignore: ({ operation }: { operation: string }) => ignored.add(operation).has(operation) });
      let got: Untyped;
      await consume(topic, {
        eachMessage: async ({ message }: Untyped) => {
          got = message;
          inRoot(() => {}, 'inside');
        },
      });
      await inRoot(() => sender.send({ topic, messages: [{ value: 'a' }] }));
      await when(() => got !== undefined);
      expect(got.headers).toEqual({});
      expect([...ignored]).toEqual(['send', 'process']);
      expect(named(await recorded(), `send ${topic}`)).toEqual([]);
    });
  });
};
