// What every version of ioredis is traced as: a span each command, in the trace of who sent it, with the conventions' names and no argument.
import { describe, expect, test } from 'vitest';
import { Span, type SpanRecord } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { contextsOf, instrumentOnly, later, recorded } from '../support.js';
import { hasRedis } from './redis-server.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

/** Messages of failures that nobody looks after, from now to the end of the test. */
export const unhandledReasons = (): readonly string[] => {
  const reasons: string[] = [];
  const heard = (reason: Error): void => void reasons.push(reason.message);
  const others = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', heard);
  later(() => {
    process.removeListener('unhandledRejection', heard);
    for (const other of others) process.on('unhandledRejection', other as () => void);
  });
  return reasons;
};

/** The same of each version; `load` gives what it exports. */
export const describeIoredis = (version: string, load: () => Untyped, port: () => number): unknown =>
  describe.skipIf(!hasRedis)(version, () => {
    const made = (options = {}): Untyped => {
      const ioredis = load();
      const Redis = ioredis.Redis ?? ioredis;
      const client = new Redis({ port: port(), host: '127.0.0.1', ...options });
      later(() => client.disconnect());
      return client;
    };

    /** What `fn` does under a root: that, and what is below. */
    const traceOf = async (fn: () => Promise<unknown>): Promise<readonly SpanRecord[]> => {
      await Span.root('request').runToEnd(fn);
      const spans = await recorded();
      const id = spans.find(({ name }) => name === 'request')?.traceId;
      return spans.filter(({ traceId }) => traceId === id);
    };

    const callersOf = async () => {
      const spans = await recorded();
      const nameOf = (id: string) => spans.find(({ spanId }) => spanId === id)?.name;
      return spans
        .filter(({ name }) => name === 'GET' || name === 'SET')
        .map(({ name, parentSpanId }) => `${nameOf(String(parentSpanId))}: ${name}`)
        .sort();
    };

    test('a command that waited for the connection is of who sent it', async () => {
      instrumentOnly({ ioredis: true });
      const client = made();
      await Promise.all([
        Span.root('first').runToEnd(() => client.set('a', SECRET)),
        Span.root('second').runToEnd(() => client.get('a')),
      ]);
      expect(await callersOf()).toEqual(['first: SET', 'second: GET']);
    });

    test('and one that was sent with those of others', async () => {
      instrumentOnly({ ioredis: true });
      const client = made({ enableAutoPipelining: true });
      await client.ping();
      await recorded();
      await Promise.all([
        Span.root('first').runToEnd(() => client.set('a', SECRET)),
        Span.root('second').runToEnd(() => client.get('a')),
      ]);
      const spans = await callersOf();
      expect(spans).toEqual(['first: SET', 'second: GET']);
    });

    test('what it sends to connect, to connect again and to close is not a trace, and below what connects it is there', async () => {
      const admin = made();
      await admin.config('SET', 'requirepass', SECRET);
      later(() => admin.config('SET', 'requirepass', ''));
      const connects = async (): Promise<void> => {
        const client = made({ password: SECRET, db: 2, connectionName: 'own', readOnly: true });
        await client.subscribe('news');
        const isReady = new Promise((resolve) => client.once('ready', resolve));
        client.disconnect(true);
        await isReady;
        await client.unsubscribe('news');
        await client.get('a');
        await client.quit();
      };
      const names = async () => (await recorded()).map(({ name }) => name);
      instrumentOnly({ ioredis: true });
      await connects();
      expect(await names()).toEqual(['UNSUBSCRIBE', 'GET']);
      await Span.root('request').runToEnd(connects);
      expect(await names()).toEqual(
        expect.arrayContaining(['AUTH', 'SELECT', 'CLIENT', 'INFO', 'READONLY', 'SUBSCRIBE', 'QUIT']),
      );
      instrumentOnly({ ioredis: { requireParent: false } });
      await connects();
      expect(await names()).toEqual(expect.arrayContaining(['AUTH', 'INFO', 'QUIT']));
    });

    test('a transaction in which the server refuses a command has failed', async () => {
      instrumentOnly({ ioredis: true });
      const client = made();
      await client.set('text', 'text');
      await recorded();
      await client.multi().set('a', '1').incr('text').exec();
      const batch = (await recorded()).filter(({ properties }) => properties['db.operation.batch.size'] === 2);
      expect(batch).toMatchObject([{ status: { code: 'error' }, properties: { 'db.response.status_code': 'ERR' } }]);
    });

    test.each([
      ['that can connect nowhere', { port: 1, maxRetriesPerRequest: 0, retryStrategy: () => null }, 'is closed'],
      ['that was closed', {}, 'is closed'],
      ['that is not connected and lets nothing wait', { lazyConnect: true, enableOfflineQueue: false }, 'writeable'],
    ])('a command of a client %s has failed, once', async (what, options, message) => {
      instrumentOnly({ ioredis: true });
      const client = made(options);
      client.on('error', () => {});
      if (what === 'that was closed') {
        await client.ping();
        const ended = new Promise((resolve) => client.once('end', resolve));
        await client.quit();
        await ended;
      }
      await recorded();
      await expect(Span.root('request').runToEnd(() => client.get('a'))).rejects.toThrow(message);
      const [root, ...spans] = await recorded();
      expect(spans).toMatchObject([{ name: 'GET', parentSpanId: root.spanId, status: { code: 'error' } }]);
    });

    test('one that waits, and that nobody looks after, fails as ever', async () => {
      instrumentOnly({ ioredis: true });
      const client = made({ port: 1, maxRetriesPerRequest: 0, retryStrategy: () => null });
      const closed = new Promise((resolve) => client.on('error', () => {}).on('end', resolve));
      const reasons = unhandledReasons();
      client.set('a', SECRET);
      client.get('a').catch(() => {});
      await closed;
      await new Promise((resolve) => setImmediate(resolve));
      expect(reasons).toEqual(['Connection is closed.']);
    });

    test('what is not a command is refused as ever', async () => {
      const client = made();
      await client.ping();
      const said = (): unknown[] =>
        [undefined, null, 'GET', {}].map((command) => {
          try {
            return client.sendCommand(command);
          } catch (error) {
            return String(error);
          }
        });
      const before = said();
      instrumentOnly({ ioredis: true });
      expect(said()).toEqual(before);
    });

    test('without its arguments', async () => {
      instrumentOnly({ ioredis: true });
      const client = made();
      await client.ping();
      await recorded();
      await Span.root('request').runToEnd(() => client.set('key', SECRET, 'EX', 9));
      const spans = await recorded();
      expect(JSON.stringify(spans)).not.toContain(SECRET);
      expect(spans.find(({ name }) => name === 'SET')?.properties).toMatchObject({
        'db.query.text': 'SET ? ? ? ?',
        'server.port': port(),
      });
    });

    test('a command has the properties of the conventions, and its failure the code of the server', async () => {
      instrumentOnly({ ioredis: true });
      const client = made({ db: 3 });
      const [root, set, push] = await traceOf(async () => {
        await client.set('key', SECRET);
        await client.lpush('key', SECRET).catch(() => {});
      });
      expect(set).toMatchObject({ name: 'SET', kind: 'client', parentSpanId: root.spanId, status: { code: 'unset' } });
      expect(set.properties).toEqual({
        'db.system.name': 'redis',
        'db.namespace': '3',
        'db.operation.name': 'SET',
        'db.query.text': 'SET ? ?',
        'db.query.summary': 'SET',
        'server.address': '127.0.0.1',
        'server.port': port(),
      });
      expect(push).toMatchObject({
        name: 'LPUSH',
        status: { code: 'error', message: 'WRONGTYPE' },
        properties: { 'error.type': 'WRONGTYPE', 'db.response.status_code': 'WRONGTYPE' },
      });
    });

    test('commands that are sent together, and as a transaction', async () => {
      instrumentOnly({ ioredis: true });
      const client = made();
      const answers: unknown[] = [];
      const [root, ...spans] = await traceOf(async () => {
        answers.push(await client.pipeline().set('a', '1').get('a').exec());
        answers.push(await client.multi().set('a', '2').get('a').exec());
        answers.push(await client.multi([['get', 'a']]).exec());
      });
      expect(answers).toEqual([
        [
          [null, 'OK'],
          [null, '1'],
        ],
        [
          [null, 'OK'],
          [null, '2'],
        ],
        [[null, '2']],
      ]);
      const sizeOf = (span: SpanRecord) =>
        span.properties['db.operation.batch.size'] ?? (isBatch(span) ? 1 : undefined);
      const isBatch = ({ properties }: SpanRecord) => properties['db.query.text'] === undefined;
      expect(spans.filter(isBatch).map((span) => [span.name, sizeOf(span), span.parentSpanId])).toEqual([
        ['MULTI', 2, root.spanId],
        ['MULTI', 1, root.spanId],
      ]);
      expect(
        spans
          .filter((span) => !isBatch(span))
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['EXEC', 'EXEC', 'GET', 'GET', 'GET', 'MULTI', 'MULTI', 'SET', 'SET']);
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
    });

    test('calls back, and goes on, in the context of the caller', async () => {
      instrumentOnly({ ioredis: true });
      const client = made();
      const contexts = await contextsOf((note, done) => {
        client.set('a', '1', () => {
          note('callback of a command');
          client
            .multi()
            .get('a')
            .exec(() => {
              note('callback of a transaction');
              client.get('a').then(() => {
                note('promise of a command');
                client
                  .pipeline()
                  .get('a', () => note('callback in a pipeline'))
                  .exec(() => {
                    note('callback of a pipeline');
                    done();
                  });
              });
            });
        });
      });
      expect(contexts).toEqual([
        'callback in a pipeline: own',
        'callback of a command: own',
        'callback of a pipeline: own',
        'callback of a transaction: own',
        'promise of a command: own',
      ]);
    });

    test('sixteen at once, each in its own trace', async () => {
      instrumentOnly({ ioredis: true });
      const client = made({ enableAutoPipelining: true });
      await client.ping();
      await recorded();
      await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          Span.root(`request ${n}`).runToEnd(async () => {
            await client.set(`key ${n}`, n);
            await client.multi().get(`key ${n}`).incr(`key ${n}`).exec();
            expect(await client.get(`key ${n}`)).toBe(String(n + 1));
          }),
        ),
      );
      const spans = await recorded();
      const ids = [...new Set(spans.map(({ traceId }) => traceId))];
      expect(ids).toHaveLength(16);
      for (const id of ids) {
        const [root, ...trace] = spans.filter(({ traceId }) => traceId === id);
        expect(root.kind).toBe('internal');
        expect(trace.map(({ name }) => name).sort()).toEqual(['EXEC', 'GET', 'GET', 'INCR', 'MULTI', 'MULTI', 'SET']);
        expect(trace.every(({ parentSpanId }) => parentSpanId === root.spanId)).toBe(true);
      }
    });

    test('ignore, enrich and requireParent; and nothing once it is off', async () => {
      const seen: unknown[] = [];
      const client = made();
      await client.ping();
      const { sendCommand, multi } = Object.getPrototypeOf(client);
      const on = instrument({
        http: false,
        ioredis: {
          requireParent: true,
          ignore: ({ text }) => text.startsWith('GET'),
          enrich: (span, call, error) => seen.push([span.name, call.text, error]),
        },
      });
      later(on.disable);
      await client.ping();
      await Span.root('request').runToEnd(async () => {
        await client.get('a');
        await client.del('nothing');
      });
      expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'DEL']);
      expect(seen).toEqual([['DEL', 'DEL ?', undefined]]);
      on.disable();
      await Span.root('request').runToEnd(() => client.ping());
      expect(await recorded()).toHaveLength(1);
      expect(Object.getPrototypeOf(client)).toMatchObject({ sendCommand, multi });
      expect(Object.getPrototypeOf(client).sendCommand).toBe(sendCommand);
    });
  });
