// Queries of mysql 2 against a real server: by callbacks and events, of connections and pools. Contexts of what it calls back are in mysql2.full.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { library } from '../libraries.js';
import { ALL_OFF, askedBySixteen, eachItsOwn, instrumentOnly, later, queryText, recorded } from '../support.js';
import { hasMariadb, type Mariadb, startMariadb } from './mariadb.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

describe.skipIf(!hasMariadb)('mysql', () => {
  let mariadb: Mariadb;
  beforeAll(async () => {
    mariadb = await startMariadb();
  }, 60_000);
  afterAll(() => mariadb?.stop());

  const access = () => ({ host: '127.0.0.1', port: mariadb.port, user: 'root', database: 'mysql' });
  const connected = (): Untyped => {
    const connection = library('mysql').createConnection(access());
    later(() => connection.destroy());
    return connection;
  };
  const poolOf = (connectionLimit = 1): Untyped => {
    const pool = library('mysql').createPool({ ...access(), connectionLimit });
    later(() => new Promise((resolve) => pool.end(resolve)));
    return pool;
  };
  const asked = (client: Untyped, ...args: unknown[]): Promise<Untyped> =>
    new Promise((resolve, reject) =>
      client.query(...args, (error: unknown, rows: unknown) => (error === null ? resolve(rows) : reject(error))),
    );
  const heard = (query: Untyped): Promise<void> =>
    new Promise((resolve, reject) => query.on('error', reject).on('end', resolve));

  test.each([
    ['a connection', connected],
    ['a pool', poolOf],
  ])('a query of %s has its text without values, and where it went', async (_, client) => {
    instrumentOnly({ mysql: true });
    const text = `SELECT user FROM mysql.user WHERE user <> "${SECRET}" AND user = ? LIMIT 1`;
    const rows = await Span.root('request').runToEnd(() => asked(client(), text, ['root']));
    expect(rows.map((row: object) => ({ ...row }))).toEqual([{ User: 'root' }]);
    const [root, span, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(span).toMatchObject({ name: 'SELECT mysql.user', kind: 'client', parentSpanId: root.spanId });
    expect(span.scope?.name).toBe('spanline/instrument/mysql');
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

  test('every form of the call is one span', async () => {
    instrumentOnly({ mysql: true });
    const connection = connected();
    await asked(connection, { sql: 'SELECT 1' });
    await asked(connection, { sql: 'SELECT ?', values: [1] });
    await asked(connection, { sql: 'SELECT ?' }, [1]);
    await heard(connection.query('SELECT 1 UNION SELECT 2'));
    await heard(connection.query('SELECT 1').stream().resume());
    await heard(poolOf().query('SELECT 3'));
    expect((await recorded()).map(({ name, status }) => [name, status.code])).toEqual(
      Array.from({ length: 6 }, () => ['SELECT', 'unset']),
    );
  });

  test('an error has the number of the server, and no word of its message; it is told of as ever', async () => {
    instrumentOnly({ mysql: true });
    const connection = connected();
    const wrong = `SELECT nothing FROM mysql.user WHERE user = '${SECRET}'`;
    await expect(asked(connection, wrong)).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
    await expect(heard(connection.query(wrong))).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
    const nobody = library('mysql').createConnection({ host: '127.0.0.1', port: 1 });
    await expect(asked(nobody, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const spans = await recorded();
    expect(spans.map(({ status, properties }) => [status.code, properties['error.type']])).toEqual([
      ['error', '1054'],
      ['error', '1054'],
      ['error', 'ECONNREFUSED'],
    ]);
    expect(spans[2].properties).not.toHaveProperty('db.response.status_code');
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(JSON.stringify(spans)).not.toContain('Unknown column');
  });

  test.each([
    ['', false],
    [', also once it is off', true],
  ])('what waits for an answer ends when its connection is destroyed, which tells nobody%s', async (_, isOff) => {
    const { disable } = instrument({ ...ALL_OFF, mysql: true });
    later(disable);
    const connection = connected();
    const reported: unknown[] = [];
    await asked(connection, 'SELECT 1');
    connection.query('SELECT SLEEP(60)', (error: unknown) => reported.push(error));
    connection.query('SELECT 2').on('end', () => reported.push('end'));
    if (isOff) disable();
    connection.destroy();
    expect((await recorded()).map(({ properties }) => properties['error.type'])).toEqual([
      undefined,
      'PROTOCOL_CONNECTION_LOST',
      'PROTOCOL_CONNECTION_LOST',
    ]);
    expect(reported).toEqual([]);
  });

  test('sixteen at once in a pool of two, each in its own trace', async () => {
    instrumentOnly({ mysql: true });
    const pool = poolOf(2);
    const seen = await askedBySixteen((i) => asked(pool, `SELECT 1 AS a${i}`), queryText);
    expect(seen).toEqual(eachItsOwn((i) => `SELECT ? AS a${i}`));
  });

  test('ignored, and without a parent', async () => {
    instrumentOnly({ mysql: { ignore: ({ text }) => text === 'SELECT ?, ?', requireParent: true } });
    const connection = connected();
    await Span.root('request').runToEnd(() => asked(connection, 'SELECT 1, 2'));
    await asked(connection, 'SELECT 1');
    expect((await recorded()).map(({ name }) => name)).toEqual(['request']);
  });
});
