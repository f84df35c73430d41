// What instrumentations measure, of every way that a request or a call can go: the same whether its trace is recorded or sampled out, and nothing of what
// the program has ignored.
import { tracingChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http, { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import http2, { type ClientHttp2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { always, configure, never, type Sampler } from '../../src/index.js';
import { setRoute } from '../../src/instrument/index.js';
import { type Instruments, Reader } from '../../src/metrics/reader.js';
import { deadUrl } from '../exporters/support/http-server.js';
import { hasPostgres, type Postgres, startPostgres } from './db/postgres.js';
import { library } from './libraries.js';
import { measuredIn, measureFrom } from './measuring.js';
import { instrumentOnly, later, listen, recorded, serve, settled, when } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

let instruments: Instruments;
beforeEach(() => {
  instruments = measureFrom();
});
const measured = (): string[] => measuredIn(instruments);

/** `name trace span` of what buckets name. */
const exemplars = (): string[] =>
  new Reader(instruments, 'cumulative').read().flatMap(({ instrument: { name }, points }) =>
    [...points].flatMap(({ buckets, exemplarOf }) =>
      [...(buckets ?? [])].flatMap((_, i) => {
        const exemplar = exemplarOf(i);
        return exemplar === undefined ? [] : [`${name} ${exemplar.traceId} ${exemplar.spanId}`];
      }),
    ),
  );

let postgres: Postgres;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

const SAMPLERS: [string, Sampler][] = [
  ['recorded', always],
  ['sampled out', never],
];

const gotten = async (url: string): Promise<void> => {
  const [answer] = (await once(http.get(url), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
};

describe.each(SAMPLERS)('%s', (_, sampler) => {
  beforeEach(() => configure({ sampler }));

  test('a request has the route of its framework, and that of a method nobody knows is bounded', async () => {
    instrumentOnly({ http: { client: false }, express: true });
    const app: Untyped = library('express')();
    app.get('/users/:id', (_request: Untyped, response: Untyped) => response.end());
    const { url, port } = await listen(createServer(app as RequestListener));
    for (let i = 0; i < 5; i++) await gotten(`${url}/users/${i}`);
    const odd = http.request({ port, host: '127.0.0.1', method: 'PROPFIND', path: '/nowhere' }).end();
    const [answer] = (await once(odd, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    expect(measured()).toEqual([
      'http.server.request.duration GET http /users/:id 200 1.1: 5',
      'http.server.request.duration _OTHER http 404 1.1: 1',
      'http.server.active_requests GET http: 0',
      'http.server.active_requests _OTHER http: 0',
    ]);
  });

  test('a request is active until its client has gone, and then aborted', async () => {
    instrumentOnly({ http: { client: false } });
    const { url } = await serve(() => {});
    const request = http.get(url).on('error', () => {});
    await when(() => measured().length > 0);
    expect(measured()).toEqual(['http.server.active_requests GET http: 1']);
    request.destroy();
    await when(() => measured().length > 1);
    expect(measured()).toEqual([
      'http.server.request.duration GET http aborted 1.1: 1',
      'http.server.active_requests GET http: 0',
    ]);
  });

  test('calls without an answer have the reason, and those that the program gives up have none', async () => {
    instrumentOnly({ http: { server: false }, undici: true });
    const dead = await deadUrl();
    await expect(once(http.get(dead), 'response')).rejects.toThrow();
    await expect(fetch(dead)).rejects.toThrow();
    let arrived = 0;
    const { url } = await serve(() => void arrived++);
    const request = http.get(url).on('error', () => {});
    await when(() => arrived === 1);
    request.destroy();
    await when(() => request.closed);
    const abort = new AbortController();
    const given = fetch(url, { signal: abort.signal });
    await when(() => arrived === 2);
    abort.abort();
    await expect(given).rejects.toThrow();
    await when(() => measured().length > 2);
    expect(measured()).toEqual([
      'http.client.request.duration GET 127.0.0.1 ECONNREFUSED: 2',
      'http.client.request.duration GET 127.0.0.1: 1',
      'http.client.request.duration GET 127.0.0.1 1.1: 1',
    ]);
  });

  test('a call that fails by an error of the program keeps a part of its code, however long that is', async () => {
    instrumentOnly({ http: { server: false } });
    const { url } = await serve(() => {});
    const request = http.get(url).on('error', () => {});
    request.destroy(Object.assign(new Error('own'), { code: 'x'.repeat(100_000) }));
    await when(() => measured().length > 0);
    expect(measured()).toEqual([`http.client.request.duration GET 127.0.0.1 ${'x'.repeat(128)}: 1`]);
  });

  test('HTTP/2, on both sides', async () => {
    instrumentOnly({ http2: true });
    const server = http2.createServer((request, response) => {
      setRoute(request as never, '/things/:id');
      response.writeHead(request.url === '/things/0' ? 503 : 200).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    later(() => server.close());
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    later(() => session.destroy());
    const ask = async (path: string): Promise<void> => {
      const stream: ClientHttp2Stream = session.request({ ':path': path });
      await once(stream.resume(), 'close');
    };
    for (const path of ['/things/0', '/things/1', '/things/2']) await ask(path);
    await when(() => measured().length > 4);
    expect(measured()).toEqual([
      'http.server.request.duration GET http /things/:id 503 503 2: 1',
      'http.server.request.duration GET http /things/:id 200 2: 2',
      'http.server.active_requests GET http: 0',
      'http.client.request.duration GET 127.0.0.1 503 503 2: 1',
      'http.client.request.duration GET 127.0.0.1 200 2: 2',
    ]);
  });

  test('buckets name spans that are recorded, and none of others', async () => {
    instrumentOnly({ http: true, http2: true, undici: true, ioredis: true });
    const cache = tracingChannel('ioredis:command');
    const { url } = await serve(async (_request, response) => {
      const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
      await cache.tracePromise(async () => 'value', command);
      response.end();
    });
    await gotten(url);
    await (await fetch(url)).text();
    const server = http2.createServer((_request, response) => void response.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    later(() => server.close());
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    later(() => session.destroy());
    await once(session.request({ ':path': '/' }).resume(), 'close');
    const isRecorded = sampler === always;
    await when(() => measured().filter((line) => line.endsWith(': 0')).length === 1);
    const spans = await (isRecorded ? settled(8) : recorded());
    const kinds = new Map(spans.map(({ traceId, spanId, kind }) => [`${traceId} ${spanId}`, kind]));
    const named = exemplars().map((line) => {
      const [name, ...ids] = line.split(' ');
      return `${name} ${kinds.get(ids.join(' '))}`;
    });
    // Of each set one bucket at least; those of both clients of HTTP/1.1 are one set.
    const expected = [
      'http.server.request.duration server',
      'http.client.request.duration client',
      'db.client.operation.duration client',
    ];
    expect([...new Set(named)]).toEqual(isRecorded ? expected : []);
    expect(named.length).toBeGreaterThanOrEqual(isRecorded ? 5 : 0);
  });

  test('what is ignored is not measured, nor what it calls', async () => {
    instrumentOnly({
      http: { server: { ignore: ({ url }) => url === '/health' }, client: { ignore: ({ path }) => path === '/ping' } },
      undici: true,
    });
    const { url: other } = await serve((_request, response) => response.end());
    const { url } = await serve(async (request, response) => {
      if (request.url === '/health') {
        await gotten(`${other}/disk`);
        await (await fetch(`${other}/disk`)).text();
      }
      response.end();
    });
    await gotten(`${url}/health`);
    await gotten(`${other}/ping`);
    await when(() => measured().some((line) => line.endsWith('active_requests GET http: 0')));
    expect(measured()).toEqual([
      // What other servers are asked they answer.
      'http.server.request.duration GET http 200 1.1: 3',
      'http.server.active_requests GET http: 0',
      'http.client.request.duration GET 127.0.0.1 200 1.1: 1',
    ]);
  });

  test('calls of gRPC, on both sides', async () => {
    instrumentOnly({ grpc: { ignore: ({ method }) => method === 'shop.Cart/Ping', requireParent: true }, http2: true });
    const grpc: Untyped = createRequire(import.meta.url)('@grpc/grpc-js');
    const method = (name: string, responseStream: boolean) => ({
      path: `/shop.Cart/${name}`,
      requestStream: false,
      responseStream,
      requestSerialize: Buffer.from,
      requestDeserialize: String,
      responseSerialize: Buffer.from,
      responseDeserialize: String,
    });
    const service = { Get: method('Get', false), List: method('List', true), Ping: method('Ping', false) };
    const server = new grpc.Server();
    server.addService(service, {
      Get({ request }: Untyped, callback: Untyped) {
        if (request === 'fail') callback({ code: grpc.status.NOT_FOUND });
        else if (request === 'break') callback(new Error('broken'));
        else callback(null, request);
      },
      List(call: Untyped) {
        call.write('a');
        call.end();
      },
      Ping: (_: Untyped, callback: Untyped) => callback(null, 'pong'),
    });
    const port = await new Promise((resolve) =>
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (_: unknown, at: number) => resolve(at)),
    );
    later(() => server.forceShutdown());
    const Client = grpc.makeGenericClientConstructor(service, 'Cart');
    const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    later(() => client.close());
    for (const asked of ['a', 'b', 'fail', 'break']) await new Promise((resolve) => client.Get(asked, resolve));
    await new Promise((resolve) => client.Ping('x', resolve));
    await once(client.List('x').resume(), 'status');
    await when(() => measured().length === 8);
    expect(measured()).toEqual([
      'rpc.client.call.duration grpc shop.Cart/Get OK 127.0.0.1: 2',
      'rpc.client.call.duration grpc shop.Cart/Get NOT_FOUND NOT_FOUND 127.0.0.1: 1',
      'rpc.client.call.duration grpc shop.Cart/Get UNKNOWN UNKNOWN 127.0.0.1: 1',
      'rpc.client.call.duration grpc shop.Cart/List OK 127.0.0.1: 1',
      'rpc.server.call.duration grpc shop.Cart/Get OK: 2',
      'rpc.server.call.duration grpc shop.Cart/Get NOT_FOUND: 1',
      'rpc.server.call.duration grpc shop.Cart/Get UNKNOWN UNKNOWN: 1',
      'rpc.server.call.duration grpc shop.Cart/List OK: 1',
    ]);
  });

  test.skipIf(!hasPostgres)('queries of pg by their summary, and what it refuses by its code', async () => {
    instrumentOnly({ pg: true });
    const pool: Untyped = new (library('pg').Pool)({ host: postgres.host, user: 'test', database: 'postgres', max: 2 });
    // `end` resolves before the connections are closed, and a server that stops then says so to each.
    pool.on('error', () => {});
    later(() => pool.end());
    for (let i = 0; i < 10; i++) await pool.query(`SELECT datname FROM pg_database WHERE oid = ${i}`);
    await expect(pool.query('SELECT 1 FROM nowhere')).rejects.toThrow();
    await new Promise((resolve) => pool.query('SELECT 2', resolve));
    expect(measured().map((line) => line.replace(postgres.host, 'HOST'))).toEqual([
      'db.client.operation.duration postgresql postgres SELECT SELECT pg_database HOST: 10',
      'db.client.operation.duration postgresql postgres SELECT SELECT nowhere 42P01 42P01 HOST: 1',
      'db.client.operation.duration postgresql postgres SELECT SELECT HOST: 1',
    ]);
  });
});

test('calls that need a parent for a span are measured without one', async () => {
  instrumentOnly({ http: { server: false, client: { requireParent: true } }, undici: { requireParent: true } });
  const { url } = await serve((_request, response) => response.end());
  await gotten(url);
  await (await fetch(url)).text();
  expect(measured()).toEqual(['http.client.request.duration GET 127.0.0.1 200 1.1: 2']);
});
