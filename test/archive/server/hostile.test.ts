// Whatever a client does, slow, huge, damaged or gone, it gets a plain answer or a closed connection, and the next one is served as ever.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodeOtlpJson } from '../../../src/formats/otlp/write-json.js';
import { seededRandom } from '../../exporters/support/records.js';
import { FULL_SPAN } from '../support/any-span.js';
import { mutations } from '../support/mutate.js';
import { toProtobuf } from '../support/otlp-protobuf.js';
import { answerOf, ask, dial, onCleanUp, type Served, serve } from '../support/serve.js';

const body = encodeOtlpJson([FULL_SPAN]);
/** All of time, which this search has to name. */
const EVER = 'query.start_time_min=1970-01-01T00:00:00Z&query.start_time_max=2200-01-01T00:00:00Z';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
    for (let i = 0; i < 4; i++) {
      const { socket } = dial(served.url);
      socket.pause();
      socket.allowHalfOpen = true;
      socket.write(start);
    }
    const connections = () => new Promise((resolve) => served.server.getConnections((_error, count) => resolve(count)));
    while ((await connections()) !== 4) await pause(5);
    while ((await connections()) !== 0) await pause(20);
    await isWell(served);
  });

  test('that do not read the end of their answer are cut off', async () => {
    const served = await serve({ answerTimeoutMs: 300, requestTimeoutMs: 600_000 });
    served.archive.services = async () => Array.from({ length: 300_000 }, (_, i) => `service ${i} ${'x'.repeat(50)}`);
    const { socket } = dial(served.url);
    socket.pause();
    socket.write('GET /api/services HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (served.stats().aborted === 0) await pause(20);
    const connections = () => new Promise((resolve) => served.server.getConnections((_error, count) => resolve(count)));
    while ((await connections()) !== 0) await pause(20);
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
    for (let round = 0; round < 6; round++) {
      const { socket } = dial(served.url);
      const head =
        'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n';
      socket.write(head + ' '.repeat(90_000));
      await pause(20);
      socket.destroy();
      await once(socket, 'close');
    }
    await isWell(served);
    expect(served.stats().bodiesRefused).toBe(0);
  });
});

describe('large requests', () => {
  test('gzip bombs are refused, one and many', async () => {
    const served = await serve({ maxBodyBytes: 1_000_000 });
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
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
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    const chunk = `c350\r\n${' '.repeat(50_000)}\r\n`;
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
    await pause(50);
    await isWell(served);
  });
});

test('2,000 damaged bodies over real connections', async () => {
  const served = await serve();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onCleanUp(() => agent.destroy());
  const { hostname, port } = new URL(served.url);
  const json = mutations([Buffer.from(body)], 21, true);
  const protobuf = mutations([toProtobuf(body)], 22, false);
  const zipped = mutations([gzipSync(body)], 23, false);
  const counts = new Map<number, number>();
  const send = async (i: number): Promise<void> => {
    const source = [json, protobuf, zipped][i % 3];
    const headers: Record<string, string> = {
      'content-type': source === protobuf ? 'application/x-protobuf' : 'application/json',
      ...(source === zipped ? { 'content-encoding': 'gzip' } : {}),
    };
    const sent = request({ hostname, port, path: '/v1/traces', method: 'POST', headers, agent });
    const answer = answerOf(sent);
    sent.end(source.next().value);
    const { status } = await answer;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  };
  for (let i = 0; i < 2000; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => send(i + k)));
  expect([...counts.keys()].sort()).toEqual([200, 400]);
  expect(served.stats()).toMatchObject({ requests: 2000, failed: 0, aborted: 0 });
  await isWell(served);
});

test('1,000 queries of random parts', async () => {
  const served = await serve();
  served.archive.append([FULL_SPAN]);
  const random = seededRandom(31);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
  const paths = ['/api/v3/traces', '/api/traces', '/api/v3/operations', '/api/operations', '/api/v3/trace-summaries'];
  const names = [
    'service',
    'query.service_name',
    'query.start_time_min',
    'query.duration_min',
    'query.attributes',
    'tags',
  ].concat(['tag', 'start', 'end', 'limit', 'minDuration', 'traceID', 'query.search_depth', 'spanKind', '__proto__']);
  const values = [
    '',
    'shop',
    '1',
    '-1',
    '1e9',
    '9'.repeat(30),
    '{}',
    '{"__proto__":"x"}',
    '{"a":{"b":1}}',
    '1h2m3.5s',
  ].concat(['2026-01-01T00:00:00Z', '%00', '%', '%ff', 'a:b', '..', 'server', '<script>']);
  const counts = new Map<number, number>();
  for (let i = 0; i < 1000; i += 20) {
    const asked = Array.from({ length: 20 }, () => {
      const query = Array.from({ length: Math.floor(random() * 5) }, () => `${one(names)}=${one(values)}`).join('&');
      const id = random() < 0.3 ? `/${one(values)}` : '';
      return ask(`${served.url}${one(paths)}${id}?${query}`);
    });
    for (const { status } of await Promise.all(asked)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([200, 400, 404]);
  expect(served.stats().failed).toBe(0);
});

describe('closing', () => {
  test('ends what is being answered, and takes nothing more', async () => {
    const served = await serve();
    let go = (): void => {};
    served.archive.beforeRead = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    const agent = new Agent({ keepAlive: true });
    onCleanUp(() => agent.destroy());
    const idle = request(`${served.url}/`, { agent }).end();
    (await answerOf(idle)).json;
    const running = ask(`${served.url}/api/v3/services`);
    await pause(50);
    const closed = served.close();
    expect(served.close()).toBe(closed);
    await pause(50);
    await expect(ask(`${served.url}/`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    go();
    expect((await running).status).toBe(200);
    await closed;
  });
});
