// Commands of redis by both clients, against a real server: named by command alone, in the trace of who asked. Older versions are in
// ioredis-calls.full.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { installedAs } from '../installed-as.js';
import { library } from '../libraries.js';
import { askedBySixteen, contextsOf, eachItsOwn, instrumentOnly, type Job, later, recorded } from '../support.js';
import { describeIoredis } from './ioredis-cases.js';
import { hasRedis, type RedisServer, startRedis } from './redis-server.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

let port = 0;
let server: RedisServer | undefined;

beforeAll(async () => {
  if (!hasRedis) return;
  // It looks for what has waited long enough that often a second.
  server = await startRedis(['--hz', '500']);
  ({ port } = server);
});
afterAll(() => server?.stop());

const SECRET = 'hunter2';

const shown = async () =>
  (await recorded())
    .filter(({ kind }) => kind === 'client')
    .map(({ name, properties }) => [name, properties['db.query.text']]);

const ioredis510 = installedAs('ioredis', 'ioredis-5-10');

describe.skipIf(!hasRedis).each([
  ['redis', library],
  ['ioredis', library],
  ['ioredis', ioredis510.require],
])('reads of %s that wait until something comes', (name, load) => {
  const READS = [
    ['BLPOP', 'nothing', '0.01'],
    ['BRPOP', 'nothing', '0.01'],
    ['BLMOVE', 'nothing', 'else', 'LEFT', 'LEFT', '0.01'],
    ['BZPOPMIN', 'nothing', '0.01'],
    ['BZMPOP', '0.01', '1', 'nothing', 'MIN'],
    ['XREAD', 'BLOCK', '10', 'STREAMS', 'nothing', '$'],
  ];
  const OTHERS = [
    ['LPOP', 'nothing'],
    ['XREAD', 'STREAMS', 'block', '0'],
  ];

  const send = async (commands: readonly (readonly string[])[]): Promise<void> => {
    if (name === 'redis') {
      const client = load('redis').createClient({ socket: { port, host: '127.0.0.1' } });
      await client.connect();
      for (const command of commands) await client.sendCommand(command);
      await client.close();
    } else {
      const client: Untyped = new (load('ioredis').Redis)({ port, host: '127.0.0.1' });
      for (const [command, ...args] of commands) await client.call(command, ...args);
      await client.quit();
    }
  };
  const names = async () => (await recorded()).map((span) => span.name).filter((one) => /POP|MOVE|XREAD/.test(one));

  test('are not traces', async () => {
    instrumentOnly({ [name]: true });
    await send([...READS, ...OTHERS]);
    expect(await names()).toEqual(['LPOP', 'XREAD']);
  });

  test('are spans below others', async () => {
    instrumentOnly({ [name]: true });
    await Span.root('request').runToEnd(() => send(READS));
    expect(await names()).toEqual(READS.map(([command]) => command));
  });

  test('are traces where that is asked for', async () => {
    instrumentOnly({ [name]: { requireParent: false } });
    await send(READS);
    expect(await names()).toEqual(READS.map(([command]) => command));
  });
});

describe.skipIf(!hasRedis)('redis', () => {
  const connected = async (): Promise<Untyped> => {
    const client = library('redis').createClient({ socket: { port, host: '127.0.0.1' } });
    await client.connect();
    later(() => client.destroy());
    await recorded();
    return client;
  };

  test('what it sends to connect and to close is not a trace', async () => {
    instrumentOnly({ redis: true });
    const client = library('redis').createClient({ socket: { port, host: '127.0.0.1' }, database: 2, name: 'own' });
    await client.connect();
    const connection = [
      ['SELECT', '1'],
      ['CLIENT', 'ID'],
      ['HELLO', '3'],
      ['INFO', 'server'],
    ];
    for (const command of connection) await client.sendCommand(command);
    await client.get('a');
    await Span.root('request').runToEnd(() => client.select(0));
    await client.quit();
    expect((await recorded()).map(({ name }) => name)).toEqual(['GET', 'request', 'SELECT']);
  });

  test('a command is a child of who sends it, without its arguments', async () => {
    instrumentOnly({ redis: true });
    const client = await connected();
    await Span.root('request').runToEnd(() => client.set('key', SECRET));
    const [root, span] = await recorded();
    expect(span).toMatchObject({ name: 'SET', kind: 'client', parentSpanId: root.spanId, status: { code: 'unset' } });
    expect(span.properties).toEqual({
      'db.system.name': 'redis',
      'db.namespace': '0',
      'db.operation.name': 'SET',
      'db.query.text': 'SET ? ?',
      'db.query.summary': 'SET',
      'server.address': '127.0.0.1',
      'server.port': port,
    });
  });

  test('sixteen at once, each in its own trace', async () => {
    instrumentOnly({ redis: true });
    const client = await connected();
    const asked = await askedBySixteen(
      async (i) => expect(await client.incrBy(`number ${i}`, i)).toBe(i),
      ({ name }) => name,
    );
    expect(asked).toEqual(eachItsOwn(() => 'INCRBY'));
  });

  test('a command that the program gives up is not an error, one whose connection it ends is of a class', async () => {
    instrumentOnly({ redis: true });
    const client = library('redis').createClient({ socket: { port, host: '127.0.0.1' } });
    await client.connect();
    await recorded();
    const giving = new AbortController();
    const given = client.withAbortSignal(giving.signal).get('key');
    giving.abort();
    await expect(given).rejects.toThrow();
    const waiting = client.get('key');
    client.destroy();
    await expect(waiting).rejects.toThrow();
    expect((await recorded()).map(({ name, properties }) => [name, properties['error.type']])).toEqual([
      ['GET', undefined],
      ['GET', 'DisconnectsClientError'],
    ]);
  });

  test('what waited in a pool belongs to its caller', async () => {
    instrumentOnly({ redis: true });
    const pool = library('redis').createClientPool({ socket: { port, host: '127.0.0.1' } }, { minimum: 1, maximum: 1 });
    await pool.connect();
    later(() => pool.close());
    await recorded();
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        Span.root(name).runToEnd(async () => {
          await pool.get(name);
          await pool.multi().set(name, '1').exec();
          await pool.execute((client: Untyped) => client.del(name));
        }),
      ),
    );
    const spans = await recorded();
    const roots = spans.filter(({ kind }) => kind === 'internal');
    expect(roots.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
    for (const { spanId, traceId } of roots) {
      const below = spans.filter((span) => span.traceId === traceId && span.spanId !== spanId);
      expect(below.filter(({ parentSpanId }) => parentSpanId === spanId)).toEqual(below);
      expect(below.map(({ name }) => name)).toEqual(expect.arrayContaining(['GET', 'DEL']));
    }
  });

  test('what waits in a pool that was made before other options come belongs to its caller', async () => {
    instrumentOnly({ redis: true });
    const pool = library('redis').createClientPool({ socket: { port, host: '127.0.0.1' } }, { minimum: 1, maximum: 1 });
    await pool.connect();
    later(() => pool.close());
    instrumentOnly({ redis: { requireParent: true } });
    const job: Job = (note, done) =>
      void pool.execute((client: Untyped) => {
        note('client', done);
        return client.get('key');
      });
    expect(await contextsOf(job)).toEqual(['client: own']);
  });

  test('no secret leaves, nor what the server says of it', async () => {
    instrumentOnly({ redis: true });
    const client = await connected();
    await Span.root('request').runToEnd(async () => {
      await client.sendCommand(['CONFIG', 'SET', 'proc-title-template', SECRET]);
      await client.eval(`return '${SECRET}'`, { keys: [], arguments: [SECRET] });
      await client.getSet('key', SECRET);
      await client.sendCommand([`${SECRET}!`, SECRET]).catch(() => {});
      await client.lPush('key', SECRET).catch(() => {});
    });
    const spans = await recorded();
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(spans.filter(({ kind }) => kind === 'client').map(({ name }) => name)).toEqual([
      'CONFIG',
      'EVAL',
      'GETSET',
      '_OTHER',
      'LPUSH',
    ]);
    expect(spans.find(({ name }) => name === 'LPUSH')).toMatchObject({
      status: { code: 'error', message: 'WRONGTYPE' },
      properties: { 'error.type': 'WRONGTYPE', 'db.response.status_code': 'WRONGTYPE' },
    });
  });

  test('a batch has its size', async () => {
    instrumentOnly({ redis: true });
    const client = await connected();
    await Span.root('request').runToEnd(() => client.multi().set('a', '1').get('a').exec());
    const spans = await recorded();
    expect(spans[1]).toMatchObject({ name: 'MULTI', properties: { 'db.operation.batch.size': 2 } });
  });

  test('a transaction in which the server refuses a command has failed', async () => {
    instrumentOnly({ redis: true });
    const client = await connected();
    await client.set('text', 'text');
    for (const command of [['INCR', 'text'], ['NOSUCH']]) {
      await recorded();
      await expect(client.multi().set('a', '1').addCommand(command).exec()).rejects.toThrow();
      expect(await recorded()).toMatchObject([
        { name: 'MULTI', status: { code: 'error' }, properties: { 'db.response.status_code': 'ERR' } },
      ]);
    }
  });

  test('ignore and enrich', async () => {
    const seen: unknown[] = [];
    instrumentOnly({
      redis: {
        ignore: ({ text }) => text.startsWith('GET'),
        enrich: (span, call) => seen.push([span.name, call.text]),
      },
    });
    const client = await connected();
    seen.length = 0;
    await client.get('key').catch(() => {});
    await client.ping();
    expect(await shown()).toEqual([['PING', 'PING']]);
    expect(seen).toEqual([['PING', 'PING']]);
  });
});

test.skipIf(!hasRedis)('a command that was announced keeps nobody: who keeps it keeps no trace', async () => {
  instrumentOnly({ ioredis: true });
  const { Redis, Command }: Untyped = library('ioredis');
  const client = new Redis({ port, host: '127.0.0.1' });
  later(() => client.disconnect());
  const commands = [1, 2].map(() => new Command('get', ['a']));
  // The first one waits for the connection.
  for (const command of commands) await Span.root('request').runToEnd(() => client.sendCommand(command));
  const kept = (command: Untyped) =>
    Object.getOwnPropertySymbols(command)
      .filter(({ description }) => description === 'spanline.caller')
      .map((symbol) => command[symbol]);
  expect(commands.map(kept)).toEqual([[undefined], [undefined]]);
  expect((await recorded()).map(({ name }) => name).sort()).toEqual(['GET', 'GET', 'request', 'request']);
});

describeIoredis(
  'ioredis',
  () => library('ioredis'),
  () => port,
);
