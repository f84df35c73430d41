// What is asked of every version of mongodb, against a real server: the driver's commands as children of who asks, whoever else asks at the time.
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
import { type Ferretdb, hasFerretdb, startFerretdb } from './ferretdb.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
export type Untyped = any;

const SECRET = 'hunter2';
const CALLERS = 16;

export const inRoot = <T>(work: () => Promise<T>, name = 'request'): Promise<T> => Span.root(name).runToEnd(work);

/** The mongodb that is installed for the package `name`, or is it. */
export const mongodbOf = (name: string): Untyped =>
  name === 'mongodb' ? library(name) : createRequire(library.resolve(name))('mongodb');

export const describeMongodb = (name: string): void => {
  describe.skipIf(!hasFerretdb)(`mongodb of ${name}`, () => {
    let server: Ferretdb;
    let client: Untyped;
    let users: Untyped;
    beforeAll(async () => {
      server = await startFerretdb();
      client = await new (mongodbOf(name).MongoClient)(server.url, { maxPoolSize: 2 }).connect();
      users = client.db().collection('users');
      await users.createIndex({ name: 1 }, { unique: true });
      await users.insertMany(Array.from({ length: 6 }, (_, i) => ({ name: `${SECRET}${i}`, age: 7 })));
    }, 60_000);
    afterAll(async () => {
      await client?.close();
      await server?.stop();
    });

    test('a command has its collection and where it went, and is a child of who asks', async () => {
      instrumentOnly({ mongodb: true });
      expect(await inRoot(() => users.findOne({ name: `${SECRET}1` }))).toMatchObject({ age: 7 });
      const [root, span, ...others] = await recorded();
      expect(others).toEqual([]);
      expect(span).toMatchObject({ name: 'find users', kind: 'client', parentSpanId: root.spanId });
      expect(span.status.code).toBe('unset');
      expect(span.properties).toEqual({
        'db.system.name': 'mongodb',
        'db.namespace': 'shop',
        'db.operation.name': 'find',
        'db.collection.name': 'users',
        'db.query.summary': 'find users',
        'server.address': '127.0.0.1',
        'server.port': server.port,
      });
    });

    test('cursors, batches and commands', async () => {
      instrumentOnly({ mongodb: true });
      await inRoot(async () => {
        let found = 0;
        for await (const { age } of users.find({ age: 7 }, { batchSize: 2 })) found += age / 7;
        expect(found).toBe(6);
        await users.insertMany([{ name: 'a' }, { name: 'b' }]);
        await users.bulkWrite([
          { updateOne: { filter: { name: 'a' }, update: { $set: { age: 1 } } } },
          { deleteMany: { filter: { name: { $in: ['a', 'b'] } } } },
        ]);
        await client.db().command({ ping: 1 });
        await client
          .db()
          .command({ createUser: SECRET, pwd: SECRET, roles: [] })
          .catch(() => {});
      });
      const [root, ...spans] = await recorded();
      const seen = spans.map((span) => `${span.name} ${span.properties['db.operation.batch.size'] ?? ''}`.trim());
      expect(seen.filter((one) => one === 'getMore users').length).toBeGreaterThanOrEqual(2);
      expect(seen.filter((one) => one !== 'getMore users')).toEqual([
        'find users',
        'insert users 2',
        'update users',
        'delete users',
        'ping',
        'createUser',
      ]);
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    // FerretDB has none: what the driver sends for one is refused, in every step.
    test('a transaction is a span a step, with its end', async () => {
      instrumentOnly({ mongodb: true });
      await inRoot(async () => {
        const session = client.startSession();
        const work = (): Promise<unknown> => users.insertOne({ name: SECRET }, { session });
        await expect(session.withTransaction(work)).rejects.toThrow('autocommit');
        await session.endSession();
      });
      const [root, ...spans] = await recorded();
      expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
        ['insert users', 'error'],
        ['abortTransaction', 'error'],
      ]);
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
    });

    test('a stream of a cursor', async () => {
      instrumentOnly({ mongodb: true });
      const contexts = new Set<unknown>();
      await inRoot(
        () =>
          new Promise((resolve, reject) => {
            users
              .find({ age: 7 }, { batchSize: 2 })
              .stream()
              .on('data', () => contexts.add(Span.current()?.name))
              .on('error', reject)
              .on('end', resolve);
          }),
      );
      expect([...contexts]).toEqual(['request']);
      const [root, ...spans] = await recorded();
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
      expect(spans.length).toBeGreaterThanOrEqual(3);
    });

    test('an error has the code of the server, and no word of its message', async () => {
      instrumentOnly({ mongodb: true });
      await inRoot(async () => {
        await expect(users.insertOne({ name: `${SECRET}1` })).rejects.toMatchObject({ code: 11000 });
        await expect(users.insertMany([{ name: `${SECRET}1` }])).rejects.toMatchObject({ code: 11000 });
        await expect(client.db().command({ noSuchCommand: SECRET })).rejects.toMatchObject({ code: 59 });
      });
      const [, ...spans] = await recorded();
      expect(
        spans.map((span) => [
          span.name,
          span.status,
          span.properties['error.type'],
          span.properties['db.response.status_code'],
        ]),
      ).toEqual([
        ['insert users', { code: 'error', message: '11000' }, '11000', '11000'],
        ['insert users', { code: 'error', message: '11000' }, '11000', '11000'],
        ['noSuchCommand', { code: 'error', message: '59' }, '59', '59'],
      ]);
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('names are bounded', async () => {
      instrumentOnly({ mongodb: true });
      await inRoot(() =>
        client
          .db()
          .collection('c'.repeat(1000))
          .findOne({})
          .catch(() => {}),
      );
      const [, span] = await recorded();
      expect(span.name).toHaveLength(255);
      expect(span.properties['db.collection.name']).toBe('c'.repeat(255));
      expect(span.properties['db.query.summary']).toBe(span.name);
    });

    test('what waits for a connection belongs to its caller', async () => {
      instrumentOnly({ mongodb: true });
      const seen = await Promise.all(
        Array.from({ length: CALLERS }, (_, i) =>
          inRoot(async () => {
            await users.find({ age: 7 }, { batchSize: 2 }).toArray();
            await users.updateOne({ name: `${SECRET}1` }, { $set: { by: i } });
            await users.countDocuments({ age: 7 });
            return Span.current()?.name;
          }, `caller ${i}`),
        ),
      );
      expect(seen).toEqual(Array.from({ length: CALLERS }, (_, i) => `caller ${i}`));
      const spans = await recorded();
      const roots = spans.filter(({ kind }) => kind === 'internal');
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(roots.length);
      expect(roots.length).toBe(CALLERS);
      for (const root of roots) {
        const calls = spans.filter((span) => span.traceId === root.traceId && span !== root);
        expect(calls.every(({ parentSpanId }) => parentSpanId === root.spanId)).toBe(true);
        expect(calls.map((span) => span.name).filter((one) => one !== 'getMore users')).toEqual([
          'find users',
          'update users',
          'aggregate users',
        ]);
      }
    });

    test('what the driver does for itself has no span, and what is off none any more', async () => {
      instrumentOnly({ mongodb: { requireParent: true } });
      const other = new (mongodbOf(name).MongoClient)(server.url);
      later(() => other.close());
      await inRoot(() => other.connect());
      expect((await recorded()).map((span) => span.name)).toEqual(['request']);
      await other.db().command({ ping: 1 });
      expect(await recorded()).toEqual([]);
    });
  });
};
