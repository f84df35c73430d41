// Queries of postgres.js against a real server, in every form that they have, in its oldest version and the newest, by both systems of modules.
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
  later,
  queryText,
  recorded,
} from '../support.js';
import { hasPostgres, type Postgres, startPostgres } from './postgres.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

describe.skipIf(!hasPostgres)('postgres', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop());

  describe.each<[string, () => Promise<Untyped>]>([
    ['3.0', async () => library('postgres-3-0')],
    ['the newest', async () => library('postgres')],
    ['its ES module', async () => (await importLibrary('postgres')).default],
  ])('%s', (_, load) => {
    const connected = async (options: object = {}, max = 2): Promise<Untyped> => {
      const postgres = await load();
      instrumentOnly({ postgres: { module: postgres, ...options } });
      const sql = postgres({ host: server.host, user: 'test', database: 'postgres', max, onnotice: () => {} });
      later(() => sql.end());
      return sql;
    };
    const inRoot = (work: () => unknown): Promise<unknown> => Span.root('request').runToEnd(async () => await work());

    test('a query has its text without values', async () => {
      const sql = await connected();
      const rows = await inRoot(
        () =>
          sql`SELECT datname FROM pg_database WHERE datname <> 'hunter2' AND oid > ${1} AND datname = ${'postgres'}`,
      );
      expect(rows).toMatchObject([{ datname: 'postgres' }]);
      const [root, span, ...others] = await recorded();
      expect(others).toEqual([]);
      expect(span).toMatchObject({ name: 'SELECT pg_database', kind: 'client', parentSpanId: root.spanId });
      expect(span.properties).toEqual({
        'db.system.name': 'postgresql',
        'db.operation.name': 'SELECT',
        'db.query.text': 'SELECT datname FROM pg_database WHERE datname <> ? AND oid > $1 AND datname = $2',
        'db.query.summary': 'SELECT pg_database',
      });
    });

    test('a query that is settled is as it was: who keeps it keeps no trace', async () => {
      const sql = await connected();
      const [query, failing] = [sql`SELECT 1`, sql`SELECT nothing`];
      const before = [query.resolve, query.reject, failing.resolve, failing.reject];
      await inRoot(() => Promise.allSettled([query, failing]));
      expect([query.resolve, query.reject, failing.resolve, failing.reject]).toEqual(before);
      expect((await recorded()).map(({ status }) => status.code)).toEqual(['unset', 'unset', 'error']);
    });

    test('every form of it is one span', async () => {
      const sql = await connected();
      await sql.unsafe(`SELECT '${SECRET}', $1::int`, [1]);
      await sql`SELECT ${sql('oid')} FROM ${sql('pg_database')} WHERE ${sql`oid > ${1}`} AND datname IN ${sql(['a'])}`;
      const query = sql`SELECT 1`;
      expect(await Promise.all([query, query])).toHaveLength(2);
      await sql`SELECT 2`.execute();
      let rows = 0;
      for await (const batch of sql`SELECT generate_series(1, 4)`.cursor(2)) rows += batch.length;
      await sql`SELECT generate_series(1, 4)`.forEach(() => {
        rows++;
      });
      expect(rows).toBe(8);
      const texts = (await recorded()).map(({ properties }) => properties['db.query.text']);
      expect(texts).toEqual([
        'SELECT ?, $1::int',
        'SELECT "oid" FROM "pg_database" WHERE oid > $1 AND datname IN ?',
        'SELECT ?',
        'SELECT ?',
        'SELECT generate_series(?, ?)',
        'SELECT generate_series(?, ?)',
      ]);
    });

    test('one template has the text of what is put into it each time', async () => {
      const sql = await connected();
      const oids = (some: unknown): Untyped => sql`SELECT oid FROM pg_database WHERE ${some}`;
      const given = [true, sql`oid > ${1}`, false, null, sql`datname = ${'a'}`];
      for (const some of given) await oids(some);
      // Strings that the program can change are read each time.
      const strings = Object.assign(['SELECT ', '::int'], { raw: ['SELECT ', '::int'] });
      await sql(strings, 1);
      strings[1] = '::text';
      await sql(strings, 1);
      expect((await recorded()).map(({ properties }) => properties['db.query.text'])).toEqual([
        'SELECT oid FROM pg_database WHERE $1',
        'SELECT oid FROM pg_database WHERE oid > $1',
        'SELECT oid FROM pg_database WHERE $1',
        'SELECT oid FROM pg_database WHERE $1',
        'SELECT oid FROM pg_database WHERE datname = $1',
        'SELECT $1::int',
        'SELECT $1::text',
      ]);
    });

    test('a transaction is a span a query', async () => {
      const sql = await connected();
      await inRoot(() =>
        sql.begin(async (inside: Untyped) => {
          await inside`SELECT 1`;
          expect(Span.current()?.name).toBe('request');
        }),
      );
      const [root, ...spans] = await recorded();
      expect(spans.map(({ properties }) => String(properties['db.query.text']).trim())).toEqual([
        'begin',
        'SELECT ?',
        'commit',
      ]);
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
    });

    test('an error has the code of the server, and no word of its message', async () => {
      const sql = await connected();
      await expect(sql`SELECT nothing FROM pg_database WHERE datname = ${SECRET}`).rejects.toMatchObject({
        code: '42703',
      });
      const nobody = (await load())({ host: '127.0.0.1', port: 1, max: 1 });
      await expect(nobody`SELECT 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await nobody.end();
      const spans = await recorded();
      expect(spans.map(({ status, properties }) => [status.code, properties['error.type']])).toEqual([
        ['error', '42703'],
        ['error', 'ECONNREFUSED'],
      ]);
      expect(spans[1].properties).not.toHaveProperty('db.response.status_code');
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('a value is not looked at', async () => {
      const sql = await connected();
      const value = {
        get strings(): never {
          throw new Error('looked at');
        },
        get value(): never {
          throw new Error('looked at');
        },
        toString: () => 'a',
      };
      expect(await sql`SELECT ${value}::text AS a`).toEqual([{ a: 'a' }]);
      const [span] = await recorded();
      expect(span.properties['db.query.text']).toBe('SELECT $1::text AS a');
    });

    test('rows come in the context of the caller', async () => {
      const sql = await connected();
      const series = (from: Untyped): Untyped => from`SELECT generate_series(1, 2)`;
      expect(
        await contextsOf((note, done) => {
          const all = [
            series(sql).forEach(() => {
              note('row');
            }),
            series(sql).then(() => note('rows')),
          ];
          void Promise.all(all).then(() => note('all', done));
        }),
      ).toEqual(['all: own', 'row: own', 'rows: own']);
      // postgres 3.0 loses a cursor where its connection is given another query meanwhile.
      const wide = await connected({}, 3);
      expect(
        await contextsOf((note, done) => {
          void series(wide)
            .cursor(1, () => note('batch'))
            .then(() => note('all', done));
        }),
      ).toEqual(['all: own', 'batch: own']);
    });

    test('sixteen at once over two connections, each in its own trace', async () => {
      const sql = await connected();
      const asked = await askedBySixteen((i) => sql.unsafe(`SELECT 1 AS a${i}`), queryText);
      expect(asked).toEqual(eachItsOwn((i) => `SELECT ? AS a${i}`));
    });

    test('ignored, and without a parent', async () => {
      const sql = await connected({ ignore: ({ text }: { text: string }) => text === 'SELECT ?', requireParent: true });
      await inRoot(() => sql`SELECT 1`);
      await sql`SELECT 1, 2`;
      expect((await recorded()).map(({ name }) => name)).toEqual(['request']);
    });
  });

  test('found when it is loaded, and as it was when taken back', async () => {
    const { disable } = instrument({ ...ALL_OFF, postgres: true });
    later(disable);
    const sql = library('postgres')({ host: server.host, user: 'test', database: 'postgres', max: 1 });
    later(() => sql.end());
    await sql`SELECT 1`;
    disable();
    await sql`SELECT 2, 3`;
    expect((await recorded()).map(({ properties }) => properties['db.query.text'])).toEqual(['SELECT ?']);
  });
});
