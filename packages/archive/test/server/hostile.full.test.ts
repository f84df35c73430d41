// Whatever a client does, slow, huge, damaged or gone, it gets a plain answer or a closed connection, and the next one is served as ever.
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { FULL_SPAN } from '../support/any-span.js';
import { damagedBytes } from '../support/mutate.js';
import { toProtobuf } from '../support/otlp-protobuf.js';
import { answerOf, ask, dial, onCleanUp, type Served, serve } from '../support/serve.js';

const body = encodeOtlpJson([FULL_SPAN]);
/** All of time, which this search has to name. */
const EVER = 'query.start_time_min=1970-01-01T00:00:00Z&query.start_time_max=2200-01-01T00:00:00Z';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Connections that a server has. */
const connectionsOf = ({ server }: Served): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

/** The server still answers, and nothing of its room is taken. */
const isWell = async ({ url }: Served): Promise<void> => {
  const headers = { 'content-type': 'application/json' };
  expect((await ask(`${url}/v1/traces`, { method: 'POST', body, headers })).status).toBe(200);
  expect((await ask(`${url}/api/v3/services`)).status).toBe(200);
};

describe('slow clients', () => {
  test.each<[string, string, RegExp]>([
    ['say nothing', '', /^(HTTP\/1\.1 408 |$)/],
    ['never end their headers', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: ', /^HTTP\/1\.1 408 /],
    [
      'never end their body',
      'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
      /^HTTP\/1\.1 408 /,
    ],
    [
      'never end their chunks',
      'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
      /^HTTP\/1\.1 408 /,
    ],
  ])('that %s are sent away', async (_, start, expected) => {
    const served = await serve({ requestTimeoutMs: 200, answerTimeoutMs: 300 });
    const { socket, received } = dial(served.url);
    socket.write(start);
    // Byte by byte keeps a connection from being idle, and must not keep it alive.
    const drip = setInterval(() => {
      if (start !== '' && socket.writable) socket.write(start.includes('chunked') ? '1\r\n \r\n' : 'x');
    }, 40);
    onCleanUp(() => clearInterval(drip));
    expect(await received).toMatch(expected);
    await isWell(served);
  });

  test.each([
    ['say nothing', ''],
    ['speak no HTTP', 'nonsense\r\n\r\n'],
  ])('that %s, read nothing and never hang up hold no connection', async (_, start) => {
    // The time for an answer, which is none of theirs, would let them stay.
    const served = await serve({ requestTimeoutMs: 200, answerTimeoutMs: 600_000, maxConnections: 4 });
    let came = 0;
    served.server.on('connection', () => came++);
    for (let i = 0; i < 4; i++) {
      const { socket } = dial(served.url);
      socket.pause();
      socket.allowHalfOpen = true;
      socket.write(start);
    }
    while (came !== 4) await pause(5);
    while ((await connectionsOf(served)) !== 0) await pause(20);
    await isWell(served);
  });

  test('that do not read the end of their answer are cut off', async () => {
    const served = await serve({ answerTimeoutMs: 300, requestTimeoutMs: 600_000 });
    served.archive.services = async () => Array.from({ length: 10_000 }, (_, i) => `service ${i} ${'x'.repeat(2000)}`);
    const { socket } = dial(served.url);
    socket.pause();
    socket.write('GET /api/services HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (served.stats().aborted === 0) await pause(20);
    while ((await connectionsOf(served)) !== 0) await pause(20);
  });

  test('that do not read their answer are cut off', async () => {
    const served = await serve({ answerTimeoutMs: 300 });
    const large = { ...FULL_SPAN, traceState: 'x'.repeat(1_000_000) };
    for (let i = 0; i < 30; i++) served.archive.append([{ ...large, traceId: i.toString(16).padStart(32, 'a') }]);
    const { socket } = dial(served.url);
    socket.pause();
    socket.write(`GET /api/v3/traces?${EVER} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    while (served.stats().aborted === 0) await pause(20);
    expect(served.stats()).toMatchObject({ aborted: 1, failed: 0 });
    await isWell(served);
  });

  test('that leave in the middle of their answer end its query', async () => {
    const served = await serve();
    let signal: AbortSignal | undefined;
    served.archive.beforeRead = (given) => {
      signal = given;
      return new Promise(() => {});
    };
    const { socket } = dial(served.url);
    socket.write(`GET /api/v3/traces?${EVER} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    while (signal === undefined) await pause(5);
    socket.destroy();
    while (!signal.aborted) await pause(5);
    served.archive.beforeRead = async () => {};
    await isWell(served);
  });

  test('that leave in the middle of their body give its room back', async () => {
    const served = await serve({ maxBodyBytes: 100_000 });
    let taken: Socket | undefined;
    served.server.on('connection', (socket: Socket) => {
      taken = socket;
    });
    for (let round = 0; round < 6; round++) {
      taken = undefined;
      const { socket } = dial(served.url);
      const head =
        'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n';
      socket.write(head + ' '.repeat(90_000));
      while ((taken as Socket | undefined)?.bytesRead !== head.length + 90_000) await pause(5);
      socket.destroy();
      // The server has to have heard of it before the next one comes.
      while ((await connectionsOf(served)) !== 0) await pause(5);
    }
    await isWell(served);
    expect(served.stats().bodiesRefused).toBe(0);
  });
});

describe('large requests', () => {
  test('gzip bombs are refused, one and many', async () => {
    const served = await serve({ maxBodyBytes: 1_000_000 });
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024), { level: 9 });
    expect(bomb.length).toBeLessThan(100_000);
    const send = (type: string) =>
      ask(`${served.url}/v1/traces`, {
        method: 'POST',
        body: bomb,
        headers: { 'content-type': type, 'content-encoding': 'gzip' },
      });
    const types = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'application/json' : 'application/x-protobuf'));
    const answers = await Promise.all(types.map(send));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(413));
    // A bomb in a bomb is bytes of no format.
    const twice = await ask(`${served.url}/v1/traces`, {
      method: 'POST',
      body: gzipSync(bomb),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(twice.status).toBe(400);
    await isWell(served);
  });

  test('a body without end is refused while it comes; who goes on sending is cut off', async () => {
    const served = await serve({ maxBodyBytes: 100_000, requestTimeoutMs: 500 });
    const { socket, received } = dial(served.url);
    socket.write('POST /v1/traces HTTP/1.1\r\nHost: a.localhost\r\nContent-Type: application/json\r\n');
    const chunk = `c350\r\n${' '.repeat(50_000)}\r\n`;
    // Too much at once, and not only after some time, which a busy machine may not have.
    socket.write(`Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}`);
    const flow = setInterval(() => socket.writable && socket.write(chunk), 10);
    onCleanUp(() => clearInterval(flow));
    expect(await received).toMatch(/^HTTP\/1\.1 413 .*larger than 100000 bytes/s);
    await isWell(served);
  });

  test('a body that is far too large: the client reads why, and its connection serves the next request', async () => {
    const served = await serve({ maxBodyBytes: 100_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onCleanUp(() => agent.destroy());
    for (let round = 0; round < 3; round++) {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const sent = request(`${served.url}/v1/traces`, { method: 'POST', headers, agent });
      const answer = answerOf(sent);
      sent.end(Buffer.alloc(20_000_000, ' '));
      expect((await answer).status).toBe(413);
      expect((await answerOf(request(`${served.url}/`, { agent }).end())).status).toBe(200);
    }
    await isWell(served);
  });

  test('nonsense behind a request is not answered in the middle of its answer', async () => {
    const served = await serve();
    for (const id of ['a', 'b']) {
      served.archive.append([{ ...FULL_SPAN, traceId: id.repeat(32), traceState: 'x'.repeat(100_000) }]);
    }
    const { search, traces } = served.archive;
    served.archive.search = async (wanted) =>
      (await search.call(served.archive, wanted)).map((summary) => ({ ...summary, bytes: 100_000_000 }));
    let reads = 0;
    served.archive.traces = (ids, options) =>
      ++reads === 2 ? new Promise(() => {}) : traces.call(served.archive, ids, options);
    const { socket, received } = dial(served.url);
    socket.write(`GET /api/v3/traces?${EVER} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    while (reads < 2) await pause(5);
    socket.write('\x00\x01nonsense\r\n\r\n');
    const text = await received;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).not.toContain('HTTP/1.1 400');
  });

  test.each<[string, string, RegExp]>([
    [
      'headers',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 .*"httpCode":431/s,
    ],
    ['a path', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['nonsense', `${'nonsense '.repeat(5000)}\r\n\r\n`, /^HTTP\/1\.1 4\d\d .*no valid HTTP/s],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 400 /],
    [
      'two lengths',
      'POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a length and chunks',
      'POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('%s', async (_, text, expected) => {
    const served = await serve();
    const { socket, received } = dial(served.url);
    socket.write(text, 'latin1');
    expect(await received).toMatch(expected);
    await isWell(served);
  });

  test('more connections than there may be are closed', async () => {
    const served = await serve({ maxConnections: 5 });
    const dialled = Array.from({ length: 10 }, () => dial(served.url));
    const closed = dialled.slice(5).map(({ received }) => received);
    expect(await Promise.all(closed)).toEqual(Array(5).fill(''));
    for (const { socket } of dialled) socket.destroy();
    while ((await connectionsOf(served)) !== 0) await pause(5);
    await isWell(served);
  });
});

const BODIES = samples(100, 1500, 15_000);

test(`${BODIES} damaged bodies over real connections`, { timeout: 600_000 }, async () => {
  const served = await serve();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onCleanUp(() => agent.destroy());
  const { hostname, port } = new URL(served.url);
  const protobuf = { 'content-type': 'application/x-protobuf' };
  const json = { 'content-type': 'application/json' };
  const sent = fc.oneof(
    fc.tuple(fc.constant<Record<string, string>>(json), damagedBytes([Buffer.from(body)], true)),
    fc.tuple(fc.constant(protobuf), damagedBytes([toProtobuf(body)], false)),
    fc.tuple(fc.constant({ ...json, 'content-encoding': 'gzip' }), damagedBytes([gzipSync(body)], false)),
  );
  let count = 0;
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 20, size: 'max' }), async (bodies) => {
      const answers = bodies.map(([headers, content]) => {
        const one = request({ hostname, port, path: '/v1/traces', method: 'POST', headers, agent });
        const answer = answerOf(one);
        one.end(content);
        return answer;
      });
      for (const { status } of await Promise.all(answers)) {
        count++;
        statuses.add(status);
        expect([200, 400]).toContain(status);
      }
    }),
    { numRuns: BODIES / 10 },
  );
  expect([...statuses].sort()).toEqual([200, 400]);
  expect(served.stats()).toMatchObject({ requests: count, failed: 0, aborted: 0 });
  await isWell(served);
});

const QUERIES = samples(200, 1000, 10_000);

test(`${QUERIES} queries of random parts`, { timeout: 600_000 }, async () => {
  const served = await serve();
  served.archive.append([FULL_SPAN]);
  const path = fc.constantFrom(
    ...['/api/v3/traces', '/api/traces', '/api/v3/operations', '/api/operations', '/api/v3/trace-summaries'],
  );
  const name = fc.constantFrom(
    ...['service', 'query.service_name', 'query.start_time_min', 'query.duration_min', 'query.attributes', 'tags'],
    ...['tag', 'start', 'end', 'limit', 'minDuration', 'traceID', 'query.search_depth', 'spanKind', '__proto__'],
  );
  const value = fc.constantFrom(
    ...['', 'shop', '1', '-1', '1e9', '9'.repeat(30), '{}', '{"__proto__":"x"}', '{"a":{"b":1}}', '1h2m3.5s'],
    ...['2026-01-01T00:00:00Z', '%00', '%', '%ff', 'a:b', '..', 'server', '<script>'],
  );
  const query = fc
    .record({
      path,
      id: fc.option(value, { nil: undefined }),
      pairs: fc.array(fc.tuple(name, value), { maxLength: 4 }),
    })
    .map(
      ({ path, id, pairs }) =>
        `${path}${id === undefined ? '' : `/${id}`}?${pairs.map((pair) => pair.join('=')).join('&')}`,
    );
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(query, { minLength: 1, maxLength: 20, size: 'max' }), async (queries) => {
      for (const { status } of await Promise.all(queries.map((one) => ask(served.url + one)))) {
        statuses.add(status);
        expect([200, 400, 404]).toContain(status);
      }
    }),
    { numRuns: QUERIES / 10 },
  );
  expect([...statuses].sort()).toEqual([200, 400, 404]);
  expect(served.stats().failed).toBe(0);
});

describe('closing', () => {
  test('ends what is being answered, and takes nothing more', async () => {
    const served = await serve();
    let go: (() => void) | undefined;
    served.archive.beforeRead = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    const agent = new Agent({ keepAlive: true });
    onCleanUp(() => agent.destroy());
    const idle = request(`${served.url}/`, { agent }).end();
    (await answerOf(idle)).json;
    const running = ask(`${served.url}/api/v3/services`);
    while (go === undefined) await pause(5);
    const closed = served.close();
    expect(served.close()).toBe(closed);
    await vi.waitFor(() => expect(ask(`${served.url}/`)).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
    go();
    expect((await running).status).toBe(200);
    await closed;
  });
});
