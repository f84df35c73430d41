// Calls of @grpc/grpc-js between a real client and a real server, in all four forms.
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { defaultCollector, LocalSpan, Span, type SpanRecord } from '../../src/index.js';
import { instrument } from '../../src/instrument/index.js';
import { counted } from '../support/recorder.js';
import {
  askedBySixteen,
  contextsOf,
  eachItsOwn,
  instrumentOnly,
  type Job,
  later,
  recorded,
  settled,
  writesBroken,
} from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: a package that others bring along has no types here.
type Untyped = any;

const grpc: Untyped = createRequire(import.meta.url)('@grpc/grpc-js');

const SECRET = 'hunter2';
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/shop.Cart/${name}`,
  requestStream,
  responseStream,
  requestSerialize: Buffer.from,
  requestDeserialize: String,
  responseSerialize: Buffer.from,
  responseDeserialize: String,
});
const service = {
  Unary: method('Unary', false, false),
  Collect: method('Collect', true, false),
  List: method('List', false, true),
  Chat: method('Chat', true, true),
};
const relay = { Relay: method('Relay', true, false) };

const connected = async (traceparents: string[] = []): Promise<Untyped> => {
  const server = new grpc.Server();
  server.addService(service, {
    async Unary({ request, metadata }: Untyped, callback: Untyped) {
      traceparents.push(...metadata.get('traceparent'), ...metadata.get('tracestate'));
      LocalSpan.start('work').end();
      await sleep(1);
      LocalSpan.start('late work').end();
      if (request === 'fail') callback({ code: grpc.status.NOT_FOUND, details: SECRET });
      else callback(null, request);
    },
    Collect(call: Untyped, callback: Untyped) {
      let text = '';
      call.on('data', (part: string) => {
        text += part;
      });
      call.on('end', () => callback(null, text));
    },
    List(call: Untyped) {
      call.write('a');
      call.end();
    },
    // To a call that was given up, its stream looks ended first.
    Chat(call: Untyped) {
      call.on('data', (part: string) => call.write(part)).on('end', () => setTimeout(() => call.end(), 10));
    },
  });
  server.addService(relay, {
    // Asks another method at once, and for each thing that comes.
    Relay(call: Untyped, callback: Untyped) {
      const ask = () => new Promise((resolve) => client.Unary('asked', resolve));
      const asked = [ask()];
      call.on('data', () => asked.push(ask()));
      call.on('end', async () => {
        await Promise.all([...asked, ask()]);
        callback(null, 'done');
      });
    },
  });
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error: unknown, bound: number) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  later(() => server.forceShutdown());
  const Client = grpc.makeGenericClientConstructor({ ...service, ...relay }, 'Cart');
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  later(() => client.close());
  return client;
};

const shown = async (count = 0) =>
  (await settled(count))
    .filter(({ kind }) => kind !== 'internal')
    .map(({ name, kind, status, properties }) => [name, kind, status.code, properties['rpc.response.status_code']])
    .sort();

test('one trace on both sides, and what the handler does belongs to it', async () => {
  instrumentOnly({ grpc: true });
  const client = await connected();
  const metadata = new grpc.Metadata();
  metadata.set('token', SECRET);
  await Span.root('request').runToEnd(
    () => new Promise((resolve) => client.Unary('hello', metadata, (_: unknown, text: string) => resolve(text))),
  );
  expect(metadata.get('traceparent')).toEqual([]);
  const spans = await recorded();
  const request = spans.find(({ name }) => name === 'request');
  const call = spans.find(({ kind }) => kind === 'client');
  const answer = spans.find(({ kind }) => kind === 'server');
  expect(call).toMatchObject({ name: 'shop.Cart/Unary', parentSpanId: request?.spanId });
  expect(answer).toMatchObject({ name: 'shop.Cart/Unary', parentSpanId: call?.spanId, traceId: call?.traceId });
  for (const name of ['work', 'late work']) {
    expect(spans.find((span) => span.name === name)?.parentSpanId).toBe(answer?.spanId);
  }
  expect(call?.properties).toEqual({
    'rpc.system.name': 'grpc',
    'rpc.method': 'shop.Cart/Unary',
    'rpc.response.status_code': 'OK',
    'server.address': '127.0.0.1',
    'server.port': expect.any(Number),
    'network.peer.address': '127.0.0.1',
    'network.peer.port': call?.properties['server.port'],
  });
  expect(answer?.properties).toEqual({
    'rpc.system.name': 'grpc',
    'rpc.method': 'shop.Cart/Unary',
    'rpc.response.status_code': 'OK',
    'network.peer.address': '127.0.0.1',
    'network.peer.port': expect.any(Number),
  });
  expect(JSON.stringify(spans)).not.toContain(SECRET);
});

test('sixteen at once, each in its own trace, on both sides', async () => {
  instrumentOnly({ grpc: true });
  const traceparents: string[] = [];
  const client = await connected(traceparents);
  const sent: string[] = [];
  const asked = await askedBySixteen(
    (i) => new Promise((resolve) => client.Unary(`hello ${i}`, (_: unknown, text: string) => resolve(text))),
    (call) => {
      sent.push(`${call.traceId}-${call.spanId}`);
      return call.properties['rpc.method'];
    },
  );
  expect(asked).toEqual(eachItsOwn(() => 'shop.Cart/Unary'));
  expect(traceparents.map((one) => one.slice(3, -3)).sort()).toEqual(sent.sort());
});

test('what a propagator writes that no metadata can have, and that it throws, is counted and left out', async () => {
  instrumentOnly({ grpc: true, propagator: writesBroken });
  const traceparents: string[] = [];
  const client = await connected(traceparents);
  const { instrumentationErrors } = await counted(() =>
    Span.root('request').runToEnd(() => new Promise((resolve) => client.Unary('hello', resolve))),
  );
  const call = (await settled(3)).find(({ kind }) => kind === 'client');
  expect(traceparents).toEqual([`00-${call?.traceId}-${call?.spanId}-03`]);
  expect(instrumentationErrors).toBe(3);
});

test('metadata that have the context of another call are sent with that of this one alone', async () => {
  instrumentOnly({ grpc: true });
  const traceparents: string[] = [];
  const client = await connected(traceparents);
  const metadata = new grpc.Metadata();
  metadata.set('traceparent', `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`);
  metadata.set('tracestate', 'v=1');
  await Span.root('request').runToEnd(() => new Promise((resolve) => client.Unary('hello', metadata, resolve)));
  const call = (await settled(3)).find(({ kind }) => kind === 'client');
  expect(traceparents).toEqual([`00-${call?.traceId}-${call?.spanId}-03`]);
  expect(metadata.get('tracestate')).toEqual(['v=1']);
});

test('taken back, a server that was made before traces nothing any more', async () => {
  const { disable } = instrument({ http2: false });
  later(disable);
  const client = await connected();
  const call = (): Promise<unknown> =>
    new Promise((resolve) => client.Unary('hello', (_: unknown, text: string) => resolve(text)));
  await call();
  disable();
  expect(await call()).toBe('hello');
  expect(await shown()).toHaveLength(2);
});

test('options that come later hold for services that were added before', async () => {
  instrumentOnly({ grpc: true });
  const client = await connected();
  const enriched: string[] = [];
  instrumentOnly({ grpc: { enrich: (_, { side }) => void enriched.push(side) } });
  await new Promise((resolve) => client.Unary('hello', resolve));
  expect(await shown(2)).toEqual([
    ['shop.Cart/Unary', 'client', 'unset', 'OK'],
    ['shop.Cart/Unary', 'server', 'unset', 'OK'],
  ]);
  expect(enriched.sort()).toEqual(['client', 'server']);
});

test('a failure has its code, and no word of its text', async () => {
  instrumentOnly({ grpc: true });
  const client = await connected();
  await new Promise<void>((resolve) => client.Unary('fail', () => resolve()));
  const spans = await recorded();
  expect(JSON.stringify(spans)).not.toContain(SECRET);
  expect(spans.find(({ kind }) => kind === 'client')).toMatchObject({
    status: { code: 'error', message: 'NOT_FOUND' },
    properties: { 'error.type': 'NOT_FOUND' },
  });
  expect(spans.find(({ kind }) => kind === 'server')?.status.code).toBe('unset');
});

test.each([
  ['localhost:1', 'localhost'],
  ['dns:///localhost:1', 'localhost'],
  ['ipv4:127.0.0.1:1', '127.0.0.1'],
  ['ipv6:[::1]:1', '::1'],
])('a call to %s that reaches nobody has no peer', async (target, host) => {
  instrumentOnly({ grpc: true });
  const Client = grpc.makeGenericClientConstructor(service, 'Cart');
  const client = new Client(target, grpc.credentials.createInsecure());
  later(() => client.close());
  await new Promise((resolve) => client.Unary('x', resolve));
  const [{ properties }] = await recorded();
  expect(properties).toMatchObject({ 'error.type': 'UNAVAILABLE', 'server.address': host, 'server.port': 1 });
  expect(properties).not.toHaveProperty('network.peer.address');
});

test('streams end with their status', async () => {
  instrumentOnly({ grpc: true });
  const client = await connected();
  await new Promise<void>((resolve) => {
    const collect = client.Collect(() => resolve());
    collect.write('a');
    collect.end();
  });
  await new Promise((resolve) =>
    client
      .List('all')
      .on('data', () => {})
      .on('status', resolve),
  );
  await new Promise((resolve) => {
    const chat = client
      .Chat()
      .on('data', () => chat.end())
      .on('status', resolve);
    chat.write('a');
  });
  expect(await shown(6)).toEqual(
    ['Chat', 'Collect', 'List'].flatMap((name) =>
      ['client', 'server'].map((kind) => [`shop.Cart/${name}`, kind, 'unset', 'OK']),
    ),
  );
});

describe('a call begins when it is started below its interceptors', () => {
  type Start = (metadata: Untyped, listener: Untyped, next: Untyped) => void;
  const asked = async (start: Start, more: Untyped = {}): Promise<string> => {
    instrumentOnly({ grpc: true });
    const client = await connected();
    const intercept = (options: Untyped, below: Untyped) =>
      new grpc.InterceptingCall(below(options), { start, ...more });
    return new Promise((resolve) =>
      client.Unary('hello', { interceptors: [intercept] }, (_: unknown, text: string) => resolve(text)),
    );
  };

  test('one that an interceptor answers has no span, and leaves none open', async () => {
    const none = (): void => {};
    const answer = await asked(
      (_, listener) => {
        listener.onReceiveMetadata(new grpc.Metadata());
        listener.onReceiveMessage('from a cache');
        listener.onReceiveStatus({ code: 0, details: '', metadata: new grpc.Metadata() });
      },
      { sendMessage: none, halfClose: none },
    );
    expect(answer).toBe('from a cache');
    expect(await recorded()).toEqual([]);
    expect(defaultCollector().stats().openTraces).toBe(0);
  });

  test('one that is started late, anywhere, is below its caller', async () => {
    const late: Start = (metadata, listener, next) =>
      setTimeout(() => Span.root('other').runToEnd(() => next(metadata, listener)), 5);
    const answer = await Span.root('request').runToEnd(() => asked(late));
    expect(answer).toBe('hello');
    const spans = await settled(4);
    const request = spans.find(({ name }) => name === 'request');
    expect(spans.find(({ kind }) => kind === 'client')?.parentSpanId).toBe(request?.spanId);
  });
});

test('a call that is given up ends on both sides', async () => {
  instrumentOnly({ grpc: true });
  const client = await connected();
  const call = client.Chat();
  call.on('error', () => {}).write('a');
  await new Promise((resolve) => call.once('data', resolve));
  call.cancel();
  expect((await shown(2)).map(([, kind, , code]) => [kind, code])).toEqual([
    ['client', 'CANCELLED'],
    ['server', 'CANCELLED'],
  ]);
});

describe('what a handler calls, in the listeners of its stream too', () => {
  const relayed = async (): Promise<readonly string[]> => {
    const traceparents: string[] = [];
    const client = await connected(traceparents);
    await new Promise<void>((resolve) => {
      const call = client.Relay(() => resolve());
      call.write('a');
      call.end();
    });
    return traceparents;
  };
  const callsOf = (name: string, kind: string, spans: readonly SpanRecord[]) =>
    spans.filter((span) => span.name === `shop.Cart/${name}` && span.kind === kind);

  test('belongs to the call', async () => {
    instrumentOnly({ grpc: true });
    expect(await relayed()).toHaveLength(3);
    const spans = await recorded();
    const [answer] = callsOf('Relay', 'server', spans);
    const asked = callsOf('Unary', 'client', spans);
    expect(asked.map(({ parentSpanId }) => parentSpanId)).toEqual(Array(3).fill(answer.spanId));
  });

  test('is not traced where the call is ignored, and no header goes out', async () => {
    instrumentOnly({ grpc: { ignore: ({ method, side }) => side === 'server' && method === 'shop.Cart/Relay' } });
    expect(await relayed()).toEqual([]);
    const spans = await recorded();
    const counts = ['Relay', 'Unary'].map((name) =>
      ['client', 'server'].map((kind) => callsOf(name, kind, spans).length),
    );
    // Those who answer know nothing of it, and begin traces of their own.
    expect(counts).toEqual([
      [1, 0],
      [0, 3],
    ]);
  });
});

describe('what comes of a call comes in the context of its caller', () => {
  const jobs: Readonly<Record<string, (client: Untyped) => Job>> = {
    'one message': (client) => (note, done) => {
      const call = client.Unary('a', () => note('callback'));
      call.on('metadata', () => note('metadata')).on('status', () => note('status', done));
    },
    'a failure': (client) => (note, done) => {
      client.Unary('fail', () => note('callback')).on('status', () => note('status', done));
    },
    'a stream from the server': (client) => (note, done) => {
      const call = client.List('a').on('data', () => note('data'));
      call.on('end', () => note('end', done)).on('status', () => note('status'));
    },
    'a stream to the server': (client) => (note, done) => {
      const call = client.Collect(() => note('callback', done));
      call.write('a');
      call.write('b', () => note('written'));
      call.end();
    },
    'streams both ways': (client) => (note, done) => {
      const call = client.Chat().on('data', () => note('data'));
      call.on('end', () => note('end', done)).on('status', () => note('status'));
      call.write('a');
      call.end();
    },
    'waiting for the connection': (client) => (note, done) =>
      client.waitForReady(Date.now() + 60_000, () => note('callback', done)),
  };
  const EVENTS: Readonly<Record<string, readonly string[]>> = {
    'one message': ['callback', 'metadata', 'status'],
    'a failure': ['callback', 'status'],
    'a stream from the server': ['data', 'end', 'status'],
    'a stream to the server': ['callback', 'written'],
    'streams both ways': ['data', 'end', 'status'],
    'waiting for the connection': ['callback'],
  };

  // The first round waits for the connection.
  test.each(Object.keys(jobs))('%s', async (name) => {
    instrumentOnly({ grpc: true });
    const client = await connected();
    const events = EVENTS[name].map((event) => `${event}: own`);
    for (let round = 0; round < 2; round++) expect(await contextsOf(jobs[name](client))).toEqual(events);
  });

  test('of one that is ignored too', async () => {
    instrumentOnly({ grpc: { ignore: () => true } });
    const client = await connected();
    expect(await contextsOf(jobs['a stream from the server'](client))).toEqual([
      'data: own',
      'end: own',
      'status: own',
    ]);
  });
});
