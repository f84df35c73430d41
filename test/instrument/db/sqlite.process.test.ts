// Queries of `node:sqlite`, in a Node that tells of them.
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { instrumentOnly, recorded } from '../support.js';

// Types of Node 20 have none of it.
interface Sqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    exec(sql: string): void;
    prepare(sql: string): { run(...values: readonly string[]): unknown };
    close(): void;
  };
}

const SECRET = 'hunter2';

test.skipIf(Number.parseInt(process.versions.node, 10) < 26)('a query is a child, without its values', async () => {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as Sqlite;
  instrumentOnly({ sqlite: true });
  const root = Span.root('request');
  root.run(() => {
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE users (name TEXT)');
    database.prepare('INSERT INTO users VALUES (?)').run(SECRET);
    database.close();
  });
  root.end();
  const spans = await recorded();
  expect(JSON.stringify(spans)).not.toContain(SECRET);
  expect(spans.slice(1).map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ['CREATE users', spans[0].spanId],
    ['INSERT users', spans[0].spanId],
  ]);
  expect(spans[2].properties).toEqual({
    'db.system.name': 'sqlite',
    'db.operation.name': 'INSERT',
    'db.query.text': 'INSERT INTO users VALUES (?)',
    'db.query.summary': 'INSERT users',
  });
});
