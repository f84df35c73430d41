// Queries of mysql2 against a real server: by callbacks and promises, plain and prepared, from pools.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { importLibrary, library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
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
    const spans = await queries();
    expect(
      spans.map(({ status, properties }) => [status, properties['error.type'], properties['db.response.status_code']]),
    ).toEqual([
      [{ code: 'error', message: '1054' }, '1054', '1054'],
      [{ code: 'error', message: '1064' }, '1064', '1064'],
    ]);
    expect(JSON.stringify(spans[1])).not.toContain(SECRET);
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
});
