// A server that lies, cuts, stalls or knows no ranges gives the right bytes or an error that says so: never other bytes, never a wait
// without end, never more memory than was asked for.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import fc from '../../../../../test/support/fast-check.js';
import { samples } from '../../../../../test/support/samples.js';
import { Container } from '../../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../../src/container/container-writer.js';
import { GraphError, TransportError, TruncatedError } from '../../../src/container/graph-error.js';
import { HttpTransport, type HttpTransportOptions } from '../../../src/container/transport/http-transport.js';
import { failureOf } from '../support/errors.js';
import { type Fault, parseRange, type RangeServer, startRangeServer } from '../support/range-server.js';

const SIZE = 4_000;
const file = Buffer.from(Array.from({ length: SIZE }, (_, i) => (i * 2_654_435_761) >>> 24));
const range = (offset: number, length: number) => ({ offset, length });
const part = (offset: number, length: number) => file.subarray(offset, offset + length);

let server: RangeServer;
beforeEach(async () => {
  server = await startRangeServer(file);
});
afterEach(() => server.close());

const transportOf = (options?: HttpTransportOptions): HttpTransport => new HttpTransport(server.url, options);

const send = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string | number>>,
  body: Buffer | string = '',
): true => {
  response.writeHead(status, headers).end(body);
  return true;
};

describe('a server without ranges', () => {
  const ignoring: Fault = (_, response) => send(response, 200, { 'content-length': server.file.length }, server.file);

  test('serves a file that is all tail', async () => {
    server.fault = ignoring;
    const transport = transportOf();
    expect(await transport.readTail(SIZE)).toEqual({ bytes: file, offset: 0, size: SIZE });
    expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: SIZE });
  });

  test('is refused for a larger one, which is not downloaded', async () => {
    server.file = Buffer.alloc(64 * 1024 * 1024);
    server.fault = ignoring;
    const transport = transportOf();
    const failure = await failureOf(transport.readTail(100));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('does not serve ranges');
    expect(await failureOf(transport.readRanges([range(0, 10)]))).toBeInstanceOf(TransportError);
    expect(transport.stats()).toEqual({ requests: 3, ranges: 2, bytes: 0 });
    // No connection waits for somebody to read on.
    while (server.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test('is refused when it does not tell the size', async () => {
    server.fault = (_, response) => send(response, 200, {}, file);
    expect((await failureOf(transportOf().readTail(SIZE))).message).toContain('does not serve ranges');
  });
});

describe('a server without tails', () => {
  test('is asked again by the size it told', async () => {
    for (const status of [200, 416]) {
      server.fault = ({ headers }, response) =>
        headers.range?.startsWith('bytes=-') === true &&
        (status === 200
          ? send(response, 200, { 'content-length': SIZE, etag: '"one"' }, file)
          : send(response, 416, { 'content-range': `bytes */${SIZE}` }));
      const transport = transportOf();
      expect(await transport.readTail(100)).toEqual({ bytes: part(SIZE - 100, 100), offset: SIZE - 100, size: SIZE });
      expect(transport.stats().requests).toBe(2);
    }
  });
});

test('an empty file has an empty tail', async () => {
  server.file = Buffer.alloc(0);
  const nothing = { bytes: Buffer.alloc(0), offset: 0, size: 0 };
  expect(await transportOf().readTail(100)).toEqual(nothing);
  server.fault = (_, response) => send(response, 416, { 'content-range': 'bytes */0' }, 'no such bytes');
  expect(await transportOf().readTail(100)).toEqual(nothing);
});

test('a file that ends before a range gives TruncatedError, its size known or not', async () => {
  for (const isKnown of [true, false]) {
    for (const offset of [SIZE - 10, SIZE + 10]) {
      const transport = transportOf();
      if (isKnown) await transport.readTail(1);
      const failure = await failureOf(transport.readRanges([range(offset, 100)]));
      expect(failure).toBeInstanceOf(TruncatedError);
      expect(failure).toMatchObject({ expected: offset + 100, actual: SIZE });
    }
  }
});

describe('an answer that is not the one asked for is refused at once', () => {
  const LIES: Readonly<Record<string, Fault>> = {
    'the range before': (_, r) => send(r, 206, { 'content-range': `bytes 99-108/${SIZE}` }, part(99, 10)),
    'a longer range': (_, r) => send(r, 206, { 'content-range': `bytes 100-110/${SIZE}` }, part(100, 11)),
    'a shorter range': (_, r) => send(r, 206, { 'content-range': `bytes 100-108/${SIZE}` }, part(100, 9)),
    'no range': (_, r) => send(r, 206, {}, part(100, 10)),
    'a range outside of its file': (_, r) => send(r, 206, { 'content-range': 'bytes 100-109/105' }, part(100, 10)),
    'a range in other words': (_, r) => send(r, 206, { 'content-range': 'lines 100-109/200' }, part(100, 10)),
    'a range that runs backwards': (_, r) => send(r, 206, { 'content-range': `bytes 109-100/${SIZE}` }, part(100, 10)),
    'numbers beyond all numbers': (_, r) =>
      send(r, 206, { 'content-range': `bytes 100-${'9'.repeat(400)}/${'9'.repeat(401)}` }, part(100, 10)),
    'several ranges': (_, r) => send(r, 206, { 'content-type': 'multipart/byteranges; boundary=x' }, '--x--'),
    'a longer body': (_, r) => send(r, 206, { 'content-range': `bytes 100-109/${SIZE}` }, part(100, 11)),
    'zipped bytes': (_, r) =>
      send(r, 206, { 'content-range': `bytes 100-109/${SIZE}`, 'content-encoding': 'gzip' }, gzipSync(part(100, 10))),
    'a page of a portal': (_, r) => send(r, 200, { 'content-type': 'text/html' }, '<html>Log in</html>'),
    'an unknown status': (_, r) => send(r, 299, {}, part(100, 10)),
    'nothing, successfully': (_, r) => send(r, 204, {}),
    'a refusal without a size': (_, r) => send(r, 416, {}),
  };

  test.each(Object.entries(LIES))('%s', async (_, lie) => {
    server.fault = lie;
    const transport = transportOf();
    expect(await failureOf(transport.readRanges([range(100, 10)]))).toBeInstanceOf(TransportError);
    expect(await failureOf(transport.readTail(10))).toBeInstanceOf(TransportError);
    expect(transport.stats().requests).toBe(2);
  });

  test('more than there is memory for', async () => {
    // An endless body, of which no more may be taken than was asked for.
    server.fault = (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 100-109/${SIZE}` });
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
      };
      more();
      return true;
    };
    const transport = transportOf();
    const failure = await failureOf(transport.readRanges([range(100, 10)]));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('more than the 10 bytes');
    expect(transport.stats().bytes).toBeLessThanOrEqual(65_536);
  });
});

describe('an answer that fails for a moment is asked for again', () => {
  const MOMENTS: Readonly<Record<string, Fault>> = {
    'status 503': (_, response) => send(response, 503, { 'retry-after': 0 }, 'busy'),
    'status 500': (_, response) => send(response, 500, {}),
    'status 429': (_, response) => send(response, 429, {}),
    'a cut body': (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 100-109/${SIZE}`, 'content-length': 10 });
      response.write(part(100, 5), () => response.destroy());
      return true;
    },
    'a body that ends too early': (_, r) => send(r, 206, { 'content-range': `bytes 100-109/${SIZE}` }, part(100, 9)),
    'a reset': ({ socket }) => {
      socket.resetAndDestroy();
      return true;
    },
    'a closed connection': ({ socket }) => {
      socket.destroy();
      return true;
    },
  };
  const SILENCES: Readonly<Record<string, Fault>> = {
    'before the answer': () => true,
    'in the middle of it': (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 100-109/${SIZE}`, 'content-length': 10 });
      response.write(part(100, 5));
      return true;
    },
  };

  test.each([
    ...Object.entries(MOMENTS),
    ...Object.entries(SILENCES).map(([name, fault]) => [`silence ${name}`, fault] as const),
  ])('%s', async (name, fault) => {
    server.fault = (request, response, n) => n % 2 === 1 && fault(request, response, n);
    const transport = transportOf({ stallMs: name.startsWith('silence') ? 60 : undefined, retries: 1 });
    expect(await transport.readRanges([range(100, 10)])).toEqual([part(100, 10)]);
    expect(transport.stats()).toMatchObject({ requests: 2, ranges: 1 });
    server.fault = fault;
    const failure = await failureOf(transport.readRanges([range(100, 10)]));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('2 attempts');
    expect(transport.stats().requests).toBe(4);
  });

  test('but not what a server will say again', async () => {
    for (const status of [400, 401, 403, 405, 451, 501, 505]) {
      server.fault = (_, response) => send(response, status, {}, 'no');
      const transport = transportOf();
      const failure = await failureOf(transport.readRanges([range(100, 10)]));
      expect(failure).toBeInstanceOf(TransportError);
      expect(failure.message).toContain(String(status));
      expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: 2 });
    }
  });
});

test('what came while this process stood still is not silence', async () => {
  server.fault = (_, response) => {
    response.writeHead(206, { 'content-range': `bytes 0-11/${SIZE}`, 'content-length': 12 });
    response.end(part(0, 12), () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
    return true;
  };
  const transport = transportOf({ stallMs: 50 });
  expect(await transport.readRanges([range(0, 12)])).toEqual([part(0, 12)]);
  expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: 12 });
});

test('a server that is slow but never silent is waited for', async () => {
  server.fault = (_, response) => {
    response.writeHead(206, { 'content-range': `bytes 0-11/${SIZE}`, 'content-length': 12 });
    let sent = 0;
    const drip = setInterval(() => {
      response.write(part(sent++, 1));
      if (sent === 12) clearInterval(drip);
    }, 50);
    return true;
  };
  // The server is of this process: where that stands still, both do.
  const transport = transportOf({ stallMs: 250 });
  expect(await transport.readRanges([range(0, 12)])).toEqual([part(0, 12)]);
  expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: 12 });
});

test('a server that drips is given up when the time is over', async () => {
  server.fault = (_, response) => {
    response.writeHead(206, { 'content-range': `bytes 0-999/${SIZE}`, 'content-length': 1_000 });
    const drip = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(drip));
    return true;
  };
  const transport = transportOf({ stallMs: 5_000, timeoutMs: 200 });
  const failure = await failureOf(transport.readRanges([range(0, 1_000)]));
  expect(failure).toBeInstanceOf(TransportError);
  expect(failure.message).toContain('200 ms');
  expect(transport.stats().requests).toBe(1);
});

test('an error page without end is not read to its end', async () => {
  server.fault = (_, response) => {
    response.writeHead(403);
    const more = (): void => {
      if (!response.destroyed) response.write(Buffer.alloc(4_096, 'x'), more);
    };
    more();
    return true;
  };
  const transport = transportOf();
  expect(await failureOf(transport.readTail(10))).toBeInstanceOf(TransportError);
  expect(transport.stats().bytes).toBeLessThan(200_000);
});

/** What a server does to one answer. */
const lies = fc.record({
  isHonest: fc.boolean(),
  status: fc.constantFrom(206, 206, 206, 206, 200, 416, 500, 304, 412, 999),
  shifts: fc.array(fc.constantFrom(0, 0, -2, -1, 1, 2), { minLength: 5, maxLength: 5 }),
  flip: fc.option(fc.tuple(fc.nat(), fc.nat(7)), { nil: undefined }),
  hasSize: fc.boolean(),
  etag: fc.option(fc.nat(1), { nil: undefined, freq: 1 }),
  cut: fc.option(fc.nat(), { nil: undefined, freq: 1 }),
});

test('a container read from a server that does any of this gives its bytes or a GraphError', async () => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink);
  const bodies = Array.from({ length: 6 }, (_, i) => Buffer.from(`section ${i} `.repeat(500 * (i + 1))));
  for (const [i, body] of bodies.entries()) writer.section({ id: 1_000 + i }, body);
  writer.finish();
  server.file = sink.toBuffer();
  const RUNS = samples(60, 250, 2500);
  let whole = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(lies, { minLength: 1, maxLength: 4 }), async (answers) => {
      let n = 0;
      server.fault = (request, response) => {
        const size = server.file.length;
        const asked = parseRange(request.headers.range, size);
        const { isHonest, status, shifts, flip, hasSize, etag, cut } = answers[n++ % answers.length];
        if (asked === undefined || isHonest) return false;
        const [first, last] = asked;
        const body = Buffer.from(
          server.file.subarray(Math.max(0, first + shifts[0]), Math.max(0, last + 1 + shifts[1])),
        );
        if (body.length > 0 && flip !== undefined) body[flip[0] % body.length] ^= 1 << flip[1];
        const reported = `bytes ${Math.max(0, first + shifts[2])}-${last + shifts[3]}/${hasSize ? size + shifts[4] : '*'}`;
        response.writeHead(status, { 'content-range': reported, ...(etag === undefined ? {} : { etag: `"${etag}"` }) });
        if (cut === undefined) response.end(body);
        else response.write(body.subarray(0, cut % (body.length + 1)), () => response.destroy());
        return true;
      };
      const transport = transportOf({ retries: 0, stallMs: 10_000 });
      try {
        const container = await Container.open(transport, { tailBytes: 300 });
        const read = await container.read(bodies.map((_, section) => container.need(1_000 + section)));
        expect(read.every((bytes, section) => bytes.equals(bodies[section]))).toBe(true);
        whole++;
      } catch (error) {
        if (!(error instanceof GraphError)) throw error;
        refused++;
      } finally {
        await transport.close();
      }
    }),
    { numRuns: RUNS },
  );
  // Both come often.
  expect(whole).toBeGreaterThan(RUNS / 25);
  expect(refused).toBeGreaterThan(RUNS / 25);
});
