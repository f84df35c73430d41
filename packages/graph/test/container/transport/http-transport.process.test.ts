// Over HTTP a batch costs as few round trips as its ranges allow, and bytes of two versions of a file are never mixed.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Container } from '../../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../../src/container/container-writer.js';
import {
  AbortedError,
  BadOptionsError,
  ChangedError,
  ClosedError,
  NotFoundError,
  TransportError,
} from '../../../src/container/graph-error.js';
import { HttpTransport, type HttpTransportOptions } from '../../../src/container/transport/http-transport.js';
import { failureOf, thrownBy } from '../support/errors.js';
import { type RangeServer, startRangeServer } from '../support/range-server.js';

const SIZE = 300_000;
const file = Buffer.from(Array.from({ length: SIZE }, (_, i) => (i * 2_654_435_761) >>> 24));
const range = (offset: number, length: number) => ({ offset, length });
const part = (offset: number, length: number) => file.subarray(offset, offset + length);

let server: RangeServer;
beforeEach(async () => {
  server = await startRangeServer(file);
});
afterEach(() => server.close());

const transportOf = (options?: HttpTransportOptions): HttpTransport => new HttpTransport(server.url, options);

describe('round trips, with 100 ms between question and answer', () => {
  beforeEach(() => {
    server.latencyMs = 100;
  });

  test('ranges less than 32 KiB apart share a request, others go at the same time', async () => {
    const transport = transportOf();
    await transport.readTail(10);
    const asked = [range(0, 100), range(32_868, 100), range(150_000, 10), range(100_000, 10), range(250_000, 1_000)];
    const bytes = await transport.readRanges(asked);
    expect(Buffer.concat(bytes).equals(Buffer.concat(asked.map((one) => part(one.offset, one.length))))).toBe(true);
    expect(
      server.requests
        .slice(1)
        .map(({ headers }) => headers.range)
        .toSorted(),
    ).toEqual(['bytes=0-32967', 'bytes=100000-100009', 'bytes=150000-150009', 'bytes=250000-250999']);
    expect(server.roundTrips).toBe(2);
    expect(transport.stats()).toEqual({ requests: 5, ranges: 6, bytes: 10 + 32_968 + 10 + 10 + 1_000 });
  });

  test('no more requests at one time than allowed', async () => {
    const asked = Array.from({ length: 20 }, (_, i) => range(i * 1_000, 10));
    const transport = transportOf({ gapBytes: 0, maxParallel: 4 });
    const bytes = await transport.readRanges(asked);
    expect(Buffer.concat(bytes).equals(Buffer.concat(asked.map((one) => part(one.offset, one.length))))).toBe(true);
    expect(server.maxAtOnce).toBe(4);
    expect(server.roundTrips).toBe(5);
    expect(transport.stats()).toEqual({ requests: 20, ranges: 20, bytes: 200 });
  });

  test('a container is opened by one, and its blocks come by another', async () => {
    const sink = new BufferSink();
    const writer = new ContainerWriter(sink, 'none');
    const start = writer.position;
    const blocks = Array.from({ length: 10 }, (_, block) => ({
      ...writer.block(part(block * 20_000, 20_000)),
      section: 1_000,
      block,
    }));
    writer.blockedSection({ id: 1_000 }, start);
    writer.finish();
    server.file = sink.toBuffer();
    const transport = transportOf();
    const container = await Container.open(transport);
    expect(server.roundTrips).toBe(1);
    const read = await container.readBlocks([blocks[1], blocks[5], blocks[9]]);
    expect(Buffer.concat(read).equals(Buffer.concat([1, 5, 9].map((i) => part(i * 20_000, 20_000))))).toBe(true);
    // The last block came with the tail.
    expect(server.roundTrips).toBe(2);
    expect(transport.stats()).toEqual({ requests: 3, ranges: 3, bytes: 65_536 + 40_000 });
  });
});

describe('a file that changes on the server', () => {
  const CHANGES: Readonly<Record<string, () => void>> = {
    'by its tag': () => {
      server.etag = '"two"';
    },
    'by its size': () => {
      server.file = Buffer.concat([file, file]);
    },
  };

  test.each(Object.entries(CHANGES))('gives ChangedError: %s', async (_, change) => {
    const transport = transportOf();
    await transport.readTail(10);
    change();
    expect(await failureOf(transport.readRanges([range(0, 10)]))).toBeInstanceOf(ChangedError);
    expect(await failureOf(transport.readTail(10))).toBeInstanceOf(ChangedError);
  });

  test('gives ChangedError by a weak tag', async () => {
    server.etag = 'W/"one"';
    const transport = transportOf();
    await transport.readTail(10);
    expect(await transport.readRanges([range(5, 3)])).toEqual([part(5, 3)]);
    server.etag = 'W/"two"';
    expect(await failureOf(transport.readRanges([range(0, 10)]))).toBeInstanceOf(ChangedError);
  });

  test('gives ChangedError by its time, where it has no tag', async () => {
    server.etag = undefined;
    server.lastModified = 'Wed, 01 Jul 2026 00:00:00 GMT';
    const transport = transportOf();
    await transport.readTail(10);
    await transport.readRanges([range(0, 10)]);
    server.lastModified = 'Wed, 01 Jul 2026 00:00:01 GMT';
    expect(await failureOf(transport.readRanges([range(0, 10)]))).toBeInstanceOf(ChangedError);
  });

  test('may have another time under the same tag', async () => {
    server.lastModified = 'Wed, 01 Jul 2026 00:00:00 GMT';
    const transport = transportOf();
    await transport.readTail(10);
    server.lastModified = 'Wed, 01 Jul 2026 00:00:01 GMT';
    expect(await transport.readRanges([range(5, 3)])).toEqual([part(5, 3)]);
  });

  test('is noticed within one batch', async () => {
    server.fault = (_request, _response, n) => {
      server.etag = `"${n}"`;
      return false;
    };
    const transport = transportOf({ gapBytes: 0 });
    expect(await failureOf(transport.readRanges([range(0, 1), range(9, 1)]))).toBeInstanceOf(ChangedError);
  });

  test('gives NotFoundError when it is gone', async () => {
    const transport = transportOf();
    await transport.readTail(10);
    for (const status of [404, 410]) {
      server.fault = (_, response) => {
        response.writeHead(status).end('gone');
        return true;
      };
      const failure = await failureOf(transport.readRanges([range(0, 10)]));
      expect(failure).toBeInstanceOf(NotFoundError);
      expect(failure.message).toContain(server.url);
    }
    expect(transport.stats().requests).toBe(3);
  });
});

describe('a call', () => {
  const stall = (): void => {
    server.fault = (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 0-9/${SIZE}`, 'content-length': 10 }).write('half');
      return true;
    };
  };

  test('is aborted by its signal, and the server hears of it', async () => {
    stall();
    const transport = transportOf();
    const controller = new AbortController();
    const reading = failureOf(transport.readRanges([range(0, 10)], { signal: controller.signal }));
    while (transport.stats().bytes === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort('enough');
    const failure = await reading;
    expect(failure).toBeInstanceOf(AbortedError);
    expect(failure.cause).toBe('enough');
    while (server.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: 4 });
  });

  test('is ended by close', async () => {
    stall();
    const transport = transportOf();
    const reading = failureOf(transport.readRanges([range(0, 10)]));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await transport.close();
    expect(await reading).toBeInstanceOf(ClosedError);
  });

  test('that failed leaves none of its requests behind', async () => {
    server.fault = (request, response) => {
      if (request.headers.range !== 'bytes=0-0') return true;
      response.writeHead(403).end();
      return true;
    };
    const transport = transportOf({ gapBytes: 0, maxParallel: 3 });
    const asked = Array.from({ length: 9 }, (_, i) => range(i * 100, 1));
    const failure = await failureOf(transport.readRanges(asked));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('403');
    expect(transport.stats().requests).toBeLessThanOrEqual(3);
  });
});

describe('redirects', () => {
  const to = (response: ServerResponse, location: string, status = 302): true => {
    response.writeHead(status, { location }).end('over there');
    return true;
  };

  test('are followed and counted, once', async () => {
    server.fault = (request, response) =>
      request.url === '/some.graph'
        ? to(response, '/elsewhere', 307)
        : request.url === '/elsewhere' && to(response, 'last');
    const transport = transportOf();
    expect((await transport.readTail(5)).bytes).toEqual(part(SIZE - 5, 5));
    expect(transport.stats().requests).toBe(3);
    expect(await transport.readRanges([range(5, 3)])).toEqual([part(5, 3)]);
    expect(server.requests.map(({ url }) => url)).toEqual(['/some.graph', '/elsewhere', '/last', '/last']);
    expect(transport.stats().requests).toBe(4);
  });

  test('are asked for again when the address they led to has expired', async () => {
    let key = 1;
    server.fault = (request, response) => {
      if (request.url === '/some.graph') return to(response, `/signed?key=${key}`);
      if (request.url === `/signed?key=${key}`) return false;
      response.writeHead(403).end();
      return true;
    };
    const transport = transportOf();
    await transport.readTail(5);
    key = 2;
    expect(await transport.readRanges([range(5, 3)])).toEqual([part(5, 3)]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/some.graph',
      '/signed?key=1',
      '/signed?key=1',
      '/some.graph',
      '/signed?key=2',
    ]);
  });

  test('do not carry headers to another origin', async () => {
    const other = await startRangeServer(file);
    server.fault = (_, response) => to(response, other.url);
    const secrets = { authorization: 'Bearer secret', 'X-Key': 'secret' };
    const transport = new HttpTransport(server.url, { headers: secrets });
    expect((await transport.readTail(5)).bytes).toEqual(part(SIZE - 5, 5));
    expect(server.requests[0].headers).toMatchObject({ authorization: 'Bearer secret', 'x-key': 'secret' });
    expect(JSON.stringify(other.requests[0].headers)).not.toContain('secret');
    await other.close();
  });

  test('end somewhere', async () => {
    server.fault = (_, response) => to(response, '/some.graph');
    const transport = transportOf();
    expect(await failureOf(transport.readTail(5))).toBeInstanceOf(TransportError);
    expect(transport.stats().requests).toBe(6);
  });

  test('lead to web servers only', async () => {
    for (const location of ['file:///etc/passwd', 'data:,x']) {
      server.fault = (_, response) => to(response, location);
      const failure = await failureOf(transportOf().readTail(5));
      expect(failure).toBeInstanceOf(TransportError);
      expect(failure.message).toContain('not followed');
    }
    server.fault = (_, response) => to(response, 'http://');
    expect(await failureOf(transportOf().readTail(5))).toBeInstanceOf(TransportError);
    server.fault = (_, response) => {
      response.writeHead(302).end();
      return true;
    };
    expect(await failureOf(transportOf().readTail(5))).toBeInstanceOf(TransportError);
    expect(server.requests).toHaveLength(4);
  });
});

describe('an address', () => {
  test('shows neither credentials nor what stands in its query', async () => {
    const address = server.url.replace('http://', 'http://us%20er:pass@');
    const transport = new HttpTransport(`${address}?token=hidden#part`);
    expect(transport.name).toBe(`${server.url}?...`);
    await transport.readTail(1);
    expect(server.requests[0]).toMatchObject({
      url: '/some.graph?token=hidden',
      headers: { authorization: `Basic ${Buffer.from('us er:pass').toString('base64')}` },
    });
  });

  test('shows no credentials either when it is none, and takes any', async () => {
    const failure = thrownBy(() => new HttpTransport('http://user:secret@no host/'));
    expect(failure).toBeInstanceOf(BadOptionsError);
    expect(failure.message).toBe('http://no host/ is not an address');
    await new HttpTransport(server.url.replace('http://', 'http://100%:x@')).readTail(1);
    expect(server.requests[0].headers.authorization).toBe(`Basic ${Buffer.from('100%:x').toString('base64')}`);
  });

  test('must be one, and so must the options', () => {
    for (const address of ['', 'no address', 'ftp://host/x', 'file:///x']) {
      expect(thrownBy(() => new HttpTransport(address))).toBeInstanceOf(BadOptionsError);
    }
    for (const options of [
      { gapBytes: -1 },
      { maxParallel: 0 },
      { stallMs: Number.NaN },
      { timeoutMs: 2 ** 31 },
      { retries: 0.5 },
      { headers: { 'not a header': 'x' } },
    ]) {
      expect(thrownBy(() => transportOf(options))).toBeInstanceOf(BadOptionsError);
    }
  });

  test('is asked for its bytes as they are', async () => {
    await transportOf({ headers: { 'X-Mine': 'yes' } }).readTail(1);
    expect(server.requests[0].headers).toMatchObject({ 'x-mine': 'yes', 'accept-encoding': 'identity' });
  });
});

test('a server that does not listen is tried as often as told', async () => {
  const gone = createServer();
  await once(gone.listen(0, '127.0.0.1'), 'listening');
  const { port } = gone.address() as AddressInfo;
  await once(gone.close(), 'close');
  const transport = new HttpTransport(`http://127.0.0.1:${port}/x`, { retries: 1 });
  const failure = await failureOf(transport.readTail(1));
  expect(failure).toBeInstanceOf(TransportError);
  expect(failure.message).toMatch(/ECONNREFUSED.*2 attempts/);
  expect(transport.stats()).toEqual({ requests: 2, ranges: 1, bytes: 0 });
});
