// Requests that the program sends, by `http` and by `fetch`: children of what sends them, with the context in their headers, ended with
// the answer's body.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as namespace from 'node:http';
import http, { type ClientRequest, type IncomingMessage, type RequestOptions, type Server } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { Collector, Span, type SpanContext, stats } from '../../../src/index.js';
import type { Propagator } from '../../../src/instrument/propagator.js';
import { deadUrl, startServer } from '../../exporters/support/http-server.js';
import { counted } from '../../support/recorder.js';
import { library } from '../libraries.js';
import {
  askedBySixteen,
  eachItsOwn,
  instrumentOnly,
  later,
  recorded,
  recordedOf,
  type Served,
  serve,
  settled,
  writesBroken,
} from '../support.js';

const CLIENT = { http: { server: false } } as const;
const BOTH = { http: { server: false }, undici: true } as const;

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
};

const send = async (request: ClientRequest): Promise<string> => {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return bodyOf(response);
};

const inRoot = async <T>(work: () => Promise<T>): Promise<T> => {
  const root = Span.root('work');
  try {
    return await root.run(work);
  } finally {
    root.end();
  }
};

/** Answers with the headers that it got. */
const echo = () => serve((request, response) => response.end(JSON.stringify(request.headers)));

const ways: [
  string,
  (url: string, init?: { method?: string; headers?: Record<string, string>; body?: string }) => Promise<string>,
][] = [
  ['http.request', (url, { body, ...init } = {}) => send(http.request(url, init).end(body))],
  [
    'http.get of the namespace',
    (url, init = {}) => send(namespace.get(url, { headers: init.headers, method: init.method })),
  ],
  ['fetch', async (url, init) => (await fetch(url, init)).text()],
];

describe.each(ways)('%s', (_, call) => {
  test('a child with the stable properties, whose context goes out', async () => {
    instrumentOnly(BOTH);
    const { url, port } = await echo();
    const answer = JSON.parse(await inRoot(() => call(`${url}/a?sig=secret&b=1`, { headers: { 'x-own': 'kept' } })));
    const [root, span, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ traceparent: `00-${root.traceId}-${span.spanId}-03`, 'x-own': 'kept' });
    expect(span).toMatchObject({ name: 'GET', kind: 'client', parentSpanId: root.spanId, status: { code: 'unset' } });
    expect(span.properties).toMatchObject({
      'http.request.method': 'GET',
      'url.full': `${url}/a?sig=REDACTED&b=1`,
      'server.address': '127.0.0.1',
      'server.port': port,
      'http.response.status_code': 200,
    });
  });

  test('sixteen at once, each in its own trace', async () => {
    instrumentOnly(BOTH);
    const { url } = await echo();
    const sent: string[] = [];
    const asked = await askedBySixteen(
      async (i) => sent.push(`${i}: ${JSON.parse(await call(`${url}/${i}`)).traceparent}`),
      ({ traceId, spanId, properties }) => {
        const path = String(properties['url.full']).slice(url.length + 1);
        expect(sent.find((one) => one.startsWith(`${path}: `))).toContain(`-${traceId}-${spanId}-`);
        return path;
      },
    );
    expect(asked).toEqual(eachItsOwn(String));
  });

  test('from 400 on it is an error', async () => {
    instrumentOnly(BOTH);
    const { url } = await serve((_, response) => response.writeHead(404).end());
    await inRoot(() => call(url));
    const [span] = await recordedOf('client');
    expect(span).toMatchObject({
      status: { code: 'error' },
      properties: { 'http.response.status_code': 404, 'error.type': '404' },
    });
  });

  test('nobody listens', async () => {
    instrumentOnly(BOTH);
    const url = await deadUrl();
    await expect(inRoot(() => call(url))).rejects.toThrow();
    const [span] = await recordedOf('client');
    expect(span).toMatchObject({ status: { code: 'error' }, properties: { 'error.type': 'ECONNREFUSED' } });
  });

  test('a body that is cut off', async () => {
    instrumentOnly(BOTH);
    const { url } = await serve((request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('abc');
      setTimeout(() => request.socket.destroy(), 10);
    });
    await expect(inRoot(() => call(url))).rejects.toThrow();
    const spans = await recordedOf('client');
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ status: { code: 'error' }, properties: { 'error.type': expect.any(String) } });
  });

  test('without a parent it is a root, or nothing', async () => {
    instrumentOnly(BOTH);
    const { url } = await echo();
    const sent = JSON.parse(await call(url)) as { traceparent: string };
    const [span] = await recorded();
    expect(sent.traceparent).toContain(`${span.traceId}-${span.spanId}`);
    expect(span).toMatchObject({ parentSpanId: '', kind: 'client' });
  });

  test('requireParent: nothing without one', async () => {
    instrumentOnly({ http: { server: false, client: { requireParent: true } }, undici: { requireParent: true } });
    const { url } = await echo();
    expect(JSON.parse(await call(url))).not.toHaveProperty('traceparent');
    expect(await recorded()).toEqual([]);
  });

  test('an ignored call, hooks that throw', async () => {
    const fail = (): never => {
      throw new Error('mine');
    };
    const ignore = ({ path }: { path: string }): boolean => path === '/ignored' || fail();
    instrumentOnly({ http: { server: false, client: { ignore, enrich: fail } }, undici: { ignore, enrich: fail } });
    const before = stats().callbackErrors;
    const { url } = await echo();
    expect(JSON.parse(await call(`${url}/ignored`))).not.toHaveProperty('traceparent');
    expect(JSON.parse(await call(`${url}/other`))).toHaveProperty('traceparent');
    expect(await recorded()).toHaveLength(1);
    expect(stats().callbackErrors).toBe(before + 2);
  });

  test('what a propagator writes that no header can have, and that it throws, is counted and left out', async () => {
    instrumentOnly({ ...BOTH, propagator: writesBroken });
    const { url } = await echo();
    const { instrumentationErrors } = await counted(async () => {
      const sent = JSON.parse(await call(url)) as { traceparent: string };
      const [{ traceId, spanId }] = await settled(1);
      expect(sent).toMatchObject({ traceparent: `00-${traceId}-${spanId}-03` });
    });
    expect(instrumentationErrors).toBe(3);
  });

  test('an unsampled parent: the decision goes out, nothing is recorded', async () => {
    instrumentOnly(BOTH);
    const { url } = await echo();
    const root = Span.root(
      'work',
      (await import('../../../src/index.js')).SpanContext.random({ sampled: false }) as SpanContext,
    );
    const { traceparent } = JSON.parse(await root.run(() => call(url))) as { traceparent: string };
    root.end();
    expect(traceparent).toMatch(/-0[02]$/);
    expect(await recorded()).toEqual([]);
  });

  test('a call under way when it is taken back still ends', async () => {
    const { instrument } = await import('../../../src/instrument/instrument.js');
    const { disable } = instrument(BOTH);
    later(disable);
    const { url } = await serve((_, response) => {
      disable();
      response.end('fine');
    });
    expect(await inRoot(() => call(url))).toBe('fine');
    expect((await recordedOf('client')).map(({ properties }) => properties['http.response.status_code'])).toEqual([
      200,
    ]);
  });

  test('after disable it is as before', async () => {
    const { instrument } = await import('../../../src/instrument/instrument.js');
    const original = http.request;
    instrument(BOTH).disable();
    const { url } = await echo();
    expect(JSON.parse(await call(url))).not.toHaveProperty('traceparent');
    expect(http.request).toBe(original);
  });
});

describe('http', () => {
  test('headers given as a list, and a request that waits for 100-continue, go out as they are', async () => {
    instrumentOnly(CLIENT);
    const { url } = await echo();
    const listed = JSON.parse(
      await inRoot(() => send(http.request(url, { headers: ['host', 'a', 'x-list', '1'] as never }).end())),
    );
    expect(listed).toMatchObject({ 'x-list': '1' });
    const waiting = await inRoot(() =>
      send(http.request(url, { method: 'POST', headers: { expect: '100-continue' } }).end('x')),
    );
    expect(JSON.parse(waiting)).toMatchObject({ expect: '100-continue' });
    expect(await recordedOf('client')).toHaveLength(2);
  });

  test('HEAD, an answer nobody reads to its end, and one given up', async () => {
    instrumentOnly(CLIENT);
    const { url } = await serve((request, response) => (request.url === '/slow' ? undefined : response.end('body')));
    await inRoot(() => send(http.request(url, { method: 'HEAD' }).end()));
    const given = http.get(`${url}/slow`, () => {});
    given.on('error', () => {});
    setTimeout(() => given.destroy(), 10);
    await new Promise((resolve) => given.once('close', resolve));
    const [head, up] = await recordedOf('client');
    expect(head).toMatchObject({ name: 'HEAD', status: { code: 'unset' } });
    expect(up.status).toEqual({ code: 'unset' });
  });

  test('an upgrade ends with its status', async () => {
    instrumentOnly(CLIENT);
    const { url, server } = await echo();
    server.on('upgrade', (_, socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    const request = http.request(url, { headers: { connection: 'upgrade', upgrade: 'x' } }).end();
    const [, socket] = await once(request, 'upgrade');
    socket.destroy();
    const [span] = await settled(1);
    expect(span).toMatchObject({ status: { code: 'unset' }, properties: { 'http.response.status_code': 101 } });
  });

  test.each(['this', 'another'])('what exporters of %s copy of this package send is not a span', async (copy) => {
    instrumentOnly(CLIENT);
    if (copy === 'another') vi.resetModules();
    const { OtlpReporter } = await import('../../../src/exporters/otlp.js');
    const sink = await startServer();
    later(() => sink.close());
    const collector = new Collector();
    collector.setReporter(new OtlpReporter({ endpoint: sink.url }));
    Span.root('job', undefined, { collector }).end();
    await collector.shutdown();
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0].headers).not.toHaveProperty('traceparent');
    expect(await recorded()).toEqual([]);
  });

  test('functions keep their names and lengths', () => {
    const { name, length } = http.get;
    instrumentOnly(CLIENT);
    expect([http.get.name, http.get.length]).toEqual([name, length]);
  });
});

test('fetch: each redirect is a span, with a context of its own', async () => {
  instrumentOnly(BOTH);
  const seen: unknown[] = [];
  const { url } = await serve((request, response) => {
    // As they came: a header that is there twice would be joined.
    seen.push(request.rawHeaders.filter((_, i, all) => all[i - 1]?.toLowerCase() === 'traceparent'));
    if (request.url === '/from') response.writeHead(302, { location: '/to' }).end();
    else response.end('there');
  });
  expect(await inRoot(async () => (await fetch(`${url}/from`)).text())).toBe('there');
  const spans = await recordedOf('client');
  expect(spans.map(({ properties }) => properties['http.response.status_code'])).toEqual([302, 200]);
  expect(seen).toEqual(spans.map(({ traceId, spanId }) => [`00-${traceId}-${spanId}-03`]));
  expect(spans[1].properties).toMatchObject({
    'network.protocol.version': '1.1',
    'network.peer.address': '127.0.0.1',
    'network.peer.port': Number(new URL(url).port),
  });
});

const GIVEN = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, Tracestate: 'v=1', baggage: 'user=7' };

/** A context with all three headers, as propagators of OpenTelemetry's API send it. */
const sendsAll: Propagator = {
  extract: () => undefined,
  inject(context, set) {
    set('traceparent', context.toTraceparent());
    set('tracestate', 'ours=1');
    set('baggage', 'user=8');
  },
};

describe.each<[string, (url: string) => Promise<unknown>]>([
  ['http.request', (url) => send(http.request(url, { headers: GIVEN }).end())],
  ['fetch', async (url) => (await fetch(url, { headers: GIVEN })).text()],
  ['undici.request', async (url) => (await library('undici').request(url, { headers: GIVEN })).body.text()],
  [
    'undici.request with a list',
    async (url) => (await library('undici').request(url, { headers: Object.entries(GIVEN).flat() })).body.text(),
  ],
])('%s: a context that the headers have already', (_, call) => {
  /** What goes out of such headers, and the `traceparent` of the call. */
  const sentBy = async (propagator?: Propagator): Promise<[sent: string[][], traceparent: string]> => {
    instrumentOnly({ ...BOTH, propagator });
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      seen.push(...request.rawHeaders);
      response.end();
    });
    await inRoot(() => call(url));
    const [{ traceId, spanId }] = await recordedOf('client');
    const sent = seen.flatMap((name, i) =>
      i % 2 === 0 && /^(?:traceparent|tracestate|baggage)$/i.test(name) ? [[name.toLowerCase(), seen[i + 1]]] : [],
    );
    return [sent.sort(), `00-${traceId}-${spanId}-03`];
  };

  test('is replaced', async () => {
    const [sent, traceparent] = await sentBy(sendsAll);
    expect(sent).toEqual([
      ['baggage', 'user=8'],
      ['traceparent', traceparent],
      ['tracestate', 'ours=1'],
    ]);
  });

  test('leaves no state of its trace behind, and baggage is the program’s own', async () => {
    const [sent, traceparent] = await sentBy();
    expect(sent).toEqual([
      ['baggage', 'user=7'],
      ['traceparent', traceparent],
    ]);
  });
});

/** A signal that gives `reason`, once the server has the request. */
const givenUp = (server: Server, reason?: unknown): AbortSignal => {
  const given = new AbortController();
  server.once('request', () => given.abort(reason));
  return given.signal;
};

/** Has the head of an answer and a part of its body, and never the rest. */
const begun = () => serve((_, response) => void response.writeHead(200).write('part'));

/** An error whose name and message throw when somebody looks at them; its code is Node's own to read. */
const unreadable = (): Error => {
  const error = new Error('mine');
  for (const key of ['name', 'message'])
    Object.defineProperty(error, key, {
      get() {
        throw new TypeError('not to be looked at');
      },
    });
  return error;
};

describe('given up on purpose it has not failed', () => {
  const expectUnset = async (): Promise<void> => {
    const [span, ...others] = await settled(1);
    expect(others).toEqual([]);
    expect(span.status).toEqual({ code: 'unset' });
    expect(span.properties).not.toHaveProperty('error.type');
  };

  class Left extends Error {}
  const senders: [string, (url: string, signal: AbortSignal) => Promise<unknown>][] = [
    ['fetch', (url, signal) => fetch(url, { signal })],
    ['fetch with a body', (url, signal) => fetch(url, { signal, method: 'POST', body: 'x' })],
    ['undici.request', (url, signal) => library('undici').request(url, { signal })],
    ['http.get', (url, signal) => once(http.get(url, { signal }), 'response')],
  ];
  describe.each(senders)('%s', (_, ask) => {
    test.each([undefined, null, 'left', new Left('changed my mind'), { left: true }])('for %s', async (reason) => {
      instrumentOnly(BOTH);
      const { url, server } = await serve((request) => void request.resume());
      await expect(ask(url, givenUp(server, reason))).rejects.toBeDefined();
      await expectUnset();
    });

    test('for what cannot be looked at', async () => {
      instrumentOnly(BOTH);
      const { url, server } = await serve((request) => void request.resume());
      const failed = await ask(url, givenUp(server, unreadable())).then(
        () => false,
        () => true,
      );
      expect(failed).toBe(true);
      await expectUnset();
    });
  });

  const silent = () => serve((request) => void request.resume());
  type Asked = { readonly request: ClientRequest; readonly agent: http.Agent; readonly server: Server };
  const destroyers: [string, (asked: Asked) => unknown][] = [
    ['when it has arrived', async ({ server, request }) => (await once(server, 'request')) && request.destroy()],
    ['by its older name', async ({ server, request }) => (await once(server, 'request')) && request.abort()],
    ['before it has a connection', ({ request }) => request.destroy()],
    ['while it connects', async ({ request }) => (await once(request, 'socket')) && request.destroy()],
    ['with its agent', async ({ server, agent }) => (await once(server, 'request')) && agent.destroy()],
  ];
  test.each(destroyers)('http.get: destroy before the answer, %s', async (_, destroy) => {
    instrumentOnly(CLIENT);
    const { url, server } = await silent();
    const agent = new http.Agent();
    const request = http.get(url, { agent });
    const failed = once(request, 'error');
    await destroy({ server, request, agent });
    await failed;
    await expectUnset();
  });

  const failures: [string, string, (server: Server, request: ClientRequest) => unknown][] = [
    ['its time is up', 'TimeoutError', (_, request) => request.setTimeout(1, () => request.destroy())],
    ['the program says what is wrong', 'TypeError', (_, request) => request.destroy(new TypeError('mine'))],
    ['the program says what cannot be looked at', '_OTHER', (_, request) => request.destroy(unreadable())],
    [
      'the server hangs up',
      'ECONNRESET',
      async (server) => ((await once(server, 'request')) as [IncomingMessage])[0].socket.end(),
    ],
    [
      'the server resets',
      'ECONNRESET',
      async (server) => ((await once(server, 'request')) as [IncomingMessage])[0].socket.resetAndDestroy(),
    ],
    [
      'the server hangs up on what gives up later',
      'ECONNRESET',
      async (server, request) => {
        request.on('error', () => request.destroy());
        ((await once(server, 'request')) as [IncomingMessage])[0].socket.end();
      },
    ],
  ];
  test.each(failures)('but not when %s', async (_, type, destroy) => {
    instrumentOnly(CLIENT);
    const { url, server } = await silent();
    const request = http.get(url);
    const failed = once(request, 'error');
    await destroy(server, request);
    await failed;
    const [span] = await settled(1);
    expect(span).toMatchObject({ status: { code: 'error' }, properties: { 'error.type': type } });
  });

  const readers: [string, (url: string) => unknown][] = [
    ['fetch: cancel', async (url) => (await fetch(url)).body?.cancel()],
    ['fetch: cancel with a reason', async (url) => (await fetch(url)).body?.cancel(new Left('enough'))],
    [
      'fetch: break',
      async (url) => {
        for await (const part of (await fetch(url)).body ?? []) if (part !== undefined) break;
      },
    ],
    [
      'undici.request: break',
      async (url) => {
        for await (const part of (await library('undici').request(url)).body) if (part !== undefined) break;
      },
    ],
    [
      'http.get: break',
      async (url) => {
        const [response] = (await once(http.get(url), 'response')) as [IncomingMessage];
        for await (const part of response) if (part !== undefined) break;
      },
    ],
    [
      'http.get: destroy of its answer',
      async (url) => ((await once(http.get(url), 'response')) as [IncomingMessage])[0].destroy(),
    ],
    [
      'http.get: destroy of the request',
      async (url) => {
        const request = http.get(url);
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.on('error', () => {});
        request.destroy();
      },
    ],
    [
      'http.get: signal',
      async (url) => {
        const given = new AbortController();
        const request = http.get(url, { signal: given.signal }).on('error', () => {});
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.on('error', () => {});
        given.abort('enough');
      },
    ],
  ];
  test.each(readers)('in the answer: %s', async (_, read) => {
    instrumentOnly(BOTH);
    const { url } = await begun();
    await read(url);
    await expectUnset();
  });
});

describe('addresses', () => {
  const addressOf = async (): Promise<unknown[]> => {
    const [span] = await settled(1);
    const { properties } = span;
    return [properties['url.full'], properties['server.address'], properties['server.port']];
  };

  test.each<[string, RequestOptions]>([
    ['setHost: false', { setHost: false }],
    ['headers as a list', { headers: ['x-list', '1'] as never }],
  ])('http.request with %s', async (_, options) => {
    instrumentOnly(CLIENT);
    const { port, server } = await serve((_request, response) => response.end());
    // Without a Host it is refused by default.
    (server as { requireHostHeader?: boolean }).requireHostHeader = false;
    await send(http.get({ host: '127.0.0.1', port, path: '/a', ...options }));
    expect(await addressOf()).toEqual([`http://127.0.0.1:${port}/a`, '127.0.0.1', port]);
    const dead = Number(new URL(await deadUrl()).port);
    await expect(once(http.get({ host: '127.0.0.1', port: dead, ...options }), 'response')).rejects.toThrow();
    expect(await addressOf()).toEqual([`http://127.0.0.1:${dead}/`, '127.0.0.1', dead]);
  });

  test.each<[string, (url: string) => Promise<unknown>]>([
    ['http.get', (url) => once(http.get(url), 'response')],
    ['fetch', (url) => fetch(url)],
  ])('%s: IPv6', async (_, call) => {
    instrumentOnly(BOTH);
    const { port } = new URL(await deadUrl());
    await expect(call(`http://[::1]:${port}/a`)).rejects.toThrow();
    expect(await addressOf()).toEqual([`http://[::1]:${port}/a`, '::1', Number(port)]);
  });

  const proxies: [string, (proxy: Served, url: string) => Promise<unknown>][] = [
    ['http.request', (proxy, url) => send(http.get({ host: '127.0.0.1', port: proxy.port, path: url }))],
    [
      'ProxyAgent of undici',
      async (proxy, url) => {
        const { ProxyAgent, request } = library('undici');
        const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: false });
        later(() => dispatcher.close());
        return (await request(url, { dispatcher })).body.text();
      },
    ],
  ];
  // As NODE_USE_ENV_PROXY asks for; before Node 26 its fetch asks for a tunnel.
  if (Number.parseInt(process.versions.node, 10) >= 26) {
    proxies.push([
      'fetch of Node',
      async (proxy, url) => {
        const { setGlobalProxyFromEnv } = http as unknown as { setGlobalProxyFromEnv(env: object): () => void };
        later(setGlobalProxyFromEnv({ http_proxy: proxy.url }));
        return (await fetch(url)).text();
      },
    ]);
  }
  test.each(proxies)('%s through a proxy that is sent whole addresses', async (_, call) => {
    instrumentOnly(BOTH);
    const proxy = await serve((request, response) => response.end(request.url));
    await call(proxy, 'http://shop.example:8080/a?b=1');
    expect(await addressOf()).toEqual(['http://shop.example:8080/a?b=1', 'shop.example', 8080]);
  });
});

describe('a connection that is handed over', () => {
  const switching = async (): Promise<string> => {
    const { url, server } = await serve((_, response) => void response.writeHead(404).end());
    server.on('upgrade', (request, socket) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      if (request.url === '/refused') socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      else
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
        );
      socket.on('error', () => {});
      later(() => socket.destroy());
    });
    server.on('connect', (_, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    return url;
  };
  const opened = async (kind: typeof WebSocket, url: string): Promise<void> => {
    const web = new kind(url.replace('http:', 'ws:'));
    later(() => web.close());
    await new Promise((resolve) => {
      web.onopen = resolve;
      web.onerror = resolve;
    });
  };
  const headers = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
  const ways: [string, (url: string) => Promise<unknown>, string, number][] = [
    [
      'undici.upgrade',
      async (url) =>
        (await library('undici').upgrade(url, { protocol: 'websocket', headers })).socket
          .on('error', () => {})
          .destroy(),
      'GET',
      101,
    ],
    [
      'undici.connect',
      async (url) =>
        (await library('undici').connect(url, { path: 'there:80' })).socket.on('error', () => {}).destroy(),
      'CONNECT',
      200,
    ],
    ['WebSocket of undici', (url) => opened(library('undici').WebSocket, url), 'GET', 101],
  ];
  if (typeof WebSocket === 'function') ways.push(['WebSocket of Node', (url) => opened(WebSocket, url), 'GET', 101]);

  test.each(ways)('%s ends with its status', async (_, call, name, status) => {
    instrumentOnly(BOTH);
    await call(await switching());
    const [span, ...others] = await settled(1);
    expect(others).toEqual([]);
    expect(span).toMatchObject({ name, kind: 'client', status: { code: 'unset' } });
    expect(span.properties).toMatchObject({ 'http.response.status_code': status, 'network.protocol.version': '1.1' });
  });

  test('one that is refused is an error, once', async () => {
    instrumentOnly(BOTH);
    const url = await switching();
    await opened(library('undici').WebSocket, `${url}/refused`);
    const spans = await settled(1);
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ status: { code: 'error' } });
  });

  test('what enrich is given', async () => {
    const seen: unknown[] = [];
    instrumentOnly({ undici: { enrich: (_, { method }, response) => void seen.push(method, response?.statusCode) } });
    (await library('undici').connect(await switching(), { path: 'there:80' })).socket.on('error', () => {}).destroy();
    await settled(1);
    expect(seen).toEqual(['CONNECT', 200]);
  });
});

test('a body that fails while it is sent is a failure', async () => {
  instrumentOnly(BOTH);
  const { url } = await serve((request) => void request.resume());
  const body = (async function* () {
    yield Buffer.from('part');
    throw new Error('no more');
  })();
  await expect(fetch(url, { method: 'POST', duplex: 'half', body } as never)).rejects.toThrow();
  const [span] = await settled(1);
  expect(span.status.code).toBe('error');
});

test.each<[string, (url: string, signal: AbortSignal) => Promise<unknown>]>([
  ['fetch', (url, signal) => fetch(url, { signal })],
  ['undici.request', (url, signal) => library('undici').request(url, { signal })],
  ['http.get', (url, signal) => once(http.get(url, { signal }), 'response')],
])('%s that took too long', async (_, ask) => {
  instrumentOnly(BOTH);
  const { url, server } = await serve(() => {});
  // What the signal of a timeout gives.
  await expect(ask(url, givenUp(server, new DOMException('too long', 'TimeoutError')))).rejects.toThrow();
  const [span] = await settled(1);
  expect(span).toMatchObject({ status: { code: 'error' }, properties: { 'error.type': 'TimeoutError' } });
});
