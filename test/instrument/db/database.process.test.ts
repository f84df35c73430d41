// An operation that is kept describes the next span as its last one: only where it goes to the same server, by the same instrumentation.
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { Database, type Server, sqlOperation } from '../../../src/instrument/db/database.js';
import { spanOf } from '../../../src/instrument/measures.js';
import { recorded } from '../support.js';

test('one operation, of several servers and systems', async () => {
  const one = new Database('one', 'postgresql', {});
  const other = new Database('other', 'sqlite', {});
  const operation = sqlOperation('SELECT title FROM books WHERE id = 7');
  const shop: Server = { database: 'shop', serverAddress: 'a', serverPort: 1 };
  const calls: [Database, Server][] = [
    [one, shop],
    [one, { ...shop }],
    [one, { ...shop, database: 'stock' }],
    [one, { ...shop, serverAddress: 'b' }],
    [one, { ...shop, serverPort: 2 }],
    [one, { ...shop, serverPort: '2' }],
    [one, { ...shop, serverPort: '/run/db.sock' }],
    [one, { ...shop, serverPort: '' }],
    [other, {}],
    [one, shop],
  ];
  Span.root('request').runToEnd(() => {
    for (const [database, server] of calls) {
      const begun = database.start(server, operation);
      if (begun === undefined) continue;
      // Of this one alone.
      if (server === shop) spanOf(begun)?.addProperty('own', true);
      database.end(begun, undefined);
    }
  });
  const [, ...spans] = await recorded();
  const shown = spans.map(({ properties: { own, ...properties } }) => [
    ...['db.system.name', 'db.namespace', 'server.address', 'server.port'].map((key) => properties[key]),
    own,
    Object.keys(properties).length,
  ]);
  expect(shown).toEqual([
    ['postgresql', 'shop', 'a', 1, true, 7],
    ['postgresql', 'shop', 'a', 1, undefined, 7],
    ['postgresql', 'stock', 'a', 1, undefined, 7],
    ['postgresql', 'shop', 'b', 1, undefined, 7],
    ['postgresql', 'shop', 'a', 2, undefined, 7],
    ['postgresql', 'shop', 'a', 2, undefined, 7],
    ['postgresql', 'shop', 'a', undefined, undefined, 6],
    ['postgresql', 'shop', 'a', undefined, undefined, 6],
    ['sqlite', undefined, undefined, undefined, undefined, 4],
    ['postgresql', 'shop', 'a', 1, true, 7],
  ]);
});
