// Queries of pg against a real server, in every form that the call has.
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, stats } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { buildFirst } from '../../support/built.js';
import { out, runFile } from '../../support/child.js';
import { importLibrary, library } from '../libraries.js';
import {
  ALL_OFF,
  askedBySixteen,
  contextsOf,
  eachItsOwn,
  instrumentOnly,
  type Job,
  later,
  queryText,
  recorded,
} from '../support.js';
import { hasPostgres, type Postgres, startPostgres } from './postgres.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

buildFirst();

describe.skipIf(!hasPostgres)('pg', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  const poolOf = (max = 1): Untyped => {
    const { Pool } = library('pg');
    const pool = new Pool({ host: postgres.host, user: 'test', database: 'postgres', max });
    // `end` resolves before the connections are closed, and a server that stops then says so to each.
    pool.on('error', () => {});
    later(() => pool.end());
    return pool;
  };

  /** A client over TCP, and what closes its connection. */
  const overTcp = async (): Promise<{ client: Untyped; port: number; reset: () => void }> => {
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      sockets.push(socket);
      const server = connect(join(postgres.host, '.s.PGSQL.5432'));
      socket
        .on('error', () => {})
        .pipe(server)
        .on('error', () => {})
        .pipe(socket);
      socket.on('close', () => server.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    later(() => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const { Client } = library('pg');
    const client = new Client({ host: 'localhost', port, user: 'test', database: 'postgres' });
    await client.connect();
    later(() => client.end());
    return { client, port, reset: () => void sockets[0].resetAndDestroy() };
  };

  const queries = async () => (await recorded()).filter(({ kind }) => kind === 'client');

  test('a query has its text without values, and where it went', async () => {
    instrumentOnly({ pg: true });
    const { rows } = await Span.root('request').runToEnd(() =>
      poolOf().query(`SELECT datname FROM pg_database WHERE datname <> '${SECRET}' AND oid > $1 LIMIT 1`, [0]),
    );
    expect(rows).toHaveLength(1);
    const [root, span] = await recorded();
    expect(span).toMatchObject({ name: 'SELECT pg_database', kind: 'client', parentSpanId: root.spanId });
    expect(span.properties).toEqual({
      'db.system.name': 'postgresql',
      'db.namespace': 'postgres',
      'db.operation.name': 'SELECT',
      'db.query.text': 'SELECT datname FROM pg_database WHERE datname <> ? AND oid > $1 LIMIT ?',
      'db.query.summary': 'SELECT pg_database',
      'server.address': postgres.host,
      'server.port': 5432,
    });
  });

  test('what pg refuses leaves no span open, nor a function that it does not call', async () => {
    instrumentOnly({ pg: true });
    const client = await poolOf().connect();
    later(() => client.release());
    for (const args of [[null], [7], ['SELECT 1', 7]])
      await expect((async () => client.query(...args))()).rejects.toThrow();
    // It is read as the configuration of an empty query.
    await client.query(() => {});
    await client.query('SELECT 1', [], undefined, () => {});
    expect((await queries()).map(({ name, status }) => [name, status.code])).toEqual([
      ['postgres', 'error'],
      ['postgres', 'error'],
      ['SELECT', 'error'],
      ['postgres', 'unset'],
      ['SELECT', 'unset'],
    ]);
    expect(stats().collector.openTraces).toBe(0);
  });

  test('below what a program has put around it: a span each, and none once it is off', async () => {
    const { prototype } = library('pg').Client;
    const { query } = prototype;
    const on = () => instrument({ ...ALL_OFF, pg: { module: library('pg') } });
    const first = on();
    const ours = prototype.query;
    prototype.query = function (this: unknown, ...args: unknown[]): unknown {
      return Reflect.apply(ours, this, args);
    };
    later(() => {
      prototype.query = query;
    });
    const pool = poolOf();
    await pool.query('SELECT 1');
    first.disable();
    await pool.query('SELECT 2');
    later(on().disable);
    await pool.query('SELECT 3');
    expect((await queries()).map(({ name }) => name)).toEqual(['SELECT', 'SELECT']);
  });

  test('asked for twice, it is one span', async () => {
    instrumentOnly({ pg: true });
    instrumentOnly({ pg: { module: library('pg') } });
    await poolOf().query('SELECT 1');
    expect(await queries()).toHaveLength(1);
  });

  test('its ES module has the same classes, which are patched once', async () => {
    const module = await importLibrary('pg');
    expect(module.default).toBe(library('pg'));
    instrumentOnly({ pg: { module } });
    await poolOf().query('SELECT 1');
    expect(await queries()).toHaveLength(1);
  });

  test('a query of a class of the program is read as it is, with its callback', async () => {
    instrumentOnly({ pg: true });
    class Own {
      constructor(readonly callback: unknown) {}
      get text(): string {
        return 'SELECT 1 AS one';
      }
    }
    const client = await poolOf().connect();
    later(() => client.release());
    const { rows } = await new Promise<Untyped>((resolve, reject) =>
      client.query(new Own((error: unknown, result: unknown) => (error ? reject(error) : resolve(result)))),
    );
    expect(rows).toEqual([{ one: 1 }]);
    expect(await queries()).toMatchObject([{ name: 'SELECT' }]);
  });

  test('over TCP it has its peer', async () => {
    instrumentOnly({ pg: true });
    const { client, port } = await overTcp();
    await client.query('SELECT 1');
    expect((await queries()).map(({ properties }) => properties)).toMatchObject([
      {
        'server.address': 'localhost',
        'server.port': port,
        'network.peer.address': '127.0.0.1',
        'network.peer.port': port,
      },
    ]);
  });

  test.each([1, 2])('sixteen at once in a pool of %i, each in its own trace', async (max) => {
    instrumentOnly({ pg: true });
    const pool = poolOf(max);
    const asked = await askedBySixteen((i) => pool.query(`SELECT 1 AS a${i}`), queryText);
    expect(asked).toEqual(eachItsOwn((i) => `SELECT ? AS a${i}`));
  });

  test('an error has the code of the server, and no word of its message', async () => {
    instrumentOnly({ pg: true });
    await expect(poolOf().query(`SELECT '${SECRET}'::int`)).rejects.toThrow(SECRET);
    const spans = await queries();
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(spans).toMatchObject([
      {
        status: { code: 'error', message: '22P02' },
        properties: { 'error.type': '22P02', 'db.response.status_code': '22P02' },
      },
    ]);
  });

  test('an error of the system is none of the server', async () => {
    instrumentOnly({ pg: true });
    const { client, reset } = await overTcp();
    client.on('error', () => {});
    const query = client.query('SELECT pg_sleep(60)');
    reset();
    await expect(query).rejects.toMatchObject({ code: 'ECONNRESET' });
    const [{ status, properties }] = await queries();
    expect(status).toEqual({ code: 'error', message: 'ECONNRESET' });
    expect(properties).toMatchObject({ 'error.type': 'ECONNRESET' });
    expect(properties).not.toHaveProperty('db.response.status_code');
  });

  test.each(['callback', 'values and callback', 'config', 'config with callback', 'query object'])(
    '%s',
    async (form) => {
      instrumentOnly({ pg: true });
      const pg: Untyped = library('pg');
      const client = new pg.Client({ host: postgres.host, user: 'test', database: 'postgres' });
      await client.connect();
      later(() => client.end());
      const text = 'SELECT 7 AS n';
      let seen: string | undefined;
      const rows = await Span.root('request').runToEnd(
        () =>
          new Promise((resolve, reject) => {
            const done = (error: unknown, result: Untyped): void => {
              seen = Span.current()?.name;
              if (error) reject(error);
              else resolve(result.rows);
            };
            if (form === 'callback') client.query(text, done);
            else if (form === 'values and callback') client.query(text, [], done);
            else if (form === 'config') client.query({ text }).then((result: Untyped) => done(null, result), reject);
            else if (form === 'config with callback') client.query({ text, callback: done });
            else client.query(new pg.Query(text, [], done));
          }),
      );
      expect(rows).toEqual([{ n: 7 }]);
      expect(seen).toBe('request');
      const spans = await queries();
      expect(spans.map(({ name, properties }) => [name, properties['db.query.text']])).toEqual([
        ['SELECT', 'SELECT ? AS n'],
      ]);
    },
  );

  describe('callbacks and events run in the context of the caller, of however many on one connection', () => {
    const text = 'SELECT generate_series(1, 3)';
    const cursorOf = (): Untyped => new (library('pg-cursor'))(text);
    const jobs: Readonly<Record<string, (client: Untyped, pool: Untyped) => Job>> = {
      'a callback': (client) => (note, done) => client.query(text, () => note('callback', done)),
      'a callback behind values': (client) => (note, done) => client.query(text, [], () => note('callback', done)),
      'a callback in the config': (client) => (note, done) =>
        client.query({ text, callback: () => note('callback', done) }),
      'a callback of a query': (client) => (note, done) =>
        client.query(new (library('pg').Query)(text, [], () => note('callback', done))),
      'events of a query': (client) => (note, done) => {
        const query = client.query(new (library('pg').Query)(text));
        query.on('row', () => note('row')).on('end', () => note('end', done));
      },
      'its error': (client) => (note, done) =>
        client.query(new (library('pg').Query)('SELECT nothing')).on('error', () => note('error', done)),
      'a pool': (_, pool) => (note, done) => pool.query(text, () => note('callback', done)),
      'a client of a pool': (_, pool) => (note, done) =>
        pool.connect((_error: unknown, client: Untyped, release: () => void) => {
          note('connect');
          client.query(text, () => {
            note('callback', done);
            release();
          });
        }),
      'a cursor': (client) => (note, done) => {
        const cursor = client.query(cursorOf());
        cursor.on('end', () => note('end'));
        cursor.read(2, () => {
          note('read');
          cursor.close(() => note('close', done));
        });
      },
      'a stream': (client) => (note, done) => {
        const stream = client.query(new (library('pg-query-stream'))(text));
        stream.on('data', () => note('data')).on('end', () => note('end'));
        stream.on('close', () => note('close', done));
      },
    };
    const EVENTS: Readonly<Record<string, readonly string[]>> = {
      'events of a query': ['end', 'row'],
      'its error': ['error'],
      'a client of a pool': ['callback', 'connect'],
      'a cursor': ['close', 'end', 'read'],
      'a stream': ['close', 'data', 'end'],
    };
    test.each(Object.keys(jobs))('%s', async (name) => {
      instrumentOnly({ pg: true });
      const { Client } = library('pg');
      const client = new Client({ host: postgres.host, user: 'test', database: 'postgres' });
      await client.connect();
      later(() => client.end());
      const events = EVENTS[name] ?? ['callback'];
      expect(await contextsOf(jobs[name](client, poolOf()))).toEqual(events.map((event) => `${event}: own`));
    });

    test('what is not traced', async () => {
      instrumentOnly({ pg: { ignore: () => true } });
      expect(await contextsOf(jobs['a pool'](undefined, poolOf()))).toEqual(['callback: own']);
    });

    test('a caller without one: none', async () => {
      instrumentOnly({ pg: true });
      const pool = poolOf();
      await Span.root('first').runToEnd(() => pool.query(text));
      const seen = await new Promise((resolve) => pool.query(text, () => resolve(Span.current()?.name)));
      expect(seen).toBe(undefined);
    });

    test('the end of a client and of a pool', async () => {
      instrumentOnly({ pg: true });
      const { Client, Pool } = library('pg');
      for (const made of [Client, Pool]) {
        const opened = new made({ host: postgres.host, user: 'test', database: 'postgres' });
        const client = await Span.root('opener').runToEnd(() => opened.connect());
        const ended = contextsOf((note, done) => opened.end(() => note('end', done)), 1);
        client?.release?.();
        expect(await ended).toEqual(['end: own']);
      }
    });
  });

  test('a query without callback ends with its events', async () => {
    instrumentOnly({ pg: true });
    const pg: Untyped = library('pg');
    const client = new pg.Client({ host: postgres.host, user: 'test', database: 'postgres' });
    await client.connect();
    later(() => client.end());
    for (const text of ['SELECT 1', 'SELECT nothing']) {
      const query = client.query(new pg.Query(text));
      await new Promise((resolve) => query.on('end', resolve).on('error', resolve));
    }
    expect((await queries()).map(({ status }) => status.message ?? status.code)).toEqual(['unset', '42703']);
  });

  test('a failure that nobody handles is still told of', async () => {
    const app = join(out, 'app.mjs');
    writeFileSync(
      app,
      `import { createRequire } from 'node:module';
       const { Client } = createRequire(${JSON.stringify(library.resolve('pg'))})('pg');
       process.on('unhandledRejection', ({ code }) => console.log(code));
       const client = new Client({ host: ${JSON.stringify(postgres.host)}, user: 'test', database: 'postgres' });
       await client.connect();
       client.query('SELECT nothing');
       await client.query('SELECT nothing either').catch(() => {});
       await client.end();`,
    );
    const { code, stdout } = await runFile(app, {
      execArgv: ['--import', 'spanline/register'],
      env: { OTEL_TRACES_EXPORTER: 'none' },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '42703\n' });
  });

  test('taken back, the library is as it was', () => {
    const { Client } = library('pg');
    const { query } = Client.prototype;
    later(() => expect(Client.prototype.query).toBe(query));
    instrumentOnly({ pg: true });
    expect(Client.prototype.query).not.toBe(query);
  });
});
