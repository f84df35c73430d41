// mongoose beside its driver: one span an operation, of mongoose where that has channels, else of the driver; also of what waits for the connection.
import { describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded } from '../support.js';
import { hasFerretdb, startFerretdb } from './ferretdb.js';
import { inRoot, type Untyped } from './mongodb-cases.js';

const CALLERS = 16;

const OF_DRIVER = ['insert users', 'find users', 'update users', 'aggregate users', 'find users', 'delete users'];
// Of the cursor one for the document, and one for the end.
const OF_MONGOOSE = ['save', 'findOne', 'updateOne', 'aggregate', 'find', 'find', 'deleteOne'].map(
  (one) => `${one} users`,
);

describe.skipIf(!hasFerretdb).each(['mongoose', 'mongoose-9-0', 'mongoose-8', 'mongoose-8-0', 'mongoose-7'])(
  '%s',
  (name) => {
    const hasChannels = name === 'mongoose';

    const on = (): void => instrumentOnly({ mongodb: true, mongoose: { module: library(name) } });

    const connect = async (): Promise<Untyped> => {
      const server = await startFerretdb();
      later(() => server.stop());
      const { createConnection, Schema } = library(name) as Untyped;
      const connection = createConnection(server.url, { maxPoolSize: 2, autoIndex: false, autoCreate: false });
      later(() => connection.close());
      return { connection, User: connection.model('User', new Schema({ name: String, age: Number })) };
    };

    test('one span an operation', async () => {
      on();
      const { connection, User } = await connect();
      await connection.asPromise();
      await recorded();
      await inRoot(async () => {
        const user = await new User({ name: 'a', age: 7 }).save();
        expect((await User.findOne({ name: 'a' })).age).toBe(7);
        await User.updateOne({ name: 'a' }, { age: 8 });
        await User.aggregate([{ $match: { name: 'a' } }]);
        for await (const { age } of User.find({ name: 'a' }).cursor()) expect(age).toBe(8);
        await user.deleteOne();
      });
      const [root, ...spans] = await recorded();
      expect(spans.map((span) => span.name)).toEqual(hasChannels ? OF_MONGOOSE : OF_DRIVER);
      expect(new Set(spans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
    });

    test('what is called before the connection is there belongs to its caller', async () => {
      on();
      const { connection, User } = await connect();
      const callers = Array.from({ length: CALLERS }, (_, i) =>
        inRoot(async () => {
          await User.findOne({ age: i });
          await User.updateOne({ age: i }, { age: i });
          return Span.current()?.name;
        }, `caller ${i}`),
      );
      await inRoot(() => connection.asPromise(), 'connecting');
      expect(await Promise.all(callers)).toEqual(callers.map((_, i) => `caller ${i}`));
      const spans = await recorded();
      for (const root of spans.filter((span) => span.name.startsWith('caller'))) {
        const calls = spans.filter((span) => span.traceId === root.traceId && span !== root);
        expect(calls.map((span) => span.name)).toEqual(
          hasChannels ? ['findOne users', 'updateOne users'] : ['find users', 'update users'],
        );
        expect(calls.every(({ parentSpanId }) => parentSpanId === root.spanId)).toBe(true);
      }
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(CALLERS + 1);
    });

    test('the driver beside it: what is called of it by itself is traced', async () => {
      on();
      const { connection } = await connect();
      await connection.asPromise();
      await recorded();
      await inRoot(() => connection.db.collection('users').findOne({}));
      expect((await recorded()).map((span) => span.name)).toEqual(['request', 'find users']);
    });
  },
);
