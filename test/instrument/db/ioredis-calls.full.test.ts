// ioredis before 5.11 by wrapped functions: in the oldest versions too, in a cluster, and without a change that a program would see.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../scripts/lib/local-ports.mjs';
import { Span } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { out } from '../../support/child.js';
import { installedAs } from '../installed-as.js';
import { library } from '../libraries.js';
import { instrumentOnly, later, recorded, when } from '../support.js';
import { describeIoredis, unhandledReasons } from './ioredis-cases.js';
import { hasRedis, type RedisServer, startRedis } from './redis-server.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const VERSIONS = ['ioredis-4-0', 'ioredis-4', 'ioredis-5-0', 'ioredis-5-10'].map(
  (alias) => [alias, installedAs('ioredis', alias)] as const,
);

let server: RedisServer | undefined;
const nodes: RedisServer[] = [];

beforeAll(async () => {
  if (!hasRedis) return;
  server = await startRedis();
  for (const name of ['one', 'two']) {
    const folder = join(out, `cluster-${name}`);
    mkdirSync(folder);
    const options = ['--cluster-enabled', 'yes', '--dir', folder, '--cluster-port', String(await freePort())];
    nodes.push(await startRedis(options));
  }
});
afterAll(() => Promise.all([server, ...nodes].map((one) => one?.stop())));

const portOf = (one: RedisServer | undefined): number => one?.port ?? 0;

for (const [alias, { require }] of VERSIONS) {
  describeIoredis(
    alias,
    () => require('ioredis'),
    () => portOf(server),
  );
}

const classOf = (ioredis: Untyped): Untyped => ioredis.Redis ?? ioredis;

const made = (ioredis: Untyped, options = {}, port = portOf(server)): Untyped => {
  const client = new (classOf(ioredis))({ port, host: '127.0.0.1', ...options });
  later(() => client.disconnect());
  return client;
};

describe.skipIf(!hasRedis).each(VERSIONS)('%s', (_, { require, import: load }) => {
  test('a failure that nobody looks after stays unhandled, one that is looked after does not', async () => {
    instrumentOnly({ ioredis: true });
    const client = made(require('ioredis'));
    await client.set('text', 'text');
    const reasons = unhandledReasons();
    await client.incr('text').catch(() => {});
    await new Promise<void>((resolve) => client.incr('text', () => resolve()));
    await new Promise<void>((resolve) =>
      client
        .multi()
        .call('NOSUCH')
        .exec(() => resolve()),
    );
    client.incr('text');
    await client.ping();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reasons).toEqual(['ERR value is not an integer or out of range']);
  });

  test('what a program calls looks as it did, gives what it gave and throws what it threw', async () => {
    const ioredis = require('ioredis');
    const senders = [classOf(ioredis), ioredis.Cluster, ioredis.Pipeline].map(({ prototype }) => prototype);
    const shapes = () =>
      senders.flatMap((prototype) =>
        ['sendCommand', 'multi', 'pipeline']
          .map((name) => prototype[name])
          .filter((method) => method !== undefined)
          .map((method) => [method.name, method.length, Object.keys(method)]),
      );
    const functions = () => senders.map(({ sendCommand, multi }) => [sendCommand, multi]);
    const [before, originals] = [shapes(), functions()];
    for (let i = 0; i < 2; i++) {
      const { disable } = instrument({ http: false, ioredis: true });
      later(disable);
      expect(shapes()).toEqual(before);
      disable();
      expect(functions()).toEqual(originals);
    }
    instrumentOnly({ ioredis: true });
    const client = made(ioredis);
    const command = new ioredis.Command('get', ['a'], { replyEncoding: 'utf8' });
    expect(client.sendCommand(command)).toBe(command.promise);
    expect(() => client.sendCommand()).toThrow(TypeError);
    await command.promise;
    const transaction = client.multi();
    expect(transaction.get('a')).toBe(transaction);
    expect(client.multi({ pipeline: false })).toBeInstanceOf(Promise);
    await client.get('a');
    expect(await client.exec()).toHaveLength(1);
    await transaction.exec();
  });

  test('what a program has put around ours: a span each, and none once it is off', async () => {
    const { prototype } = classOf(require('ioredis'));
    const original = prototype.sendCommand;
    const first = instrument({ http: false, ioredis: true });
    later(first.disable);
    const inner = prototype.sendCommand;
    prototype.sendCommand = function (...args: unknown[]) {
      return inner.apply(this, args);
    };
    later(() => {
      prototype.sendCommand = original;
    });
    first.disable();
    const client = made(require('ioredis'));
    await client.ping();
    expect(await recorded()).toEqual([]);
    instrumentOnly({ ioredis: true });
    await Span.root('request').runToEnd(() => client.get('a'));
    expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'GET']);
  });

  test('imported, and handed over', async () => {
    const { default: Imported } = await load('ioredis');
    instrumentOnly({ ioredis: { module: Imported } });
    const client = new Imported({ port: portOf(server), host: '127.0.0.1' });
    later(() => client.disconnect());
    await Span.root('request').runToEnd(() => client.get('a'));
    expect((await recorded()).filter(({ name }) => name === 'GET')).toHaveLength(1);
  });

  test('a command in a cluster is one span of its caller, also where it is redirected', async () => {
    const ioredis = require('ioredis');
    const [one, two] = nodes.map(({ port }) => made(ioredis, {}, port));
    await formCluster(one, two);
    instrumentOnly({ ioredis: true });
    const cluster = new ioredis.Cluster([{ port: portOf(nodes[0]), host: '127.0.0.1' }]);
    later(() => cluster.disconnect());
    for (const key of ['a', 'b']) await cluster.get(key);
    // Its table of slots is old now.
    const slot = await one.cluster('keyslot', 'b');
    const [from, to] = slot < HALF ? [one, two] : [two, one];
    await moveSlot(slot, from, to);
    await recorded();
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        Span.root(`request ${n}`).runToEnd(async () => {
          await cluster.get('b');
          await cluster.pipeline().get('a').get('a').exec();
        }),
      ),
    );
    const spans = await recorded();
    await moveSlot(slot, to, from);
    for (let n = 0; n < 16; n++) {
      const root = spans.find(({ name }) => name === `request ${n}`);
      const own = spans.filter(({ traceId, name }) => traceId === root?.traceId && name === 'GET');
      expect(own.map(({ status, parentSpanId }) => [status.code, parentSpanId === root?.spanId])).toEqual([
        ['unset', true],
        ['unset', true],
        ['unset', true],
      ]);
    }
  });
});

const EACH = [...VERSIONS, ['ioredis', { require: library }]] as const;

describe.skipIf(!hasRedis).each(EACH)('%s', (_, { require }) => {
  test('a command that waits for its node, which sends it on, has come to what the other answers', async () => {
    const ioredis = require('ioredis');
    const [one, two] = nodes.map(({ port }) => made(ioredis, {}, port));
    await formCluster(one, two);
    const slot = await one.cluster('keyslot', 'b');
    const [from, to] = slot < HALF ? [one, two] : [two, one];
    instrumentOnly({ ioredis: true });
    const cluster = new ioredis.Cluster([{ port: to.options.port, host: '127.0.0.1' }]);
    later(() => cluster.disconnect());
    await new Promise((resolve) => cluster.once('ready', resolve));
    await moveSlot(slot, from, to);
    await recorded();
    await Span.root('request').runToEnd(() => cluster.get('b'));
    const spans = await recorded();
    await moveSlot(slot, to, from);
    const root = spans.find(({ name }) => name === 'request');
    const own = spans.filter(({ traceId, name }) => traceId === root?.traceId && name === 'GET');
    expect(own.map(({ status }) => status.code)).toEqual(['unset']);
  });
});

const HALF = 8192;

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Each node tells the other what it has, and the one with the newer epoch is believed. */
const moveSlot = async (slot: number, from: Untyped, to: Untyped): Promise<void> => {
  await to.cluster('bumpepoch');
  for (const node of [to, from]) await node.cluster('setslot', slot, 'node', await to.cluster('myid'));
};

/** Two nodes with half of the slots each, unless they are that already. */
const formCluster = async (one: Untyped, two: Untyped): Promise<void> => {
  const isFormed = async (node: Untyped) =>
    /cluster_state:ok[\s\S]*cluster_known_nodes:2/.test(await node.cluster('info'));
  if (!(await isFormed(one))) {
    const [, bus] = /@(\d+)\S* myself/.exec(await two.cluster('nodes')) ?? [];
    await one.cluster('meet', '127.0.0.1', two.options.port, bus);
    await one.cluster('addslots', ...range(0, HALF - 1));
    await two.cluster('addslots', ...range(HALF, 2 * HALF - 1));
  }
  for (const node of [one, two]) await when(() => isFormed(node));
};
