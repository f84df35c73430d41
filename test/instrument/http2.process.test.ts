// Requests over HTTP/2, on both sides: a root for each that is answered, a child for each that is sent, one trace over the connection, and calls
// of gRPC once.
import { once } from 'node:events';
import http from 'node:http';
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { LocalSpan, Span, SpanContext, stats } from '../../src/index.js';
import { type Propagator, setRoute } from '../../src/instrument/index.js';
import { deadUrl } from '../exporters/support/http-server.js';
import { counted } from '../support/recorder.js';
import {
  askedBySixteen,
  eachItsOwn,
  instrumentByAnotherCopy,
  instrumentOnly,
  later,
  recorded,
  recordedOf,
  serve,
  settled,
  writesBroken,
} from './support.js';

const listening = async (server: Http2Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  later(() => server.close());
  return (server.address() as AddressInfo).port;
};

const connected = (port: number): ClientHttp2Session => {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  later(() => session.destroy());
  return session;
};

const answerOf = async (stream: ClientHttp2Stream): Promise<string> => {
  let text = '';
  for await (const part of stream.setEncoding('utf8')) text += String(part);
  if (!stream.closed) await once(stream, 'close');
  return text;
};

const SENSITIVE: symbol = http2.sensitiveHeaders;

const inRoot = <T>(work: () => Promise<T>): Promise<T> => Span.root('work').runToEnd(work);

test('one trace on both sides, with the stable properties', async () => {
  instrumentOnly({ http2: true });
  const port = await listening(
    http2.createServer((request, response) => {
      setRoute(request as never, '/things/:id');
      LocalSpan.start('work in handler').end();
      response.writeHead(201);
      response.end('made');
    }),
  );
  const session = connected(port);
  const headers: OutgoingHttpHeaders = { ':path': '/things/7?a=1&sig=secret', 'user-agent': 'probe' };
  expect(await inRoot(() => answerOf(session.request(headers)))).toBe('made');
  // The caller's own stay as they are.
  expect(headers).toEqual({ ':path': '/things/7?a=1&sig=secret', 'user-agent': 'probe' });
  const spans = await settled(4);
  const root = spans.find(({ name }) => name === 'work');
  const call = spans.find(({ kind }) => kind === 'client');
  const answer = spans.find(({ kind }) => kind === 'server');
  expect(call).toMatchObject({ name: 'GET', parentSpanId: root?.spanId, status: { code: 'unset' } });
  expect(answer).toMatchObject({ name: 'GET /things/:id', parentSpanId: call?.spanId, traceId: root?.traceId });
  expect(spans.find(({ name }) => name === 'work in handler')?.parentSpanId).toBe(answer?.spanId);
  expect(call?.properties).toEqual({
    'http.request.method': 'GET',
    'url.full': `http://127.0.0.1:${port}/things/7?a=1&sig=REDACTED`,
    'server.address': '127.0.0.1',
    'server.port': port,
    'network.protocol.version': '2',
    'http.response.status_code': 201,
    'network.peer.address': '127.0.0.1',
    'network.peer.port': port,
  });
  expect(answer?.properties).toEqual({
    'http.request.method': 'GET',
    'url.path': '/things/7',
    'url.query': 'a=1&sig=REDACTED',
    'url.scheme': 'http',
    'network.protocol.version': '2',
    'server.address': '127.0.0.1',
    'server.port': port,
    'user_agent.original': 'probe',
    'client.address': '127.0.0.1',
    'network.peer.address': '127.0.0.1',
    'network.peer.port': expect.any(Number),
    'http.route': '/things/:id',
    'http.response.status_code': 201,
  });
});

test('sixteen at once in one session, each in its own trace', async () => {
  instrumentOnly({ http2: true });
  const port = await listening(http2.createServer((_, response) => response.end('fine')));
  const session = connected(port);
  const asked = await askedBySixteen(
    (i) => answerOf(session.request({ ':path': `/${i}` })),
    ({ properties }) => properties['url.full'],
  );
  expect(asked).toEqual(eachItsOwn((i) => `http://127.0.0.1:${port}/${i}`));
});

test('a context that the headers have already is replaced, as a gateway hands it on', async () => {
  instrumentOnly({ http2: { server: false } });
  const seen: unknown[] = [];
  const port = await listening(
    http2.createServer(({ rawHeaders }, response) => {
      seen.push(
        rawHeaders.filter((_, i) => i % 2 === 1 && /^(?:traceparent|tracestate|x-own)$/.test(rawHeaders[i - 1])),
      );
      response.end();
    }),
  );
  const session = connected(port);
  const given = SpanContext.random({ sampled: true }).toTraceparent();
  const ways: unknown[] = [
    { ':path': '/', traceparent: given, TraceState: 'v=1', 'x-own': '1' },
    { ':path': '/', Traceparent: given, 'x-own': '1' },
  ];
  // Newer lines of Node take lists.
  if (Number(process.versions.node.split('.')[0]) >= 24) {
    ways.push([':path', '/', 'traceparent', given, 'tracestate', 'v=1', 'x-own', '1']);
  }
  const before = structuredClone(ways);
  await inRoot(async () => {
    for (const headers of ways) await answerOf(session.request(headers as OutgoingHttpHeaders));
  });
  const calls = (await recorded()).filter(({ kind }) => kind === 'client');
  const sent = calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-03`);
  expect(seen.map((one) => (one as string[]).sort())).toEqual(sent.map((one) => [one, '1'].sort()));
  expect(new Set(sent).size).toBe(ways.length);
  expect(ways).toEqual(before);
});

test('what a propagator writes that no header can have, and that it throws, is counted and left out', async () => {
  instrumentOnly({ http2: { server: false }, propagator: writesBroken });
  const server = http2.createServer(({ headers }, response) => response.end(JSON.stringify(headers)));
  const session = connected(await listening(server));
  const { instrumentationErrors } = await counted(async () => {
    const sent = JSON.parse(await answerOf(session.request({ ':path': '/' }))) as { traceparent?: string };
    const [{ traceId, spanId }] = await settled(1);
    expect(sent.traceparent).toBe(`00-${traceId}-${spanId}-03`);
  });
  expect(instrumentationErrors).toBe(3);
});

test('a propagator that throws is counted: a request that is answered is a root, and ends', async () => {
  const wrong = (): never => {
    throw new Error('wrong');
  };
  instrumentOnly({ http2: { client: false }, propagator: { extract: wrong, inject: wrong, carried: wrong } });
  const before = stats().instrumentationErrors;
  const port = await listening(http2.createServer((_, response) => void response.end(Span.current()?.name ?? '')));
  expect(await answerOf(connected(port).request({ ':path': '/' }))).toBe('GET');
  expect((await settled(1)).map((span) => span.properties['http.response.status_code'])).toEqual([200]);
  expect(stats().instrumentationErrors - before).toBe(2);
});

test('options that come later hold for sessions that are there', async () => {
  instrumentOnly({ http2: { server: false } });
  const session = connected(await listening(http2.createServer((_, response) => response.end())));
  let enriched = 0;
  instrumentOnly({ http2: { server: false, client: { enrich: () => void enriched++ } } });
  await answerOf(session.request({ ':path': '/' }));
  expect((await recorded()).map(({ kind }) => kind)).toEqual(['client']);
  expect(enriched).toBe(1);
});

test('IPv6, whose brackets Node leaves out', async () => {
  instrumentOnly({ http2: true });
  const session = http2.connect('http://[::1]:1').on('error', () => {});
  later(() => session.destroy());
  await expect(once(session.request({ ':path': '/a' }), 'response')).rejects.toThrow();
  const [{ properties }] = await settled(1);
  expect(properties).toMatchObject({ 'url.full': 'http://[::1]:1/a', 'server.address': '::1', 'server.port': 1 });
  const port = await listening(http2.createServer((_, response) => response.end()));
  await answerOf(connected(port).request({ ':authority': '::1:8080' }));
  const answer = (await settled(2)).find(({ kind }) => kind === 'server');
  expect(answer?.properties).toMatchObject({ 'server.address': '::1', 'server.port': 8080 });
});

test('what a handler does belongs to its stream: over awaits, in listeners of the body, with streams side by side', async () => {
  instrumentOnly({ http2: { client: false } });
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    const path = String(headers[':path']);
    stream.on('data', () => LocalSpan.start(`data ${path}`).end());
    stream.on('end', () => {
      LocalSpan.start(`end ${path}`).end();
      setTimeout(() => {
        LocalSpan.start(`later ${path}`).end();
        stream.respond({ ':status': 200 });
        stream.end('done');
      }, 1);
    });
  });
  const session = connected(await listening(server));
  const paths = ['/a', '/b', '/c'];
  const streams = paths.map((path) => session.request({ ':path': path, ':method': 'POST' }));
  for (const stream of streams) stream.write('first');
  await sleep(20);
  await Promise.all(streams.map((stream) => answerOf(stream.end('second'))));
  const spans = await settled(3 * 4);
  for (const root of spans.filter(({ kind }) => kind === 'server')) {
    const path = root.properties['url.path'];
    const children = new Set(spans.filter(({ parentSpanId }) => parentSpanId === root.spanId).map(({ name }) => name));
    expect(children).toEqual(new Set([`data ${path}`, `end ${path}`, `later ${path}`]));
  }
});

test('how requests end', async () => {
  instrumentOnly({ http2: true });
  const before = stats();
  const server = http2.createServer((request, response) => {
    if (request.url === '/broken') response.writeHead(503).end();
    else if (request.url === '/reset') request.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    else if (request.url === '/missing') response.writeHead(404).end();
  });
  const session = connected(await listening(server));
  await answerOf(session.request({ ':path': '/broken' }));
  await answerOf(session.request({ ':path': '/missing' }));
  await expect(answerOf(session.request({ ':path': '/reset' }))).rejects.toThrow();
  const given = session.request({ ':path': '/silent' });
  // Who answers a ping has read all that came before it.
  await new Promise((resolve) => session.ping(resolve));
  given.close(http2.constants.NGHTTP2_CANCEL);
  await once(given, 'close');
  const spans = await settled(8);
  const ends = (kind: string) =>
    spans
      .filter((span) => span.kind === kind)
      .map(({ status, properties }) => [
        properties['http.response.status_code'],
        properties['error.type'],
        status.code,
      ]);
  expect(ends('server').map(String).sort()).toEqual([
    ',aborted,unset',
    ',aborted,unset',
    '404,,unset',
    '503,503,error',
  ]);
  expect(ends('client')).toEqual([
    [503, '503', 'error'],
    [404, '404', 'error'],
    [undefined, 'ERR_HTTP2_STREAM_ERROR', 'error'],
    [undefined, undefined, 'unset'],
  ]);
  expect(stats().endedTwice).toBe(before.endedTwice);
  expect(stats().instrumentationErrors).toBe(before.instrumentationErrors);
});

test('nobody listens; a session that is closed', async () => {
  instrumentOnly({ http2: true });
  const session = http2.connect(await deadUrl());
  session.on('error', () => {});
  await expect(inRoot(() => answerOf(session.request({ ':path': '/' })))).rejects.toThrow();
  // Lines of Node differ: it throws, or gives a stream that fails.
  await expect((async () => answerOf(session.request({ ':path': '/' })))()).rejects.toThrow();
  const [first, second] = await recordedOf('client');
  expect(first.properties['error.type']).toBe('ECONNREFUSED');
  expect(second.properties['error.type']).toMatch(/^ERR_HTTP2/);
});

test('a session that is waited for, and headers in a list with secrets', async () => {
  instrumentOnly({ http2: true });
  let secrets: unknown;
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    secrets = (headers as Record<symbol, unknown>)[SENSITIVE];
    stream.respond();
    stream.end('fine');
  });
  const port = await listening(server);
  const connectAsync = promisify(http2.connect) as unknown as (address: string) => Promise<ClientHttp2Session>;
  const session = await connectAsync(`http://127.0.0.1:${port}`);
  later(() => session.destroy());
  const ask = (headers: OutgoingHttpHeaders): Promise<string> => inRoot(() => answerOf(session.request(headers)));
  expect(await ask({ ':path': '/', 'x-key': 'secret', [SENSITIVE]: ['x-key'] })).toBe('fine');
  expect(secrets).toEqual(['x-key']);
  const list = Object.assign([':path', '/', 'x-key', 'secret'], { [SENSITIVE]: ['x-key'] });
  // Newer lines of Node take lists.
  if (Number(process.versions.node.split('.')[0]) >= 24) await ask(list as never);
  expect(secrets).toEqual(['x-key']);
  expect(list).toHaveLength(4);
});

describe('what is not traced', () => {
  test('an ignored request, and what it calls', async () => {
    instrumentOnly({ http: true, http2: { server: { ignore: ({ ':path': path }) => path === '/health' } } });
    const seen: unknown[] = [];
    const { url } = await serve((request, response) => {
      seen.push(request.headers.traceparent);
      response.end();
    });
    const ask = (): Promise<unknown> => new Promise((resolve) => http.get(url, (answer) => resolve(answer.resume())));
    const server = http2.createServer((request, response) => {
      request.on('data', ask).on('end', async () => {
        await ask();
        response.end();
      });
    });
    const session = connected(await listening(server));
    await answerOf(session.request({ ':path': '/health', ':method': 'POST' }).end('x'));
    expect(seen).toEqual([undefined, undefined]);
  });

  test('requireParent, ignored calls, and calls of gRPC that somebody else traces', async () => {
    const seen: unknown[] = [];
    instrumentOnly({
      http2: { server: false, client: { requireParent: true, ignore: ({ ':path': path }) => path === '/ignored' } },
    });
    const session = connected(
      await listening(
        http2.createServer(({ headers }, response) => {
          seen.push(headers.traceparent);
          response.end();
        }),
      ),
    );
    await answerOf(session.request({ ':path': '/' }));
    const own = SpanContext.random({ sampled: true }).toTraceparent();
    await inRoot(async () => {
      await answerOf(session.request({ ':path': '/ignored' }));
      await answerOf(session.request({ ':path': '/ignored', Traceparent: own }));
      await answerOf(session.request({ ':path': '/', 'content-type': 'application/grpc', Traceparent: own }));
    });
    expect(seen).toEqual([undefined, undefined, own, own]);
    expect((await recorded()).map(({ name }) => name)).toEqual(['work']);
  });

  test('such a call in headers that are written only for a span, as those of B3', async () => {
    const b3: Propagator = {
      extract: () => undefined,
      inject: ({ traceId, spanId }, set) => {
        if (/[^0]/.test(spanId)) set('b3', `${traceId}-${spanId}-1`);
      },
    };
    instrumentOnly({ http2: { server: false }, propagator: b3 });
    const server = http2.createServer(({ headers }, response) => response.end(String(headers.b3)));
    const session = connected(await listening(server));
    const call = { ':path': '/', 'content-type': 'application/grpc', b3: 'own' };
    expect(await inRoot(() => answerOf(session.request(call)))).toBe('own');
    expect((await recorded()).map(({ name }) => name)).toEqual(['work']);
  });

  test('an unsampled parent: the decision goes out', async () => {
    instrumentOnly({ http2: true });
    let seen: unknown;
    const session = connected(
      await listening(
        http2.createServer(({ headers }, response) => {
          seen = headers.traceparent;
          response.end();
        }),
      ),
    );
    const root = Span.root('work', SpanContext.random({ sampled: false }));
    await root.run(() => answerOf(session.request({ ':path': '/' })));
    expect(seen).toMatch(/-0[02]$/);
    await sleep(5);
    expect(await recorded()).toEqual([]);
  });

  test('after disable it is as before', async () => {
    const { instrument } = await import('../../src/instrument/instrument.js');
    const { connect } = http2;
    const { disable } = instrument({ http2: true });
    expect(http2.connect).not.toBe(connect);
    disable();
    expect(http2.connect).toBe(connect);
    const session = connected(await listening(http2.createServer((_, response) => response.end())));
    await answerOf(session.request({ ':path': '/' }));
    expect(await recorded()).toEqual([]);
  });
});

test.each(['both on', 'grpc on in another copy of this package'])(
  'calls of gRPC have one span on each side, with %s',
  async (way) => {
    // biome-ignore lint/suspicious/noExplicitAny: a package that others bring along has no types here.
    const grpc: any = createRequire(import.meta.url)('@grpc/grpc-js');
    instrumentOnly({ http2: true, grpc: way === 'both on' });
    if (way !== 'both on') await instrumentByAnotherCopy({ grpc: { module: grpc } });
    const bytes = {
      requestSerialize: Buffer.from,
      requestDeserialize: String,
      responseSerialize: Buffer.from,
      responseDeserialize: String,
    };
    const service = { Add: { path: '/shop.Cart/Add', requestStream: false, responseStream: false, ...bytes } };
    const server = new grpc.Server();
    server.addService(service, {
      Add: (call: { request: string }, done: (error: null, text: string) => void) => done(null, call.request),
    });
    const credentials = grpc.ServerCredentials.createInsecure();
    const port = await new Promise((resolve) =>
      server.bindAsync('127.0.0.1:0', credentials, (_: unknown, bound: number) => resolve(bound)),
    );
    later(() => server.forceShutdown());
    const client = new (grpc.makeGenericClientConstructor(service, 'Cart'))(
      `127.0.0.1:${port}`,
      grpc.credentials.createInsecure(),
    );
    later(() => client.close());
    await inRoot(() => new Promise((resolve) => client.Add('x', resolve)));
    expect((await settled(3)).map(({ name, kind }) => `${kind} ${name}`).sort()).toEqual([
      'client shop.Cart/Add',
      'internal work',
      'server shop.Cart/Add',
    ]);
  },
);

test('gRPC that is not of grpc-js is a request like any, with both on', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a package that others bring along has no types here.
  const grpc: any = createRequire(import.meta.url)('@grpc/grpc-js');
  instrumentOnly({ http2: true, grpc: { module: grpc } });
  const server = http2.createServer(({ headers }, response) => response.end(String(headers.traceparent)));
  const session = connected(await listening(server));
  const headers = { ':path': '/shop.Cart/Add', ':method': 'POST', 'content-type': 'application/grpc+proto' };
  const traceparent = await inRoot(() => answerOf(session.request(headers)));
  const spans = await settled(3);
  const call = spans.find(({ kind }) => kind === 'client');
  expect(traceparent).toBe(`00-${call?.traceId}-${call?.spanId}-03`);
  expect(spans.map(({ name, kind }) => `${kind} ${name}`).sort()).toEqual([
    'client POST',
    'internal work',
    'server POST',
  ]);
});

describe('a request given up on purpose', () => {
  const { NGHTTP2_CANCEL, NGHTTP2_PROTOCOL_ERROR } = http2.constants;
  type Asked = {
    readonly stream: ClientHttp2Stream;
    readonly given: AbortController;
    readonly peer: ServerHttp2Stream;
  };
  /** After the head of its answer, or before. */
  const ended = async (act: (asked: Asked) => unknown, isAnswered: boolean) => {
    instrumentOnly({ http2: { server: false } });
    const server = http2.createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      if (!isAnswered) return;
      stream.respond({ ':status': 200 });
      stream.write('part');
    });
    const asked = once(server, 'stream') as Promise<[ServerHttp2Stream]>;
    const given = new AbortController();
    const session = connected(await listening(server)).on('error', () => {});
    const stream = session.request({ ':path': '/' }, { signal: given.signal });
    stream.on('error', () => {});
    const [peer] = await asked;
    if (isAnswered) await once(stream, 'response');
    await act({ stream, given, peer });
    // Node 24 and later close a stream when what came of it is read.
    stream.resume();
    if (!stream.closed) await once(stream, 'close');
    const [span] = await settled(1);
    return [span.status.code, span.properties['error.type']];
  };

  const ways: [string, (asked: Asked) => unknown][] = [
    ['its signal', ({ given }) => given.abort()],
    ['its signal, for a reason', ({ given }) => given.abort(new Error('changed my mind'))],
    ['close', ({ stream }) => stream.close()],
    ['close, for cancelling', ({ stream }) => stream.close(NGHTTP2_CANCEL)],
    ['destroy', ({ stream }) => stream.destroy()],
    ['destroy of its session', ({ stream }) => stream.session?.destroy()],
  ];
  test.each(ways)('by %s has not failed', async (_, act) => {
    for (const isAnswered of [false, true]) expect(await ended(act, isAnswered)).toEqual(['unset', undefined]);
  });

  test('by break out of its body has not failed', async () => {
    const left = async ({ stream }: Asked): Promise<void> => {
      for await (const part of stream) if (part !== undefined) break;
    };
    expect(await ended(left, true)).toEqual(['unset', undefined]);
  });

  const tooLong = new DOMException('too long', 'TimeoutError');
  const failures: [string, string, (asked: Asked) => unknown, (readonly boolean[])?][] = [
    ['it took too long', 'TimeoutError', ({ given }) => given.abort(tooLong)],
    ['the program says what is wrong', 'TypeError', ({ stream }) => stream.destroy(new TypeError('mine'))],
    ['the program finds a fault', 'ERR_HTTP2_STREAM_ERROR', ({ stream }) => stream.close(NGHTTP2_PROTOCOL_ERROR)],
    ['the server cancels', 'aborted', ({ peer }) => peer.close(NGHTTP2_CANCEL), [false]],
    ['the server ends the connection', 'aborted', ({ peer }) => peer.session?.destroy()],
  ];
  test.each(failures)('but not when %s', async (_, type, act, when = [false, true]) => {
    for (const isAnswered of when) expect(await ended(act, isAnswered)).toEqual(['error', type]);
  });
});
