// Queries of mysql2 against a real server: by callbacks and promises, plain and prepared, from pools.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
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
import { hasMariadb, type Mariadb, startMariadb } from './mariadb.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

describe.skipIf(!hasMariadb)('mysql2', () => {
  let mariadb: Mariadb;
  beforeAll(async () => {
    mariadb = await startMariadb();
  }, 60_000);
  afterAll(() => mariadb?.stop());

  const access = () => ({ host: '127.0.0.1', port: mariadb.port, user: 'root', database: 'mysql' });
  const poolOf = (promises: Untyped, connectionLimit = 1): Untyped => {
    const pool = promises.createPool({ ...access(), connectionLimit });
    later(() => pool.end());
    return pool;
  };
  const queries = async () => (await recorded()).filter(({ kind }) => kind === 'client');

  describe.each<[string, () => Promise<Untyped>]>([
    ['required', async () => library('mysql2/promise')],
    ['imported', () => importLibrary('mysql2/promise')],
  ])('%s', (_, load) => {
    test.each(['query', 'execute'])('%s has its text without values, and where it went', async (form) => {
      instrumentOnly({ mysql2: true });
      const pool = poolOf(await load());
      const text = `SELECT user FROM mysql.user WHERE user <> "${SECRET}" AND user = ? LIMIT 1`;
      const [rows] = await Span.root('request').runToEnd<Promise<Untyped>>(() => pool[form](text, ['root']));
      expect(rows).toEqual([{ User: 'root' }]);
      const spans = await recorded();
      const [root, span] = spans;
      expect(spans).toHaveLength(2);
      expect(span).toMatchObject({ name: 'SELECT mysql.user', kind: 'client', parentSpanId: root.spanId });
      expect(span.properties).toEqual({
        'db.system.name': 'mysql',
        'db.namespace': 'mysql',
        'db.operation.name': 'SELECT',
        'db.query.text': 'SELECT user FROM mysql.user WHERE user <> ? AND user = ? LIMIT ?',
        'db.query.summary': 'SELECT mysql.user',
        'server.address': '127.0.0.1',
        'server.port': mariadb.port,
      });
    });
  });

  test('one that waited in the pool belongs to its caller, and so does what comes after it', async () => {
    instrumentOnly({ mysql2: true });
    const pool = poolOf(library('mysql2/promise'));
    const callers = ['first', 'second', 'third'];
    await Promise.all(
      callers.map((name) =>
        Span.root(name).runToEnd(async () => {
          await pool.query(`SELECT 1 AS ${name}`);
          expect(Span.current()?.name).toBe(name);
          await pool.execute(`SELECT 2 AS ${name}`);
        }),
      ),
    );
    const spans = await recorded();
    const made = spans.flatMap(({ kind, parentSpanId, properties }) =>
      kind === 'client'
        ? [`${spans.find(({ spanId }) => spanId === parentSpanId)?.name}: ${properties['db.query.text']}`]
        : [],
    );
    expect(made.sort()).toEqual(callers.flatMap((name) => Array(2).fill(`${name}: SELECT ? AS ${name}`)).sort());
  });

  test('sixteen at once over two connections, each in its own trace', async () => {
    instrumentOnly({ mysql2: true });
    const pool = poolOf(library('mysql2/promise'), 2);
    const asked = await askedBySixteen((i) => pool.query(`SELECT 1 AS a${i}`), queryText);
    expect(asked).toEqual(eachItsOwn((i) => `SELECT ? AS a${i}`));
  });

  test('callbacks run in the context of their caller', async () => {
    instrumentOnly({ mysql2: true });
    const pool = library('mysql2').createPool({ ...access(), connectionLimit: 1 });
    later(() => new Promise((resolve) => pool.end(resolve)));
    const names = ['first', 'second', 'third'];
    const seen = await Promise.all(
      names.map((name) =>
        Span.root(name).runToEnd(
          () => new Promise((resolve) => pool.query(`SELECT 1 AS ${name}`, () => resolve(Span.current()?.name))),
        ),
      ),
    );
    expect(seen).toEqual(names);
  });

  test('an error has the number of the server, and no word of its message', async () => {
    instrumentOnly({ mysql2: true });
    const pool = poolOf(library('mysql2/promise'));
    await expect(pool.query(`SELECT ${SECRET} FROM user`)).rejects.toThrow(SECRET);
    await expect(pool.query(`SELECT '${SECRET}' FROM`)).rejects.toThrow();
    const refused = library('mysql2').createConnection({ host: '127.0.0.1', port: 1 });
    await expect(
      new Promise((resolve, reject) =>
        refused.query('SELECT 1', (error: unknown) => (error ? reject(error) : resolve(undefined))),
      ),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const spans = await queries();
    expect(
      spans.map(({ status, properties }) => [status, properties['error.type'], properties['db.response.status_code']]),
    ).toEqual([
      [{ code: 'error', message: '1054' }, '1054', '1054'],
      [{ code: 'error', message: '1064' }, '1064', '1064'],
      [{ code: 'error', message: 'ECONNREFUSED' }, 'ECONNREFUSED', undefined],
    ]);
    expect(JSON.stringify(spans[1])).not.toContain(SECRET);
  });

  test('what was prepared fails on a closed connection as ever, and its span ends', async () => {
    instrumentOnly({ mysql2: true });
    const connection = library('mysql2').createConnection(access());
    const errors: string[] = [];
    connection.on('error', ({ message }: Error) => errors.push(`event: ${message}`));
    const statement = await new Promise<Untyped>((resolve, reject) =>
      connection.prepare('SELECT 1', (error: unknown, prepared: unknown) =>
        error ? reject(error) : resolve(prepared),
      ),
    );
    connection.destroy();
    expect(statement.execute([], ({ message }: Error) => errors.push(message))).toBe(undefined);
    expect(statement.execute([])).toBe(undefined);
    connection.removeAllListeners('error');
    expect(() => statement.execute([])).toThrow('closed state');
    expect(errors).toEqual(
      ['', 'event: '].map((event) => `${event}Can't add new command when connection is in closed state`),
    );
    expect((await queries()).map(({ name, properties }) => [name, properties['error.type']])).toEqual([
      ['SELECT', 'Error'],
      ['SELECT', '_OTHER'],
      ['SELECT', 'Error'],
    ]);
  });

  test.each([
    ['', false],
    [', also once it is off', true],
  ])('what waits for an answer ends when its connection is destroyed, which tells nobody%s', async (_, isOff) => {
    const { disable } = instrument({ ...ALL_OFF, mysql2: true });
    later(disable);
    const connection = library('mysql2').createConnection(access());
    connection.on('error', () => {});
    const statement = await new Promise<Untyped>((resolve) =>
      connection.prepare('SELECT 1', (_error: unknown, prepared: unknown) => resolve(prepared)),
    );
    await new Promise((resolve) => connection.query('SELECT 1', resolve));
    connection.query('SELECT SLEEP(60)', () => {});
    connection.execute('SELECT 2').on('end', () => {});
    statement.execute([], () => {});
    if (isOff) disable();
    connection.destroy();
    if (!isOff) connection.query('SELECT 3').on('end', () => {});
    expect((await queries()).map(({ properties }) => properties['error.type'])).toEqual([
      undefined,
      ...Array.from({ length: isOff ? 3 : 4 }, () => 'PROTOCOL_CONNECTION_LOST'),
    ]);
  });

  test.each<[string, (connection: Untyped, destroy: () => void) => void]>([
    ['its callback', (connection, destroy) => connection.query('SELECT 1', destroy)],
    ['an event', (connection, destroy) => connection.query('SELECT 1').on('end', destroy)],
    ['an event beside a callback', (connection, destroy) => connection.query('SELECT 1', () => {}).on('end', destroy)],
    ['an event of what is executed', (connection, destroy) => connection.execute('SELECT 1').on('end', destroy)],
  ])('what is answered is not lost when its connection is destroyed in %s', async (__, ask) => {
    instrumentOnly({ mysql2: true });
    const connection = library('mysql2').createConnection(access());
    await new Promise<void>((resolve) =>
      ask(connection, () => {
        connection.destroy();
        setImmediate(resolve);
      }),
    );
    expect((await queries()).map(({ name, status }) => [name, status.code])).toEqual([['SELECT', 'unset']]);
  });

  test('values that the library puts into the text do not leave', async () => {
    instrumentOnly({ mysql2: true });
    const pool = poolOf(library('mysql2/promise'));
    await pool.query('SELECT ? AS a, ? AS b, ? AS c', [SECRET, `${SECRET}'"\\`, { d: SECRET }]).catch(() => {});
    await pool.query('SELECT :a AS a', { a: SECRET }).catch(() => {});
    const spans = await queries();
    expect(spans).toHaveLength(2);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test('ignored, and as it was when taken back', async () => {
    instrumentOnly({ mysql2: { ignore: ({ text }) => text === 'SELECT ?' } });
    const pool = poolOf(library('mysql2/promise'));
    await pool.query('SELECT 1');
    await pool.query('SELECT 1, 2');
    expect((await queries()).map(({ properties }) => properties['db.query.text'])).toEqual(['SELECT ?, ?']);
  });

  describe.each(['mysql2', 'mysql'])('callbacks and events of %s come in the context of the caller', (name) => {
    const text = 'SELECT 1 UNION SELECT 2';
    const events = (query: Untyped, note: Parameters<Job>[0], done: () => void): void => {
      query.on('error', () => note('error')).on('fields', () => note('fields'));
      query.on('result', () => note('result')).on('end', () => note('end', done));
    };
    const jobs: Readonly<Record<string, (connection: Untyped, pool: Untyped) => Job>> = {
      'a callback': (connection) => (note, done) => connection.query(text, () => note('callback', done)),
      'a callback of a failure': (connection) => (note, done) =>
        connection.query('SELECT nothing', () => note('callback', done)),
      events: (connection) => (note, done) => events(connection.query(text), note, done),
      'events of a failure': (connection) => (note, done) => events(connection.query('SELECT nothing'), note, done),
      'a stream': (connection) => (note, done) => {
        const stream = connection.query(text).stream();
        stream.on('data', () => note('data')).on('end', () => note('end', done));
      },
      'a ping': (connection) => (note, done) => connection.ping(() => note('callback', done)),
      'a transaction': (connection) => (note, done) =>
        connection.beginTransaction(() => note('begun', () => connection.commit(() => note('callback', done)))),
      'a pool': (_, pool) => (note, done) => pool.query(text, () => note('callback', done)),
      'events of a pool': (_, pool) => (note, done) => events(pool.query(text), note, done),
      'a connection of a pool': (_, pool) => (note, done) =>
        pool.getConnection((_error: unknown, got: Untyped) => {
          note('got');
          got.query(text, () => {
            note('callback', done);
            got.release();
          });
        }),
    };
    const EVENTS: Readonly<Record<string, readonly string[]>> = {
      events: ['end', 'fields', 'result'],
      'events of a failure': ['end', 'error'],
      'a stream': ['data', 'end'],
      'a transaction': ['begun', 'callback'],
      'events of a pool': ['end', 'fields', 'result'],
      'a connection of a pool': ['callback', 'got'],
    };

    test.each(Object.keys(jobs))('%s', async (form) => {
      instrumentOnly({ [name]: true });
      const connection = library(name).createConnection(access());
      later(() => connection.destroy());
      const pool = library(name).createPool({ ...access(), connectionLimit: 1 });
      later(() => new Promise((resolve) => pool.end(resolve)));
      const wanted = (EVENTS[form] ?? ['callback']).map((event) => `${event}: own`);
      // The second ones find the connection open.
      for (let round = 0; round < 2; round++) expect(await contextsOf(jobs[form](connection, pool))).toEqual(wanted);
    });
  });

  test.each(['mysql', 'mysql2'])('what waits in a cluster of pools of %s belongs to its caller', async (name) => {
    instrumentOnly({ [name]: true });
    const cluster = library(name).createPoolCluster();
    later(() => new Promise((resolve) => cluster.end(resolve)));
    cluster.add('one', { ...access(), connectionLimit: 1 });
    const job: Job = (note, done) => {
      cluster.getConnection((_error: unknown, got: Untyped) => {
        note('got');
        got.query('SELECT 1', () => {
          got.release();
          cluster.of('one').query('SELECT 2', () => note('callback', done));
        });
      });
    };
    expect(await contextsOf(job)).toEqual(['callback: own', 'got: own']);
    const spans = await recorded();
    const traces = spans.filter(({ kind }) => kind === 'client').map(({ traceId }) => traceId);
    expect([...new Set(traces)].map((id) => traces.filter((one) => one === id).length)).toEqual([2, 2, 2]);
  });

  test.each<[string, (connection: Untyped, text: string) => Promise<unknown>]>([
    [
      'callbacks',
      (connection, text) =>
        new Promise((resolve, reject) => {
          connection.prepare(text, (_error: unknown, statement: Untyped) =>
            statement.execute([1], (error: unknown, rows: unknown) => (error === null ? resolve(rows) : reject(error))),
          );
        }),
    ],
    [
      'events',
      (connection, text) =>
        new Promise((resolve, reject) => {
          connection.prepare(text, (_error: unknown, statement: Untyped) =>
            statement.execute([1]).on('error', reject).on('end', resolve),
          );
        }),
    ],
    [
      'promises',
      async (connection, text) => {
        const statement = await connection.promise().prepare(text);
        return statement.execute([1]);
      },
    ],
  ])('what is prepared has a span each time that it is executed: %s', async (_, execute) => {
    instrumentOnly({ mysql2: true });
    const connection = library('mysql2').createConnection(access());
    later(() => connection.destroy());
    const run = (text: string) => Span.root('request').runToEnd(() => execute(connection, text));
    await run(`SELECT ? AS a, '${SECRET}' AS b`);
    await expect(run('SELECT (SELECT 1 UNION SELECT 2) = ?')).rejects.toMatchObject({ errno: 1242 });
    const spans = await queries();
    expect(spans).toHaveLength(2);
    expect(spans[0]).toMatchObject({ name: 'SELECT', status: { code: 'unset' } });
    expect(spans[0].properties).toMatchObject({
      'db.namespace': 'mysql',
      'db.query.text': 'SELECT ? AS a, ? AS b',
      'server.address': '127.0.0.1',
      'server.port': mariadb.port,
    });
    expect(spans[1]).toMatchObject({ status: { code: 'error' }, properties: { 'db.response.status_code': '1242' } });
  });

  test('what was prepared before other options come is traced by those', async () => {
    const ignored: string[] = [];
    const ignore = ({ text }: { text: string }): boolean => ignored.push(text) === 1;
    instrumentOnly({ mysql2: true });
    const connection = library('mysql2').createConnection(access());
    later(() => connection.destroy());
    const statement = await new Promise<Untyped>((resolve) =>
      connection.prepare('SELECT 1', (_error: unknown, prepared: unknown) => resolve(prepared)),
    );
    instrumentOnly({ mysql2: { ignore } });
    for (let i = 0; i < 2; i++) await new Promise((resolve) => statement.execute([], resolve));
    expect(ignored).toEqual(['SELECT ?', 'SELECT ?']);
    expect(await queries()).toHaveLength(1);
  });

  test('events of what mysql2 prepares come in the context of the caller', async () => {
    instrumentOnly({ mysql2: true });
    const connection = library('mysql2').createConnection(access());
    later(() => connection.destroy());
    const job: Job = (note, done) => {
      connection.execute('SELECT 1').on('result', () => note('result'));
      connection.prepare('SELECT 2', (_error: unknown, statement: Untyped) => {
        note('prepared');
        statement.execute([], () => note('callback', done));
      });
    };
    expect(await contextsOf(job)).toEqual(['callback: own', 'prepared: own', 'result: own']);
  });
});
