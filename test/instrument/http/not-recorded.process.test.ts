// What an ignored request calls makes no spans and sends no headers; what one calls that is not sampled passes that on. In the handler, behind
// an await, and in the listeners of the body, which newer lines of Node call in the context of the connection.
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { SpanlineTracerProvider } from '../../../src/otel/index.js';
import { instrumentOnly, later, recorded, serve } from '../support.js';

const UNSAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

/** Calls another server by `http` and by `fetch`, and traces a piece of work by the API. */
const callOut = async (url: string): Promise<void> => {
  const request = http.get(url);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await (await fetch(url)).text();
  trace.getTracer('theirs').startSpan('work').end();
};

/** The second half of the body comes once the handler has seen the first. */
const bodyInTwo = async (port: number, path: string, headers: string, half: Promise<unknown>): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\n${headers}content-length: 6\r\n\r\nabc`);
  await half;
  socket.write('def');
  await once(socket, 'data');
  socket.destroy();
};

const callsOf = async (path: string, headers: string): Promise<readonly (string | undefined)[]> => {
  const seen: (string | undefined)[] = [];
  let first = (): void => {};
  const half = new Promise<void>((resolve) => {
    first = resolve;
  });
  const other = await serve(({ headers: { traceparent } }, response) => {
    seen.push(traceparent as string | undefined);
    response.end();
  });
  const { port } = await serve(async (request, response) => {
    const calls = [callOut(other.url)];
    const ended = once(request, 'end');
    request.on('data', () => {
      calls.push(callOut(other.url));
      first();
    });
    await sleep(1);
    calls.push(callOut(other.url));
    await ended;
    calls.push(callOut(other.url));
    await Promise.all(calls);
    response.end('done');
  });
  await bodyInTwo(port, path, headers, half);
  return seen;
};

const CALLS = 10;

test('an ignored request', async () => {
  new SpanlineTracerProvider().register();
  later(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });
  // All but what is ignored would be a root.
  const server = { ignore: ({ url }: IncomingMessage) => url === '/health' || url === '/' };
  instrumentOnly({ http: { server }, undici: true });
  expect(await callsOf('/health', '')).toEqual(Array(CALLS).fill(undefined));
  expect(await recorded()).toEqual([]);
});

test('an unsampled request', async () => {
  instrumentOnly({ http: true, undici: true });
  const seen = await callsOf('/', `traceparent: ${UNSAMPLED}\r\n`);
  expect(seen).toHaveLength(CALLS);
  for (const traceparent of seen) expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
  expect(await recorded()).toEqual([]);
});

test('a listener of the body belongs to its request after the answer too', async () => {
  instrumentOnly({ http: { client: false } });
  let current: Span | undefined;
  let root: Span | undefined;
  const { port } = await serve((request, response) => {
    root = Span.current();
    request.on('end', () => {
      current = Span.current();
    });
    request.resume();
    response.end('early');
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\nabc');
  await once(socket, 'data');
  socket.end('def');
  await once(socket, 'close');
  expect(root).toBeDefined();
  expect(current).toBe(root);
});
