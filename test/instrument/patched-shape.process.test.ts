// Functions that are patched look as they did: name, length and what they have of their own, whoever looks while instrumentation is on.
import channels from 'node:diagnostics_channel';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import Module from 'node:module';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { expect, test } from 'vitest';
import { instrument } from '../../src/instrument/index.js';
import { library } from './libraries.js';
import { later, serve } from './support.js';

/** Every function that an object has, also from above it, with its shape. */
const shapesOf = (object: object): Record<string, unknown> => {
  const shapes: Record<string, unknown> = {};
  for (
    let owner: object | null = object;
    owner !== null && owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner)
  ) {
    for (const key of Reflect.ownKeys(owner)) {
      const value: unknown = Reflect.getOwnPropertyDescriptor(owner, key)?.value;
      if (typeof value !== 'function' || String(key) in shapes) continue;
      shapes[String(key)] = [
        value.name,
        value.length,
        Reflect.ownKeys(value)
          .map(String)
          .sort()
          // Functions that are not strict have more.
          .filter((own) => !['prototype', 'arguments', 'caller'].includes(own)),
      ];
    }
  }
  return shapes;
};

/** What a file exports that its package keeps to itself. */
const internal = (name: string, file: string): Record<string, { prototype: object }> =>
  library(join(library.resolve.paths(name)?.[0] ?? '', name, file));

test('of Node and of libraries', () => {
  const server = http2.createServer();
  const { Client, Pool } = library('pg') as Record<string, { prototype: object }>;
  const ioredis = library('ioredis') as Record<string, { prototype: object }>;
  const bullmq = library('bullmq') as Record<string, { prototype: object }>;
  const grpc = library('@grpc/grpc-js') as Record<string, { prototype: object }>;
  const subjects: Record<string, object> = {
    http,
    https,
    http2,
    'a server of http2': server,
    Module,
    diagnostics_channel: channels,
    worker_threads: threads,
    Worker: threads.Worker.prototype,
    pg: Client.prototype,
    pool: Pool.prototype,
    ioredis: ioredis.Redis.prototype,
    grpc: grpc.Server.prototype,
    mongodb: internal('mongodb', 'lib/cmap/connection.js').Connection.prototype,
    'pool of mongodb': internal('mongodb', 'lib/cmap/connection_pool.js').ConnectionPool.prototype,
    'channel of amqplib': internal('amqplib', 'lib/channel.js').BaseChannel.prototype,
    'connection of mysql': Object.getPrototypeOf(library('mysql').createConnection({})),
    'query of postgres': Object.getPrototypeOf(library('postgres')({ max: 1 })``),
    'queue of bullmq': bullmq.Queue.prototype,
    'producer of flows of bullmq': bullmq.FlowProducer.prototype,
    'worker of bullmq': bullmq.Worker.prototype,
    hapi: library('@hapi/hapi'),
    hono: (library('hono') as { Hono: { prototype: object } }).Hono.prototype,
    'collection of mongoose': (library('mongoose') as { Collection: { prototype: object } }).Collection.prototype,
    'query of mongoose': (library('mongoose') as { Query: { prototype: object } }).Query.prototype,
    'connection of mysql2': (library('mysql2') as { Connection: { prototype: object } }).Connection.prototype,
    mysql: library('mysql'),
    redis: library('@redis/client'),
    'cursor of pg': (library('pg-cursor') as { prototype: object }).prototype,
    undici: library('undici'),
    express: (library('express') as { application: object }).application,
    koa: (library('koa') as { prototype: object }).prototype,
  };
  const shapes = () => Object.fromEntries(Object.entries(subjects).map(([name, one]) => [name, shapesOf(one)]));
  const before = shapes();
  later(instrument().disable);
  expect(shapes()).toEqual(before);
});

test('of messages of HTTP, which are patched with the first of them, and what a loop over one lists', async () => {
  const listed = (object: object): readonly string[] => {
    const names: string[] = [];
    for (const name in object) names.push(name);
    return names.sort();
  };
  const classes = [http.IncomingMessage, http.ServerResponse, http.ClientRequest].map(({ prototype }) => prototype);
  const shapes = () => classes.map((prototype) => [shapesOf(prototype), listed(prototype)]);
  const before = shapes();
  later(instrument().disable);
  const { port } = await serve((_, response) => void response.end('ok'));
  const [answer] = await once(http.get({ port, host: '127.0.0.1' }), 'response');
  await once(answer.resume(), 'end');
  expect(Object.hasOwn(http.ClientRequest.prototype, 'write')).toBe(true);
  expect(shapes()).toEqual(before);
});
