// The sender says of every request whether it arrived, may arrive later (and when), or never will; and it stays within its bounds.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReportError } from '../../../src/collector/reporter.js';
import { HttpSender, type HttpSenderOptions, parseRetryAfter } from '../../../src/exporters/http/sender.js';
import { deadUrl, startServer, type TestServer } from '../support/http-server.js';

let server: TestServer;
const senders: HttpSender[] = [];

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  for (const sender of senders.splice(0)) sender.close();
  await server.close();
});

const open = (options: Partial<HttpSenderOptions> = {}): HttpSender => {
  const sender = new HttpSender({
    endpoint: `${server.url}/in`,
    headers: { 'x-key': 'k1' },
    timeoutMs: 30_000,
    ...options,
  });
  senders.push(sender);
  return sender;
};

const body = Buffer.from('spans');
const never = new AbortController().signal;

const failure = async (sent: Promise<unknown>): Promise<ReportError> => {
  const error = await sent.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ReportError);
  return error as ReportError;
};

test('posts the body with its headers and gives the answer', async () => {
  server.answer = (response) => response.writeHead(202, { 'x-said': 'thanks' }).end('later');
  const answer = await open().post(body, never);
  expect(answer).toMatchObject({ status: 202, headers: { 'x-said': 'thanks' }, body: Buffer.from('later') });
  expect(server.requests).toMatchObject([
    { method: 'POST', path: '/in', body, headers: { 'x-key': 'k1', 'content-length': '5' } },
  ]);
});

test('uses one connection again and again', async () => {
  const sender = open();
  for (let i = 0; i < 5; i++) await sender.post(body, never);
  expect(new Set(server.requests.map(({ clientPort }) => clientPort)).size).toBe(1);
});

test('a kept connection that the server has closed meanwhile costs nothing', async () => {
  const sender = open();
  // Closed without an answer at its second request, as by a server whose patience with idle connections ended just then.
  server.answer = (response, _request, n) => {
    if (n === 2) response.socket?.destroy();
    else response.end();
  };
  await sender.post(body, never);
  await sender.post(body, never);
  expect(server.requests).toHaveLength(3);
});

test('credentials in the address are sent and never shown', async () => {
  server.answer = (response) => response.writeHead(401).end();
  const error = await failure(open({ endpoint: `${server.url.replace('//', '//me:secret@')}/in` }).post(body, never));
  expect(server.requests[0].headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
  expect(error.message).toContain(`${server.url}/in answered 401`);
  expect(error.message).not.toContain('secret');
  const withKey = await failure(open({ endpoint: `${server.url}/in?key=secret` }).post(body, never));
  expect(server.requests[1].path).toBe('/in?key=secret');
  expect(withKey.message).toContain(`${server.url}/in?... answered 401`);
  expect(withKey.message).not.toContain('secret');
});

describe('a status other than 2xx', () => {
  const cases = [
    ...[429, 502, 503, 504].map((status) => ({ status, retryable: true })),
    ...[400, 401, 404, 413, 500, 501].map((status) => ({ status, retryable: false })),
  ];
  test.each(cases)('$status: retryable $retryable', async ({ status, retryable }) => {
    server.answer = (response) => response.writeHead(status, { 'content-type': 'text/plain' }).end('too\u001b[31m bad');
    const error = await failure(open().post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_HTTP_STATUS', retryable });
    expect(error.message).toContain(`${server.url}/in answered ${status}`);
    expect(error.message).toContain('"too [31m bad"');
  });

  test('Retry-After: seconds, a date, nonsense', async () => {
    const waitFor = async (value: string) => {
      server.answer = (response) => response.writeHead(503, { 'retry-after': value }).end();
      return (await failure(open().post(body, never))).retryAfterMs;
    };
    expect(await waitFor('7')).toBe(7000);
    expect(await waitFor(new Date(Date.now() + 600_000).toUTCString())).toBeGreaterThan(500_000);
    expect(await waitFor('soon')).toBeUndefined();
    const now = Date.parse('Wed, 21 Oct 2015 07:28:00 GMT');
    expect(parseRetryAfter('Wed, 21 Oct 2015 07:28:09 GMT', now)).toBe(9000);
    expect(parseRetryAfter('Wed, 21 Oct 2015 07:27:00 GMT', now)).toBe(0);
    expect(parseRetryAfter('99999999999', now)).toBe(3_600_000);
  });

  test('a redirect is refused and says where to', async () => {
    server.answer = (response) => response.writeHead(308, { location: 'https://elsewhere.example/in' }).end();
    const error = await failure(open().post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_HTTP_REDIRECT', retryable: false });
    expect(error.message).toContain('https://elsewhere.example/in');
    expect(server.requests).toHaveLength(1);
  });
});

describe('bounds', () => {
  test('an answer of more than 64 KiB is not read to its end', async () => {
    let hasClosed = false;
    server.answer = (response) => {
      response.on('close', () => {
        hasClosed = true;
      });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 << 10)));
      };
      response.on('drain', more);
      more();
    };
    const answer = await open().post(body, never);
    expect(answer).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    await expect.poll(() => hasClosed).toBe(true);
  });

  test('a server that does not answer in time', async () => {
    server.answer = () => {};
    const error = await failure(open({ timeoutMs: 50 }).post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_HTTP_TIMEOUT', retryable: true });
    expect(error.message).toContain('50 ms');
  });

  test('abort: at once, with the reason of the signal; and before anything was sent', async () => {
    const reason = new ReportError('ERR_SPANLINE_SHUTDOWN', 'over');
    const controller = new AbortController();
    server.answer = () => controller.abort(reason);
    expect(await failure(open().post(body, controller.signal))).toBe(reason);
    expect(await failure(open().post(body, controller.signal))).toBe(reason);
    expect(server.requests).toHaveLength(1);
    expect(await failure(open().post(body, AbortSignal.abort()))).toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
  });
});

describe('no server', () => {
  test('refused', async () => {
    const url = await deadUrl();
    const error = await failure(open({ endpoint: url }).post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_CONNECT', retryable: true, cause: { code: 'ECONNREFUSED' } });
    expect(error.message).toContain(url);
    expect(error.message).toContain('Nothing listens there');
  });

  test('a name that does not exist', async () => {
    const error = await failure(open({ endpoint: 'http://no-such-host.invalid' }).post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_CONNECT', retryable: true });
  });

  test('a connection cut before the answer', async () => {
    server.answer = (response) => void response.socket?.destroy();
    expect(await failure(open().post(body, never))).toMatchObject({ code: 'ERR_SPANLINE_CONNECT', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test('something that is not an HTTP server', async () => {
    const raw = createServer((socket) => socket.end('SSH-2.0-server\r\n')).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const { port } = raw.address() as { port: number };
    const error = await failure(open({ endpoint: `http://127.0.0.1:${port}` }).post(body, never));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_CONNECT' });
    raw.close();
  });
});
