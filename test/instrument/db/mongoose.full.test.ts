// Operations of mongoose against a real server: saves, queries, aggregates, cursors, batches and what fails, without filters and documents.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { library } from '../libraries.js';
import { instrumentOnly, recorded } from '../support.js';
import { type Ferretdb, hasFerretdb, startFerretdb } from './ferretdb.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

test('a listener for a cursor that is not open yet can be taken away', () => {
  instrumentOnly({ mongoose: true });
  const { createConnection, Schema } = library('mongoose');
  const cursor = createConnection()
    .model('User', new Schema({ name: String }))
    .find()
    .cursor();
  const heard: string[] = [];
  const [kept, taken] = ['kept', 'taken'].map((name) => () => void heard.push(name));
  cursor.once('cursor', kept).once('cursor', taken);
  expect(cursor.listeners('cursor')).toEqual([kept, taken]);
  cursor.off('cursor', taken);
  cursor.emit('cursor', null);
  cursor.emit('cursor', null);
  expect(heard).toEqual(['kept']);
});

describe.skipIf(!hasFerretdb)('mongoose', () => {
  let server: Ferretdb;
  let connection: Untyped;
  let User: Untyped;
  beforeAll(async () => {
    server = await startFerretdb();
    const { createConnection, Schema } = library('mongoose');
    connection = await createConnection(server.url).asPromise();
    User = connection.model('User', new Schema({ name: { type: String, unique: true }, age: Number }));
    await User.init();
  }, 60_000);
  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  });

  beforeEach(async () => {
    await User.deleteMany({});
  });
  /** Who is there already, untraced. */
  const haveUser = (): Promise<void> => User.create({ name: SECRET, age: 7 });

  const inRoot = <T>(work: () => Promise<T>): Promise<T> => Span.root('request').runToEnd(work);

  test('an operation has its collection and where it went, and is a child of who asks', async () => {
    instrumentOnly({ mongoose: true });
    await inRoot(() => new User({ name: SECRET, age: 7 }).save());
    const [root, span, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(span).toMatchObject({ name: 'save users', kind: 'client', parentSpanId: root.spanId });
    expect(span.properties).toEqual({
      'db.system.name': 'mongodb',
      'db.namespace': 'shop',
      'db.operation.name': 'save',
      'db.collection.name': 'users',
      'db.query.summary': 'save users',
      'server.address': '127.0.0.1',
      'server.port': server.port,
    });
  });

  test('queries, aggregates, cursors and batches', async () => {
    await haveUser();
    instrumentOnly({ mongoose: true });
    await inRoot(async () => {
      expect((await User.findOne({ name: SECRET })).age).toBe(7);
      await User.updateOne({ name: SECRET }, { age: 8 });
      await User.aggregate([{ $match: { name: SECRET } }]);
      for await (const user of User.find({ name: SECRET }).cursor()) expect(user.age).toBe(8);
      await User.insertMany([{ name: `${SECRET}2` }, { name: `${SECRET}3` }]);
      await User.bulkWrite([{ deleteOne: { filter: { name: `${SECRET}3` } } }]);
    });
    const spans = await recorded();
    const calls = spans.filter(({ kind }) => kind === 'client');
    const named = (name: string): number => calls.filter((span) => span.name === name).length;
    expect(
      ['findOne', 'updateOne', 'aggregate', 'insertMany', 'bulkWrite'].map((name) => named(`${name} users`)),
    ).toEqual([1, 1, 1, 1, 1]);
    // One for the document, and one for the end.
    expect(calls.length).toBe(7);
    const root = spans.find(({ name }) => name === 'request');
    for (const { parentSpanId } of calls) expect(parentSpanId).toBe(root?.spanId);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test.each(['for await', 'next'])('of a cursor of an aggregate the driver has no span of its own: %s', async (by) => {
    await haveUser();
    instrumentOnly({ mongoose: true, mongodb: true });
    await inRoot(async () => {
      const cursor = User.aggregate([{ $match: { name: SECRET } }]).cursor();
      if (by === 'next') expect((await cursor.next()).age).toBe(7);
      else for await (const { age } of cursor) expect(age).toBe(7);
    });
    const [root, ...spans] = [...(await recorded())].sort((a, b) => Number(a.startUnixNs - b.startUnixNs));
    expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual(
      (by === 'next' ? [1] : [1, 2]).map(() => ['aggregate users', root.spanId]),
    );
    expect(spans.map(({ scope }) => scope?.name)).toEqual(spans.map(() => 'spanline/instrument/mongoose'));
  });

  test('an error has the code of the server, and no word of its message', async () => {
    await haveUser();
    instrumentOnly({ mongoose: true });
    await expect(User.create({ name: SECRET })).rejects.toThrow();
    await expect(User.findOne({ age: SECRET })).rejects.toThrow(SECRET);
    const spans = await recorded();
    expect(spans.map(({ name, status, properties }) => [name, status, properties['db.response.status_code']])).toEqual([
      ['save users', { code: 'error', message: '11000' }, '11000'],
      ['findOne users', { code: 'error', message: 'CastError' }, undefined],
    ]);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test('what comes behind a call belongs to its caller', async () => {
    instrumentOnly({ mongoose: true });
    const names = ['first', 'second', 'third'];
    const seen = await Promise.all(
      names.map((name) =>
        Span.root(name).runToEnd(async () => {
          await User.find({ age: 8 });
          return Span.current()?.name;
        }),
      ),
    );
    expect(seen).toEqual(names);
  });
});
