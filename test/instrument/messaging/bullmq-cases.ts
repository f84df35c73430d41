// What is asked of every version of bullmq, against a real redis.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, type SpanRecord } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { hasRedis, type RedisServer, startRedis } from '../db/redis-server.js';
import { library } from '../libraries.js';
import { ALL_OFF, instrumentOnly, later, recorded } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';
const CALLERS = 16;

const inRoot = <T>(work: () => T, name = 'request'): T => Span.root(name).runToEnd(work);

const placeOf = ({ traceId, spanId }: { traceId: string; spanId: string }): string => `${traceId} ${spanId}`;

export const describeBullmq = (name: string): void => {
  describe.skipIf(!hasRedis)(name, () => {
    let server: RedisServer;
    let queues = 0;
    const { Queue, Worker, FlowProducer, DelayedError } = library(name) as Untyped;
    const on = (options: object = {}): void => instrumentOnly({ bullmq: { module: library(name), ...options } });
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server?.stop());

    const connection = () => ({ host: '127.0.0.1', port: server.port });
    const queueOf = (options: object = {}): Untyped => {
      const queue = new Queue(`orders-${++queues}`, { connection: connection(), ...options });
      later(() => queue.close());
      return queue;
    };
    /** Resolves when `count` jobs are done with, in any way. */
    const processed = async (queue: Untyped, count: number, processor: Untyped, options = {}): Promise<void> => {
      const worker = new Worker(queue.name, processor, { connection: connection(), ...options });
      later(() => worker.close());
      let done = 0;
      await new Promise<void>((resolve) => {
        const one = (): void => void (++done === count && resolve());
        worker.on('completed', one).on('failed', one);
      });
    };
    const of = (spans: readonly SpanRecord[], kind: string): SpanRecord[] => spans.filter((span) => span.kind === kind);

    test('a job is added, and processed in a trace of its own with a link', async () => {
      on();
      const queue = queueOf();
      const job = await inRoot(() => queue.add('pay', { card: SECRET }));
      const seen: Untyped[] = [];
      await processed(queue, 1, async ({ id, data }: Untyped) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(id, data, Span.current()?.name);
        Span.startWithLocalParent('work').end();
        return SECRET;
      });
      expect(seen).toEqual([job.id, { card: SECRET }, `process ${queue.name}`]);
      const spans = await recorded();
      const root = spans.find((span) => span.name === 'request');
      const [[sent], [work]] = [of(spans, 'producer'), of(spans, 'consumer')];
      const common = {
        'messaging.system': 'bullmq',
        'messaging.destination.name': queue.name,
        'messaging.message.id': job.id,
        'server.address': '127.0.0.1',
        'server.port': server.port,
      };
      expect(sent).toMatchObject({ name: `add ${queue.name}`, parentSpanId: root?.spanId, status: { code: 'unset' } });
      expect(sent.properties).toEqual({
        ...common,
        'messaging.operation.name': 'add',
        'messaging.operation.type': 'send',
      });
      expect(work).toMatchObject({ name: `process ${queue.name}`, status: { code: 'unset' } });
      expect(work.parentSpanId).toBe('');
      expect(work.properties).toEqual({
        ...common,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.bullmq.job.name': 'pay',
      });
      expect(work.links.map(placeOf)).toEqual([placeOf(sent)]);
      expect(spans.find((span) => span.name === 'work')?.parentSpanId).toBe(work.spanId);
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('a port may be a text, as environment variables are', async () => {
      on();
      await queueOf({ connection: { ...connection(), port: String(server.port) } }).add('pay', {});
      const [{ properties }] = of(await recorded(), 'producer');
      expect(properties).toMatchObject({ 'server.address': '127.0.0.1', 'server.port': server.port });
    });

    test('what it asks for to start and to close is not a trace', async () => {
      const { QueueEvents } = library(name) as Untyped;
      instrumentOnly({ bullmq: { module: library(name) }, ioredis: true });
      const queue = queueOf();
      const events = new QueueEvents(queue.name, { connection: connection() });
      const producer = new FlowProducer({ connection: connection() });
      const worker = new Worker(queue.name, async () => {}, { connection: connection() });
      for (const one of [queue, events, worker]) await one.waitUntilReady();
      const client = await queue.client;
      // It comes back behind what the queue has sent.
      expect(await client.hexists(queue.keys.meta, 'opts.maxLenEvents')).toBe(1);
      for (const one of [worker, producer, events, queue]) await one.close();
      expect((await recorded()).map((span) => span.name)).toEqual(['HEXISTS']);
    });

    test('many jobs at once, and what the program hands over stays as it is', async () => {
      on();
      const queue = queueOf();
      const jobs = [
        { name: 'a', data: {}, opts: { priority: 1 } },
        { name: 'b', data: {} },
      ];
      const options = { attempts: 2 };
      await inRoot(async () => {
        expect((await queue.addBulk(jobs)).map((job: Untyped) => [job.name, job.opts.priority])).toEqual([
          ['a', 1],
          ['b', undefined],
        ]);
        await queue.add('c', {}, options);
      });
      expect(jobs).toEqual([
        { name: 'a', data: {}, opts: { priority: 1 } },
        { name: 'b', data: {} },
      ]);
      expect(options).toEqual({ attempts: 2 });
      await processed(queue, 3, async () => {});
      const spans = await recorded();
      const sent = of(spans, 'producer');
      expect(sent.map((span) => [span.name, span.properties['messaging.batch.message_count']])).toEqual([
        [`addBulk ${queue.name}`, 2],
        [`add ${queue.name}`, undefined],
      ]);
      const links = of(spans, 'consumer').flatMap((span) => span.links.map(placeOf));
      expect(links.sort()).toEqual([placeOf(sent[0]), placeOf(sent[0]), placeOf(sent[1])].sort());
    });

    test('what is added may be of a class of the program', async () => {
      on();
      const queue = queueOf();
      const producer = new FlowProducer({ connection: connection() });
      later(() => producer.close());
      class Mail {
        readonly #to = 'a';
        readonly queueName = queue.name;
        get name(): string {
          return `mail to ${this.#to}`;
        }
        get data(): object {
          return { to: this.#to };
        }
      }
      await queue.addBulk([new Mail()]);
      await producer.add({ name: 'all', queueName: queue.name, children: [new Mail()] });
      await producer.addBulk([new Mail()]);
      const seen: string[] = [];
      await processed(queue, 4, async ({ name, data }: Untyped) => void seen.push(`${name} ${data.to}`));
      expect(seen.sort()).toEqual(['all undefined', ...Array.from({ length: 3 }, () => 'mail to a a')]);
      const spans = await recorded();
      expect(of(spans, 'producer').map(({ status }) => status.code)).toEqual(['unset', 'unset', 'unset']);
      expect(of(spans, 'consumer').flatMap(({ links }) => links)).toHaveLength(4);
    });

    test('what bullmq refuses ends its span', async () => {
      on();
      const queue = queueOf();
      await queue.waitUntilReady();
      // Version 4 throws at once.
      const adding = async () => queue.addBulk([{ name: 'pay', data: {} }, null]);
      await expect(adding()).rejects.toThrow();
      expect(of(await recorded(), 'producer')).toMatchObject([{ status: { code: 'error' } }]);
    });

    test('a flow is one span, to which its jobs are linked', async () => {
      on();
      const [outer, inner] = [queueOf(), queueOf()];
      const producer = new FlowProducer({ connection: connection() });
      later(() => producer.close());
      const flow = { name: 'all', queueName: outer.name, children: [{ name: 'one', queueName: inner.name }] };
      await inRoot(() => producer.add(flow));
      await inRoot(() => producer.addBulk([flow]));
      expect(flow.children).toEqual([{ name: 'one', queueName: inner.name }]);
      await Promise.all([processed(outer, 2, async () => {}), processed(inner, 2, async () => {})]);
      const spans = await recorded();
      const sent = of(spans, 'producer');
      expect(sent.map((span) => span.name)).toEqual([`add ${outer.name}`, `addBulk ${outer.name}`]);
      const links = of(spans, 'consumer').map((span) => `${span.name}: ${span.links.map(placeOf)}`);
      expect(links.sort()).toEqual(
        [inner, outer].flatMap((queue) => sent.map((one) => `process ${queue.name}: ${placeOf(one)}`)).sort(),
      );
    });

    test('a job that fails is an error, each time that it is tried; one that is put off is none', async () => {
      on();
      const queue = queueOf();
      await queue.add('broken', {}, { attempts: 2 });
      await queue.add('late', {});
      const tries: Record<string, number> = { broken: 0, late: 0 };
      await processed(queue, 3, async (job: Untyped, token: string) => {
        tries[job.name]++;
        if (job.name === 'broken') throw new RangeError(SECRET);
        if (tries.late > 1) return;
        await job.moveToDelayed(Date.now() + 1, token);
        throw new DelayedError();
      });
      expect(tries).toEqual({ broken: 2, late: 2 });
      const spans = await recorded();
      const work = of(spans, 'consumer').map(({ properties, status }) => [
        properties['messaging.bullmq.job.name'],
        status.message ?? '',
      ]);
      expect(work.sort()).toEqual([
        ['broken', 'RangeError'],
        ['broken', 'RangeError'],
        ['late', ''],
        ['late', ''],
      ]);
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('what a worker asks for while jobs fail is no trace, nor a part of the one in which it was made', async () => {
      instrumentOnly({ bullmq: { module: library(name) }, ioredis: true });
      const queue = queueOf();
      await queue.add('at once', {}, { attempts: 2 });
      await queue.add('later', {}, { attempts: 2, backoff: { type: 'fixed', delay: 1 } });
      const broken = async (): Promise<void> => {
        throw new RangeError();
      };
      const heard = await inRoot(async () => {
        const worker = new Worker(queue.name, broken, { connection: connection(), drainDelay: 0.01 });
        later(() => worker.close());
        const seen: unknown[] = [];
        return new Promise<unknown[]>((resolve) => {
          worker.on('failed', () => {
            // What it calls is not untraced either.
            seen.push(Span.current()?.name, Span.startWithLocalParent('none').isRecording);
            Span.root('listener').end();
            if (seen.length === 8) resolve(seen);
          });
        });
      }, 'maker');
      expect(heard).toEqual(Array.from({ length: 4 }, () => [undefined, false]).flat());
      const spans = await recorded();
      const maker = spans.find((span) => span.name === 'maker');
      // It connects there.
      const CONNECTING = ['CLIENT', 'INFO'];
      const below = spans.filter(({ parentSpanId }) => parentSpanId === maker?.spanId).map((span) => span.name);
      expect(below.filter((one) => !CONNECTING.includes(one))).toEqual([]);
      const roots = spans.filter(({ parentSpanId }) => parentSpanId === '').map((span) => span.name.split(' ')[0]);
      const four = (one: string): string[] => Array.from({ length: 4 }, () => one);
      expect(roots.sort()).toEqual(['add', 'add', ...four('listener'), 'maker', ...four('process')]);
    });

    test('a worker that runs when nothing is traced any more works in no untraced context', async () => {
      const { disable } = instrument({ ...ALL_OFF, bullmq: { module: library(name) } });
      later(disable);
      const queue = queueOf();
      await queue.add('first', {});
      const seen: unknown[] = [];
      const work = async ({ name: own }: Untyped): Promise<void> => {
        if (own === 'second') seen.push(Span.current());
      };
      const done = processed(queue, 2, work);
      await queue.waitUntilReady();
      disable();
      await queue.add('second', {});
      await done;
      expect(seen).toEqual([undefined]);
    });

    test('sixteen at once, each linked to its own', async () => {
      on();
      const queue = queueOf();
      const all = Array.from({ length: CALLERS }, (_, i) => `request ${i}`);
      await Promise.all(all.map((one) => inRoot(() => queue.add(one, {}), one)));
      await processed(
        queue,
        CALLERS,
        async ({ name: own }: Untyped) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          Span.startWithLocalParent(`work of ${own}`).end();
        },
        { concurrency: CALLERS },
      );
      const spans = await recorded();
      const byPlace = new Map(spans.map((span) => [placeOf(span), span]));
      const reported = of(spans, 'consumer').map((span) => {
        const [sender] = span.links.map((link) => byPlace.get(placeOf(link)));
        const root = spans.find(({ spanId }) => spanId === sender?.parentSpanId);
        const inside = spans.find(({ parentSpanId }) => parentSpanId === span.spanId);
        return [inside?.name, inside?.traceId === span.traceId, root?.name];
      });
      expect(reported.sort()).toEqual(all.map((one) => [`work of ${one}`, true, one]).sort());
    });

    test('ignored, without a parent, enriched; and nothing where the program says so', async () => {
      const seen: unknown[] = [];
      const queue = queueOf();
      on({
        requireParent: true,
        ignore: ({ operation }: Untyped) => operation === 'process',
        enrich: (span: Untyped, call: unknown, error: unknown) => void seen.push([span.name, call, error]),
      });
      await queue.add('a', {});
      await inRoot(() => queue.add('b', {}));
      const omitting = await inRoot(() => queue.add('c', {}, { telemetry: { omitContext: true } }));
      expect(omitting.opts.telemetry).toEqual({ omitContext: true });
      const current: unknown[] = [];
      await processed(queue, 3, async () => void current.push(Span.current()?.isRecording));
      expect(current).toEqual([false, false, false]);
      const call = { operation: 'add', destination: queue.name };
      expect(seen).toEqual(Array.from({ length: 2 }, () => [`add ${queue.name}`, call, undefined]));
      expect(of(await recorded(), 'producer')).toHaveLength(2);
    });
  });
};
