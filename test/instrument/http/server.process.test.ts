// Requests that a server answers: one root each, with the conventions' names, ended once with what became of it.
import { once } from 'node:events';
import { ClientRequest, get as httpGet, IncomingMessage, request, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LocalSpan, Span, stats } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { exchange, instrumentOnly, recorded, recordedOf, serve, settled, when } from '../support.js';

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nhost: shop.example:8080\r\n${headers}\r\n`;
const CLOSE = 'connection: close\r\n';
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03';

test('a request is a root with the stable properties', async () => {
  instrumentOnly({ http: { client: false } });
  const { port } = await serve((_, response) => response.end('ok'));
  await exchange(
    port,
    get('/things?a=1&sig=secret', `${CLOSE}user-agent: probe\r\nx-forwarded-for: 10.1.2.3, 10.0.0.1\r\n`),
  );
  const [span, ...others] = await recorded();
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: 'GET', kind: 'server', status: { code: 'unset' } });
  expect(span.scope).toMatchObject({ name: 'spanline/instrument/http' });
  expect(span.properties).toEqual({
    'http.request.method': 'GET',
    'url.path': '/things',
    'url.query': 'a=1&sig=REDACTED',
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'server.address': 'shop.example',
    'server.port': 8080,
    'user_agent.original': 'probe',
    'client.address': '10.1.2.3',
    'network.peer.address': '127.0.0.1',
    'network.peer.port': expect.any(Number),
    'http.response.status_code': 200,
  });
});

test('it goes on from the caller, tracestate and flags kept', async () => {
  instrumentOnly({ http: { client: false } });
  let out: object | undefined;
  const { port } = await serve((_, response) => {
    out = Span.current()?.context?.toHeaders();
    response.end();
  });
  await exchange(port, get('/', `${CLOSE}traceparent: ${TRACEPARENT}\r\ntracestate: vendor=1\r\n`));
  const [span] = await recorded();
  expect(span).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    hasRemoteParent: true,
  });
  expect(out).toEqual({ traceparent: `00-${span.traceId}-${span.spanId}-03`, tracestate: 'vendor=1' });
});

test('a propagator that throws is counted: the request is a root, and ends', async () => {
  const wrong = (): never => {
    throw new Error('wrong');
  };
  instrumentOnly({ http: { client: false }, propagator: { extract: wrong, inject: wrong, carried: wrong } });
  const before = stats().instrumentationErrors;
  let name: string | undefined;
  const { port } = await serve((_, response) => {
    name = Span.current()?.name;
    response.end();
  });
  await exchange(port, get('/', CLOSE));
  expect((await settled(1)).map((span) => span.properties['http.response.status_code'])).toEqual([200]);
  expect(name).toBe('GET');
  expect(stats().instrumentationErrors - before).toBe(2);
});

test('a caller that does not sample: nothing is recorded, and the decision goes on', async () => {
  instrumentOnly({ http: { client: false } });
  let out = '';
  const { port } = await serve((_, response) => {
    out = Span.current()?.context?.toTraceparent() ?? '';
    response.end();
  });
  await exchange(port, get('/', `${CLOSE}traceparent: ${TRACEPARENT.replace(/03$/, '00')}\r\n`));
  expect(await recorded()).toEqual([]);
  expect(out).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
});

describe('what a handler does belongs to its request', () => {
  test('over awaits, with requests at once on one connection and on several', async () => {
    instrumentOnly({ http: { client: false } });
    const { port } = await serve(async (request, response) => {
      const wait = Number(request.url?.slice(2));
      LocalSpan.start(`before ${wait}`).end();
      await sleep(wait);
      LocalSpan.start(`after ${wait}`).end();
      await Span.startWithLocalParent(`work ${wait}`).runToEnd(() => sleep(1));
      response.end(String(wait));
    });
    const pipelined = [9, 5, 1].map((wait) =>
      get(`/${wait}`, wait === 1 ? CLOSE : '').replace(`/${wait} `, `/?${wait} `),
    );
    await Promise.all([
      exchange(port, pipelined.join('')),
      ...[4, 7, 2].map((wait) => exchange(port, get(`/?${wait}`, CLOSE))),
    ]);
    const spans = await recorded();
    const roots = spans.filter(({ kind }) => kind === 'server');
    expect(roots).toHaveLength(6);
    for (const root of roots) {
      const wait = root.properties['url.query'];
      const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId).map(({ name }) => name);
      expect(children.sort()).toEqual([`after ${wait}`, `before ${wait}`, `work ${wait}`]);
    }
  });

  test('listeners for the body too', async () => {
    instrumentOnly({ http: { client: false } });
    let heard = (): void => {};
    const { port } = await serve((request, response) => {
      let size = 0;
      request.on('data', (data: Buffer) => {
        LocalSpan.start('data').end();
        size += data.length;
        heard();
      });
      request.on('end', () => {
        LocalSpan.start('end').end();
        setImmediate(() => {
          LocalSpan.start('later').end();
          response.end(String(size));
        });
      });
    });
    const socket = connect(port, '127.0.0.1');
    for (let i = 0; i < 2; i++) {
      const first = new Promise<void>((resolve) => {
        heard = resolve;
      });
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\nabc');
      // Else both may come at once.
      await first;
      socket.write('def');
      await once(socket, 'data');
    }
    socket.destroy();
    const spans = await recorded();
    const roots = spans.filter(({ kind }) => kind === 'server');
    expect(roots).toHaveLength(2);
    for (const root of roots) {
      const names = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId).map(({ name }) => name);
      expect(names).toEqual(['data', 'data', 'end', 'later']);
    }
  });

  test('a body read by for await, and one of chunks', async () => {
    instrumentOnly({ http: { client: false } });
    const { port } = await serve(async (request, response) => {
      for await (const _ of request) LocalSpan.start('chunk').end();
      LocalSpan.start('read').end();
      response.end();
    });
    await exchange(
      port,
      `POST / HTTP/1.1\r\nhost: a\r\n${CLOSE}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    const [root, ...children] = await recorded();
    expect(children.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['chunk', root.spanId],
      ['read', root.spanId],
    ]);
  });
});

describe('events of a request and its answer come in its context', () => {
  /** Of each path, events and calls back that did not; undefined for those outside any span. */
  const strays = async (bytes: (read: (until: string) => Promise<unknown>) => AsyncGenerator<string>) => {
    const seen: Record<string, [event: string, path: string | undefined][]> = {};
    const paths = new Map<string | undefined, string>();
    const { port } = await serve((request, response) => {
      const { url: path = '' } = request;
      const events: [string, string | undefined][] = [];
      seen[path] = events;
      paths.set(Span.current()?.context?.traceId, path);
      const note = (event: string) => () => void events.push([event, paths.get(Span.current()?.context?.traceId)]);
      for (const name of ['end', 'aborted', 'error', 'close']) request.on(name, note(`request ${name}`));
      for (const name of ['finish', 'close']) response.on(name, note(`response ${name}`));
      if (path.startsWith('/hang')) return;
      response.write('some', note('written'));
      response.end(path, note('ended'));
    });
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    const read = (until: string) => when(() => answer.includes(until) || (until.startsWith('/hang') && until in seen));
    for await (const part of bytes(read)) socket.write(part);
    socket.destroy();
    // The answer to a request behind one that hangs has no connection that could close.
    const isOver = ([path, events]: [string, [string, unknown][]]): boolean => {
      const names = events.map(([name]) => name);
      return names.includes('request close') && (path.startsWith('/hang') || names.includes('response close'));
    };
    await when(() => Object.entries(seen).every(isOver));
    return Object.entries(seen).map(([path, events]) => ({
      path,
      events: [...new Set(events.map(([name]) => name))].sort(),
      strays: events.filter(([, of]) => of !== path),
    }));
  };
  const ANSWERED = ['ended', 'request close', 'request end', 'response close', 'response finish', 'written'];

  test('answered in turn', async () => {
    instrumentOnly({ http: { client: false } });
    const found = await strays(async function* (read) {
      yield get('/a');
      await read('/a');
      yield get('/b');
      await read('/b');
    });
    expect(found).toEqual(['/a', '/b'].map((path) => ({ path, events: ANSWERED, strays: [] })));
  });

  test('sent before the answer to the one before', async () => {
    instrumentOnly({ http: { client: false } });
    const found = await strays(async function* (read) {
      yield get('/a') + get('/b') + get('/c');
      await read('/c');
    });
    expect(found).toEqual(['/a', '/b', '/c'].map((path) => ({ path, events: ANSWERED, strays: [] })));
  });

  test('given up by the client, one and several', async () => {
    instrumentOnly({ http: { client: false } });
    const gone = ['request aborted', 'request close', 'request error'];
    for (const paths of [['/hang'], ['/hang/a', '/hang/b']]) {
      const found = await strays(async function* (read) {
        yield get('/a');
        await read('/a');
        yield paths.map((path) => get(path)).join('');
        await read(paths.at(-1) ?? '');
      });
      expect(found.slice(1)).toEqual(paths.map((path) => ({ path, events: expect.arrayContaining(gone), strays: [] })));
    }
  });

  test('what is ignored stays so', async () => {
    instrumentOnly({ http: { client: false, server: { ignore: () => true } } });
    let closed = (): void => {};
    const over = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { port } = await serve((request) => {
      request.on('close', () => {
        Span.startWithLocalParent('clean up').end();
        closed();
      });
      request.socket.destroy();
    });
    await exchange(port, get('/'));
    await over;
    expect(await recorded()).toEqual([]);
  });

  test('taken back, messages are as they were', async () => {
    const emits = () =>
      [IncomingMessage, ServerResponse, ClientRequest].map(({ prototype }) => Object.hasOwn(prototype, 'emit'));
    const instrumentation = instrument({ http: { client: false }, undici: false });
    const { port } = await serve((_, response) => response.end());
    await exchange(port, get('/', CLOSE));
    expect(emits()).toEqual([true, true, true]);
    instrumentation.disable();
    expect(emits()).toEqual([false, false, false]);
  });
});

describe('how a request ends', () => {
  test('with a status of 500 and more it is an error of the server; below it is not', async () => {
    instrumentOnly({ http: { client: false } });
    const { port } = await serve((request, response) => {
      response.statusCode = Number(request.url?.slice(1));
      response.end();
    });
    for (const code of [404, 503]) await exchange(port, get(`/${code}`, CLOSE));
    const [missing, failed] = await recorded();
    expect(missing).toMatchObject({ status: { code: 'unset' }, properties: { 'http.response.status_code': 404 } });
    expect(missing.properties).not.toHaveProperty('error.type');
    expect(failed).toMatchObject({
      status: { code: 'error' },
      properties: { 'http.response.status_code': 503, 'error.type': '503' },
    });
  });

  test('the client goes away before the answer, and in the middle of it', async () => {
    instrumentOnly({ http: { client: false } });
    const sockets: Socket[] = [];
    const { port } = await serve((request, response) => {
      sockets.push(request.socket);
      if (request.url === '/some') response.write('some');
    });
    await exchange(port, get('/some'), 'some');
    const socket = connect(port, '127.0.0.1', () => socket.write(get('/none')));
    await when(() => sockets.length === 2);
    socket.destroy();
    await when(() => sockets.every((one) => one.destroyed));
    await sleep(1);
    const spans = await recorded();
    expect(
      spans.map(({ properties }) => [
        properties['url.path'],
        properties['error.type'],
        properties['http.response.status_code'],
      ]),
    ).toEqual([
      ['/some', 'aborted', 200],
      ['/none', 'aborted', undefined],
    ]);
  });

  test('the server closes its connections', async () => {
    instrumentOnly({ http: { client: false } });
    let open = 0;
    const { port, server } = await serve(() => {
      if (++open === 2) server.closeAllConnections();
    });
    await Promise.all([exchange(port, get('/')), exchange(port, get('/'))]);
    await sleep(1);
    expect((await recorded()).map(({ properties }) => properties['error.type'])).toEqual(['aborted', 'aborted']);
  });

  test('once, whatever follows: nothing is counted as ended twice', async () => {
    instrumentOnly({ http: { client: false } });
    const before = stats();
    const { port } = await serve((_, response) => {
      response.end('x');
      response.destroy();
    });
    await exchange(port, get('/', CLOSE)).catch(() => {});
    expect(await settled(1)).toHaveLength(1);
    expect(stats().endedTwice).toBe(before.endedTwice);
    expect(stats().instrumentationErrors).toBe(before.instrumentationErrors);
  });
});

describe('what is not a plain request', () => {
  test('100-continue, with the default answer and with one of its own', async () => {
    instrumentOnly({ http: { client: false } });
    const { port, server } = await serve((request, response) => {
      request.resume().on('end', () => response.end('done'));
    });
    const body = `POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n`;
    await exchange(port, `${body}abc`, 'done');
    server.on('checkContinue', (_: IncomingMessage, response) => response.writeHead(417).end());
    await exchange(port, body, '417');
    const codes = (await settled(2)).map(({ properties }) => properties['http.response.status_code']);
    expect(codes).toEqual([200, 417]);
  });

  test('an upgrade and a malformed request are not spans, and work', async () => {
    instrumentOnly({ http: { client: false } });
    const { port, server } = await serve((_, response) => response.end('plain'));
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    const upgraded = await exchange(port, get('/', 'connection: upgrade\r\nupgrade: websocket\r\n'));
    expect(upgraded).toContain('101');
    expect(await exchange(port, 'NONSENSE\r\n\r\n')).toContain('400');
    expect(await recorded()).toEqual([]);
  });

  test('a method that nobody knows has a name that clients cannot choose', async () => {
    instrumentOnly({ http: { client: false } });
    const { port } = await serve((_, response) => response.end());
    await exchange(port, get('/', CLOSE).replace('GET', 'PURGE'));
    const [span] = await recorded();
    expect(span).toMatchObject({
      name: 'HTTP',
      properties: { 'http.request.method': '_OTHER', 'http.request.method_original': 'PURGE' },
    });
  });

  test('long targets are cut', async () => {
    instrumentOnly({ http: { client: false } });
    const { port } = await serve((_, response) => response.end());
    await exchange(port, get(`/${'a'.repeat(5000)}?${'b'.repeat(5000)}`, CLOSE));
    const [{ properties }] = await recorded();
    expect([String(properties['url.path']).length, String(properties['url.query']).length]).toEqual([2048, 2047]);
  });
});

describe('hooks', () => {
  test('ignored requests are not traced, nor what they call', async () => {
    instrumentOnly({ http: { client: false, server: { ignore: ({ url }) => url === '/health' } } });
    const { port } = await serve((_, response) => {
      Span.startWithLocalParent('inside').end();
      response.end();
    });
    for (const path of ['/health', '/work']) await exchange(port, get(path, CLOSE));
    expect((await recorded()).map(({ name }) => name)).toEqual(['GET', 'inside']);
  });

  test('enrich sees the answer; headers only where they are asked for', async () => {
    instrumentOnly({
      http: {
        client: false,
        server: {
          enrich: (span, _, response) =>
            void span.addProperty('answer.length', Number(response.getHeader('content-length'))),
          requestHeaders: ['X-Id', 'absent'],
          responseHeaders: ['Content-Type'],
        },
      },
    });
    const { port } = await serve((_, response) => response.setHeader('content-length', 2).end('ok'));
    await exchange(port, get('/', `${CLOSE}x-id: 7\r\nauthorization: secret\r\n`));
    const [{ properties }] = await recorded();
    expect(properties).toMatchObject({ 'answer.length': 2, 'http.request.header.x-id': ['7'] });
    expect(JSON.stringify(properties)).not.toContain('secret');
  });

  test('one that throws is counted, and harms nobody', async () => {
    const fail = (): never => {
      throw new Error('mine');
    };
    instrumentOnly({ http: { client: false, server: { ignore: fail, enrich: fail } } });
    const before = stats().callbackErrors;
    const { port } = await serve((_, response) => response.end('fine'));
    expect(await exchange(port, get('/', CLOSE))).toContain('fine');
    expect(await recordedOf('server')).toHaveLength(1);
    expect(stats().callbackErrors).toBe(before + 2);
  });
});

test('a route that a program says, where it keeps a stream on the request', async () => {
  const { setRoute } = await import('../../../src/instrument/index.js');
  instrumentOnly({ http: { client: false } });
  const { port } = await serve((request, response) => {
    Object.assign(request, { stream: new PassThrough() });
    setRoute(request, '/things/:id');
    response.end();
  });
  await exchange(port, get('/things/7', CLOSE));
  expect((await recordedOf('server')).map(({ name }) => name)).toEqual(['GET /things/:id']);
});

test('disabled: nothing is traced any more, and a request under way still ends', async () => {
  const instrumentation = instrument({ http: { client: false }, undici: false });
  const { port } = await serve((request, response) => {
    if (request.url === '/first') instrumentation.disable();
    response.end();
  });
  await exchange(port, get('/first', CLOSE));
  await exchange(port, get('/second', CLOSE));
  instrumentation.disable();
  const spans = await recorded();
  expect(spans.map(({ properties }) => [properties['url.path'], properties['http.response.status_code']])).toEqual([
    ['/first', 200],
  ]);
});

test('one frame of ours at most stands in a stack: below a body that is read, and a call that cannot be sent', async () => {
  instrumentOnly({ http: true });
  const stacks: string[] = [];
  const note = (): void => void stacks.push(String(new Error('where').stack));
  const { port } = await serve((request, response) => {
    note();
    request.on('data', note);
    request.on('end', () => {
      note();
      response.end();
    });
  });
  await exchange(port, `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n${CLOSE}\r\nbody`);
  expect(stacks).toHaveLength(3);
  for (const call of [() => request('no address'), () => httpGet('no address')]) {
    try {
      call();
    } catch (error) {
      stacks.push(String((error as Error).stack));
    }
  }
  expect(stacks).toHaveLength(5);
  for (const stack of stacks) expect(stack.split('\n').filter((line) => line.includes('/src/')).length).toBeLessThan(2);
});
