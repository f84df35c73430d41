// Queries of pg that are read piece by piece, by pg-cursor and pg-query-stream: one span each, with its text, however it ends.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { library } from '../libraries.js';
import { instrumentOnly, later, settled } from '../support.js';
import { hasPostgres, type Postgres, startPostgres } from './postgres.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const ROWS = 'SELECT * FROM generate_series(1, 500) AS n WHERE n > $1';
const WRONG = 'SELECT 1 / (n - 1) FROM generate_series(1, 500) AS n WHERE n > $1';

describe.skipIf(!hasPostgres)('pg, piece by piece', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  const connected = async (): Promise<Untyped> => {
    const client = new (library('pg').Client)({ host: postgres.host, user: 'test', database: 'postgres' });
    await client.connect();
    later(() => client.end());
    return client;
  };

  const shown = async (): Promise<unknown> => {
    const spans = await settled(1);
    return spans.map(({ name, status, properties }) => [
      name,
      status.code,
      properties['db.query.text'],
      properties['error.type'],
    ]);
  };
  const fine = (text: string) => [
    ['SELECT generate_series', 'unset', text.replace('500', '?').replace('(1', '(?'), undefined],
  ];
  const failed = (text: string) => [
    [
      'SELECT generate_series',
      'error',
      text.replace(/\b(?:1|500)\b/g, (one, at) => (text[at - 1] === '$' ? one : '?')),
      '22012',
    ],
  ];

  const ways: [string, (client: Untyped) => Promise<unknown>][] = [
    [
      'a cursor to its end',
      async (client) => {
        const cursor = client.query(new (library('pg-cursor'))(ROWS, [0]));
        while ((await cursor.read(300)).length > 0);
      },
    ],
    [
      'a cursor that is closed',
      async (client) => {
        const cursor = client.query(new (library('pg-cursor'))(ROWS, [0]));
        await cursor.read(3);
        await cursor.close();
      },
    ],
    [
      'a stream to its end',
      async (client) => {
        let count = 0;
        for await (const row of client.query(new (library('pg-query-stream'))(ROWS, [0])))
          count += row === null ? 0 : 1;
        expect(count).toBe(500);
      },
    ],
    [
      'a stream that is broken out of',
      async (client) => {
        for await (const row of client.query(new (library('pg-query-stream'))(ROWS, [0]))) if (row !== null) break;
      },
    ],
  ];
  test.each(ways)('%s', async (_, read) => {
    instrumentOnly({ pg: true });
    await read(await connected());
    expect(await shown()).toEqual(fine(ROWS));
  });

  test.each<[string, (client: Untyped) => Promise<unknown>]>([
    ['a cursor', (client) => client.query(new (library('pg-cursor'))(WRONG, [0])).read(10)],
    [
      'a stream',
      async (client) => {
        for await (const row of client.query(new (library('pg-query-stream'))(WRONG, [0])))
          if (row === undefined) break;
      },
    ],
  ])('%s whose query fails', async (_, read) => {
    instrumentOnly({ pg: true });
    await expect(read(await connected())).rejects.toThrow('division by zero');
    expect(await shown()).toEqual(failed(WRONG));
  });
});
