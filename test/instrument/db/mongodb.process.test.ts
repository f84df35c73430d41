// Commands of the newest mongodb, and of a connection that does what no server does; older versions are in mongodb.full.test.ts.
import { expect, test } from 'vitest';
import { Span, stats } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { ALL_OFF, instrumentOnly, recorded } from '../support.js';
import { describeMongodb, inRoot, type Untyped } from './mongodb-cases.js';

describeMongodb('mongodb');

/** What a connection answers to the next command. */
let answer: () => unknown = () => undefined;

const fakeDriver = (): Untyped => {
  class Connection {
    address = '[::1]:27017';
    command(this: Untyped, ...args: unknown[]): unknown {
      expect(this).toBeInstanceOf(Connection);
      const callback = args[3] as Untyped;
      if (typeof callback === 'function' && callback.toString().startsWith('class') === false) {
        setImmediate(() => callback.call('receiver', null, { ok: 1 }, 'more'));
      }
      return answer();
    }
  }
  return { Connection };
};

const NAMESPACE = { db: 'shop' };

test('of a batch for several collections the first write that was refused has the code', async () => {
  const module = fakeDriver();
  instrumentOnly({ mongodb: { module } });
  const connection = new module.Connection();
  const answers = [
    { ok: 1, nErrors: 0, cursor: { firstBatch: [{ ok: 1, idx: 0 }] } },
    {
      ok: 1,
      nErrors: 1,
      cursor: {
        firstBatch: [
          { ok: 1, idx: 0 },
          { ok: 0, idx: 1, code: 11000 },
        ],
      },
    },
    { ok: 1, nErrors: 1, cursor: { firstBatch: [] } },
  ];
  // The driver hands on answers that are read when they are asked for.
  const lazy = (one: object) => ({ has: (name: string) => name in one, toObject: () => one });
  for (const one of [...answers, ...answers.map(lazy)]) {
    answer = async () => one;
    await connection.command(NAMESPACE, { bulkWrite: 1, ops: [{}, {}] });
  }
  const spans = (await recorded()).map(({ status, properties }) => [
    status.message ?? '',
    properties['db.response.status_code'],
  ]);
  const expected = [
    ['', undefined],
    ['11000', '11000'],
    ['_OTHER', undefined],
  ];
  expect(spans).toEqual([...expected, ...expected]);
});

test('a command gives what it gave, whatever that is', async () => {
  const module = fakeDriver();
  instrumentOnly({ mongodb: { module } });
  const connection = new module.Connection();
  const command = (...args: unknown[]): unknown => connection.command(NAMESPACE, { find: 'users' }, ...args);
  expect(connection.command.name).toBe('command');
  answer = () => 7;
  expect(command()).toBe(7);
  answer = () => null;
  expect(command()).toBe(null);
  answer = () => {
    throw new TypeError('wrong');
  };
  expect(command).toThrow(TypeError);
  answer = () => Promise.reject(new RangeError('wrong'));
  await expect(command({}, class Response {})).rejects.toThrow(RangeError);
  answer = () => undefined;
  await inRoot(
    () =>
      new Promise<void>((resolve) => {
        const own = Span.current();
        command({}, function (this: unknown, ...args: unknown[]) {
          expect([String(this), ...args]).toEqual(['receiver', null, { ok: 1 }, 'more']);
          expect(Span.current()).toBe(own);
          resolve();
        });
      }),
  );
  const spans = (await recorded()).filter(({ kind }) => kind === 'client');
  expect(spans.map(({ status }) => status.message ?? '')).toEqual(['', '', 'TypeError', 'RangeError', '']);
  expect(spans[0].properties).toMatchObject({ 'server.address': '::1', 'server.port': 27017 });
});

test('what is not a command, and an answer that cannot be read, cost the program nothing', async () => {
  const module = fakeDriver();
  instrumentOnly({ mongodb: { module } });
  const connection = new module.Connection();
  const before = stats().instrumentationErrors;
  const broken = {
    ok: 1,
    has() {
      throw new Error('broken');
    },
    toObject() {},
  };
  answer = () => Promise.resolve(broken);
  expect(await connection.command(NAMESPACE, { insert: 'users', documents: [] })).toBe(broken);
  answer = () => Promise.resolve('done');
  expect(await connection.command()).toBe('done');
  expect(await connection.command(NAMESPACE, null)).toBe('done');
  expect(stats().instrumentationErrors - before).toBe(1);
});

test('a step of a cursor that waits until something comes has a span in traced work alone', async () => {
  const module = fakeDriver();
  instrumentOnly({ mongodb: { module } });
  const connection = new module.Connection();
  answer = () => Promise.resolve({ ok: 1 });
  const waiting = { getMore: 7n, collection: 'users', maxTimeMS: 1000 };
  await connection.command(NAMESPACE, waiting);
  expect(await recorded()).toEqual([]);
  await inRoot(() => connection.command(NAMESPACE, waiting));
  expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'getMore users']);
});

test('what the program has put around it stays, and is not ours to take away', async () => {
  const module = fakeDriver();
  const { command } = module.Connection.prototype;
  const before = instrument({ ...ALL_OFF, mongodb: { module } });
  const ours = module.Connection.prototype.command;
  const own = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(ours, this, args);
  };
  expect(ours).not.toBe(command);
  module.Connection.prototype.command = own;
  answer = () => Promise.resolve({ ok: 1 });
  await inRoot(() => new module.Connection().command(NAMESPACE, { ping: 1 }));
  expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'ping']);
  before.disable();
  expect(module.Connection.prototype.command).toBe(own);
  await inRoot(() => new module.Connection().command(NAMESPACE, { ping: 1 }));
  expect((await recorded()).map(({ name }) => name)).toEqual(['request']);
  instrumentOnly({ mongodb: { module } });
  await inRoot(() => new module.Connection().command(NAMESPACE, { ping: 1 }));
  expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'ping']);
});
