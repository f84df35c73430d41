// Queries of mariadb 3 against a real server: by promises, callbacks and streams, of connections and pools, from its bundle, its ES module and the first
// version that is traced.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, type SpanRecord } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { buildFirst } from '../../support/built.js';
import { runFile } from '../../support/child.js';
import { importLibrary, library } from '../libraries.js';
import {
  ALL_OFF,
  askedBySixteen,
  contextsOf,
  eachItsOwn,
  instrumentOnly,
  later,
  queryText,
  recorded,
  settled,
} from '../support.js';
import { hasMariadb, type Mariadb, startMariadb } from './mariadb.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

buildFirst();

const SECRET = 'hunter2';
const canSeeModules = 'registerHooks' in (await import('node:module')).default;

// Whichever test is first: it is seen being loaded.
const { disable } = instrument({ ...ALL_OFF, mariadb: true });
await importLibrary('mariadb');
disable();

describe.skipIf(!hasMariadb)('mariadb', () => {
  let server: Mariadb;
  beforeAll(async () => {
    server = await startMariadb();
  }, 60_000);
  afterAll(() => server?.stop());

  const access = () => ({ host: '127.0.0.1', port: server.port, user: 'root', database: 'mysql' });
  const connectedBy = async (mariadb: Untyped, options: unknown = access()): Promise<Untyped> => {
    const connection = await mariadb.createConnection(options);
    later(() => connection.end());
    return connection;
  };
  const poolBy = (mariadb: Untyped, connectionLimit = 2): Untyped => {
    const pool = mariadb.createPool({ ...access(), connectionLimit });
    later(() => pool.end());
    return pool;
  };
  const streamed = (stream: Untyped): Promise<void> =>
    new Promise((resolve, reject) => stream.on('error', reject).on('end', resolve).resume());
  const texts = async () => (await recorded()).map(({ properties }) => properties['db.query.text']);

  describe.each<[string, () => Promise<Untyped>]>([
    ['required', async () => library('mariadb')],
    ['3.1, required', async () => library('mariadb-3-1')],
    ['the default export of its ES module', async () => (await importLibrary('mariadb')).default],
    ...(canSeeModules ? [['its ES module', () => importLibrary('mariadb')] as [string, () => Promise<Untyped>]] : []),
  ])('%s', (name, load) => {
    // What is not seen being loaded is handed over: by another name, and a default export by vitest.
    const isFound = name === 'required' || name === 'its ES module';
    const loaded = async (options: object = {}): Promise<Untyped> => {
      instrumentOnly({ mariadb: isFound ? options : { ...options, module: await load() } });
      return load();
    };

    test('a query has its text without values, and where it went', async () => {
      const mariadb = await loaded();
      const text = `SELECT user FROM mysql.user WHERE user <> "${SECRET}" AND user = ? LIMIT 1`;
      for (const client of [await connectedBy(mariadb), poolBy(mariadb)]) {
        const rows = await Span.root('request').runToEnd(() => client.query(text, ['root']));
        expect([...rows].map((row: object) => ({ ...row }))).toEqual([{ User: 'root' }]);
        const [root, span, ...others] = await recorded();
        expect(others).toEqual([]);
        expect(span).toMatchObject({ name: 'SELECT mysql.user', kind: 'client', parentSpanId: root.spanId });
        expect(span.properties).toEqual({
          'db.system.name': 'mariadb',
          'db.namespace': 'mysql',
          'db.operation.name': 'SELECT',
          'db.query.text': 'SELECT user FROM mysql.user WHERE user <> ? AND user = ? LIMIT ?',
          'db.query.summary': 'SELECT mysql.user',
          'server.address': '127.0.0.1',
          'server.port': server.port,
        });
      }
    });

    test('every form of it is one span, of what a pool gives too', async () => {
      const mariadb = await loaded();
      const pool = poolBy(mariadb);
      await pool.query({ sql: 'SELECT 1' });
      await pool.execute('SELECT ? + 1', [1]);
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await connection.query('SELECT 3');
      await streamed(connection.queryStream('SELECT 4 UNION SELECT 5'));
      const statement = await connection.prepare('SELECT ?');
      await statement.execute([1]);
      await statement.execute([2]);
      statement.close();
      await connection.query('CREATE TEMPORARY TABLE kept (n INT)');
      await connection.batch('INSERT INTO kept VALUES (?)', [[1], [2]]);
      await connection.commit();
      await connection.release();
      const spans = await recorded();
      expect(spans.map(({ properties }) => properties['db.query.text'])).toEqual([
        'SELECT ?',
        'SELECT ? + ?',
        'START TRANSACTION',
        'SELECT ?',
        'SELECT ? UNION SELECT ?',
        'SELECT ?',
        'SELECT ?',
        'CREATE TEMPORARY TABLE kept (n INT)',
        'INSERT INTO kept VALUES (?)',
        'COMMIT',
      ]);
      for (const { properties, status } of spans) {
        expect(properties['server.port']).toBe(server.port);
        expect(status.code).toBe('unset');
      }
    });

    test('an error has the number of the server, and no word of its message; it is the same error', async () => {
      const mariadb = await loaded();
      const connection = await connectedBy(mariadb, `mariadb://root@127.0.0.1:${server.port}/mysql`);
      const wrong = `SELECT nothing FROM mysql.user WHERE user = '${SECRET}'`;
      await expect(connection.query(wrong)).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
      await expect(streamed(connection.queryStream(wrong))).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
      const spans = await recorded();
      expect(spans.map(({ status, properties }) => [status.code, properties['error.type']])).toEqual([
        ['error', '1054'],
        ['error', '1054'],
      ]);
      expect(spans[0].properties).toMatchObject({ 'db.namespace': 'mysql', 'server.address': '127.0.0.1' });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
      expect(JSON.stringify(spans)).not.toContain('Unknown column');
    });

    test('sixteen at once over two connections, each in its own trace', async () => {
      const pool = poolBy(await loaded());
      const asked = await askedBySixteen((i) => pool.query(`SELECT 1 AS a${i}`), queryText);
      expect(asked).toEqual(eachItsOwn((i) => `SELECT ? AS a${i}`));
    });

    test('ignored, without a parent, and taken back', async () => {
      const mariadb = await loaded({
        ignore: ({ text }: { text: string }) => text === 'SELECT ?, ?',
        requireParent: true,
      });
      const connection = await connectedBy(mariadb);
      await Span.root('request').runToEnd(() => connection.query('SELECT 1, 2'));
      await connection.query('SELECT 1');
      expect((await recorded()).map(({ name }) => name)).toEqual(['request']);
    });
  });

  test('a callback that comes at once may ask too, and a statement looks as it did', async () => {
    instrumentOnly({ mariadb: true });
    const mariadb = library('mariadb/callback') as Untyped;
    const connection = mariadb.createConnection({ ...access(), prepareCacheLength: 0 });
    later(() => connection.end());
    const statement = await new Promise<Untyped>((resolve, reject) =>
      connection.prepare('SELECT ? + ?', (error: unknown, made: unknown) => (error ? reject(error) : resolve(made))),
    );
    const { execute } = Object.getPrototypeOf(statement);
    expect([statement.execute.name, statement.execute.length]).toEqual([execute.name, execute.length]);
    statement.close();
    await recorded();
    // It is closed, of which it calls back before it returns.
    await new Promise((resolve) => statement.execute([1, 2], () => connection.query('SELECT 3', resolve)));
    expect((await texts()).sort()).toEqual(['SELECT ?', 'SELECT ? + ?']);
  });

  test.each<[string, (cluster: Untyped) => unknown]>([
    ['that is named', (cluster) => cluster.add('one', { ...access(), connectionLimit: 1 })],
    ['without a name', (cluster) => cluster.add({ ...access(), connectionLimit: 1 })],
  ])(
    'what is asked of a cluster goes to the node that has it, by promises and by callbacks: one %s',
    async (_, add) => {
      instrumentOnly({ mariadb: true });
      const promised = library('mariadb').createPoolCluster();
      later(() => promised.end());
      add(promised);
      await promised.of('.*').query('SELECT 1');
      const connection = await promised.getConnection();
      await connection.query('SELECT 1');
      await connection.release();
      const cluster = library('mariadb/callback').createPoolCluster({});
      later(() => new Promise((resolve) => cluster.end(resolve)));
      add(cluster);
      const answers = await contextsOf((note, done) => {
        cluster.of('.*').query('SELECT 1', () => {
          note('of');
          cluster.getConnection((__: unknown, got: Untyped) => {
            note('connection');
            got.query('SELECT 1', () => {
              got.release();
              note('query', done);
            });
          });
        });
      });
      expect(answers).toEqual(['connection: own', 'of: own', 'query: own']);
      const spans = (await recorded()).filter(({ kind }) => kind === 'client');
      expect(spans).toHaveLength(8);
      for (const { properties } of spans)
        expect(properties).toMatchObject({
          'db.namespace': 'mysql',
          'server.address': '127.0.0.1',
          'server.port': server.port,
        });
    },
  );

  test('each node of a cluster has its own server', async () => {
    instrumentOnly({ mariadb: true });
    const cluster = library('mariadb').createPoolCluster({});
    later(() => cluster.end());
    cluster.add('2', { ...access(), connectionLimit: 1 });
    cluster.add('1', { ...access(), host: 'localhost', connectionLimit: 1 });
    for (const node of ['1', '2']) await cluster.of(node).query('SELECT 1');
    const addresses = (await recorded()).map(({ properties }) => properties['server.address']);
    expect(addresses).toEqual(['localhost', '127.0.0.1']);
  });

  describe.each(['mariadb/callback', 'mariadb-3-1/callback'])('with callbacks, of %s', (name) => {
    const WRONG = 'SELECT nothing';
    const outcomesOf = (spans: readonly SpanRecord[]) =>
      spans.map(({ properties, status }) => [properties['db.query.text'], properties['error.type'] ?? status.code]);
    const clients = async (): Promise<{ pool: Untyped; connection: Untyped }> => {
      instrumentOnly({ mariadb: { module: library(name) } });
      const pool = poolBy(library(name), 1);
      const connection = library(name).createConnection(access());
      later(() => connection.end());
      await new Promise((resolve) => connection.query('SELECT 1', resolve));
      await recorded();
      return { pool, connection };
    };

    test('a query fails by its callback, or by the event of its end', async () => {
      const { pool, connection } = await clients();
      for (const client of [pool, connection])
        for (const ask of ['query', 'execute'])
          await new Promise<void>((resolve) => client[ask](WRONG, () => resolve()));
      await new Promise<void>((resolve) =>
        connection
          .query(WRONG)
          .on('end', resolve)
          .on('error', () => {}),
      );
      expect(outcomesOf(await settled(5))).toEqual(Array.from({ length: 5 }, () => [WRONG, '1054']));
    });

    test('without one, what gives nothing back ends with its answer, and can fail', async () => {
      const { pool, connection } = await clients();
      pool.query('SELECT 1 + 1');
      pool.query(WRONG);
      pool.execute(WRONG, []);
      pool.batch('INSERT INTO nowhere VALUES (?)', [[1], [2]]);
      connection.query('SELECT 1 + 1');
      connection.execute(WRONG);
      connection.beginTransaction();
      connection.commit(undefined);
      connection.rollback(null);
      expect(outcomesOf(await settled(9)).sort()).toEqual([
        ['COMMIT', 'unset'],
        ['INSERT INTO nowhere VALUES (?)', '1146'],
        ['ROLLBACK', 'unset'],
        ['SELECT ? + ?', 'unset'],
        ['SELECT ? + ?', 'unset'],
        [WRONG, '1054'],
        [WRONG, '1054'],
        [WRONG, '1054'],
        ['START TRANSACTION', 'unset'],
      ]);
    });
  });

  test('callbacks and events come in the context of the caller', async () => {
    instrumentOnly({ mariadb: true });
    const mariadb = library('mariadb/callback');
    const pool = poolBy(mariadb, 1);
    const found = await contextsOf((note, done) => {
      pool.query('SELECT 1', (error: unknown, rows: Untyped) => {
        expect(error).toBeNull();
        expect(rows).toHaveLength(1);
        note('query', () =>
          pool.getConnection((_: unknown, connection: Untyped) => {
            note('connection');
            connection.execute('SELECT ?', [2], () => {
              note('execute');
              connection.query('SELECT 3').on('end', () => {
                connection.release();
                note('end', done);
              });
            });
          }),
        );
      });
    });
    expect(found).toEqual(['connection: own', 'end: own', 'execute: own', 'query: own']);
  });

  test('what waits for an answer ends when its connection is destroyed and its server can not be asked', async () => {
    const { disable } = instrument({ ...ALL_OFF, mariadb: true });
    later(disable);
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      sockets.push(socket);
      const through = connect(server.port, '127.0.0.1');
      socket
        .on('close', () => through.destroy())
        .pipe(through)
        .pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const connection = await library('mariadb').createConnection({ ...access(), port });
    connection.query('SELECT SLEEP(60)').catch(() => {});
    connection.query('SELECT 2').catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    disable();
    proxy.close();
    connection.destroy();
    expect((await recorded()).map(({ properties }) => properties['error.type'])).toEqual([
      'ER_CMD_NOT_EXECUTED_DESTROYED',
      'ER_CMD_NOT_EXECUTED_DESTROYED',
    ]);
    for (const socket of sockets) socket.destroy();
  });

  test.skipIf(!canSeeModules)('an ES module is traced by both of its exports, under register', async () => {
    const app = fileURLToPath(new URL('../libraries/mariadb-app.mjs', import.meta.url));
    const { code, stderr } = await runFile(app, {
      execArgv: ['--import', 'spanline/register'],
      env: { OTEL_TRACES_EXPORTER: 'console', MARIADB_PORT: String(server.port) },
    });
    expect(code).toBe(0);
    expect(stderr.match(/^DO {2}.* {2}client {2}/gm)).toHaveLength(2);
  });

  test('what was made before other options come, or before it is off and on again, is traced by the newest', async () => {
    const enriched: string[] = [];
    const enrich = (_: Span, { text }: { text: string }): void => void enriched.push(text);
    const { disable: disableFirst } = instrument({ ...ALL_OFF, mariadb: true });
    later(disableFirst);
    const mariadb = library('mariadb');
    const pool = poolBy(mariadb);
    const connection = await connectedBy(mariadb);
    const statement = await connection.prepare('SELECT ?');
    const ask = async (): Promise<void> => {
      await pool.query('SELECT 1 + 1');
      await connection.query('SELECT 2 * 3');
      await statement.execute([3]);
    };
    const asked = ['SELECT ? + ?', 'SELECT ? * ?', 'SELECT ?'];
    await ask();
    expect(await texts()).toEqual(asked);
    const { disable } = instrument({ ...ALL_OFF, mariadb: { enrich } });
    later(disable);
    await ask();
    expect([await texts(), enriched]).toEqual([asked, asked]);
    disable();
    disableFirst();
    await ask();
    expect(await texts()).toEqual([]);
    instrumentOnly({ mariadb: true });
    await ask();
    const spans = await recorded();
    expect(spans.map(({ properties }) => properties['db.query.text'])).toEqual(asked);
    for (const { properties } of spans)
      expect(properties).toMatchObject({ 'server.address': '127.0.0.1', 'server.port': server.port });
    expect(enriched).toHaveLength(3);
  });

  test('once it is taken back nothing of it is left', async () => {
    const mariadb = library('mariadb').default;
    const { createPool } = mariadb;
    const instrumentation = instrument({ ...ALL_OFF, mariadb: true });
    const pool = poolBy(mariadb);
    const { query } = Object.getPrototypeOf(pool) as Untyped;
    expect(mariadb.createPool).not.toBe(createPool);
    instrumentation.disable();
    expect(mariadb.createPool).toBe(createPool);
    expect((Object.getPrototypeOf(pool) as Untyped).query).not.toBe(query);
    await pool.query('SELECT 1');
    expect(await texts()).toEqual([]);
  });
});
