// Real servers, and what was recorded of them.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, vi } from 'vitest';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { flush, Span, type SpanRecord, setReporter } from '../../src/index.js';
import { type InstrumentOptions, instrument, type Propagator } from '../../src/instrument/index.js';

const memory = new MemoryReporter();
setReporter(memory);

/** What went on since the last call, the newest trace last, each with its root first. */
export const recorded = async (): Promise<readonly SpanRecord[]> => {
  await flush();
  const spans = memory.traces.flatMap((trace) => trace.spans);
  memory.clear();
  return spans;
};

/** The same, once there are so many spans: who answers may end its own after who asked has the answer. The test's own time is the bound. */
export const settled = async (count: number): Promise<readonly SpanRecord[]> => {
  const spans: SpanRecord[] = [];
  for (;;) {
    spans.push(...(await recorded()));
    if (spans.length >= count) return spans;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** Those of a kind. */
export const recordedOf = async (kind: SpanRecord['kind'], name?: string): Promise<readonly SpanRecord[]> =>
  (await recorded()).filter((span) => span.kind === kind && (name === undefined || span.name === name));

const cleanUps: (() => unknown)[] = [];
export const later = (cleanUp: () => unknown): void => void cleanUps.push(cleanUp);
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await recorded();
});

export const ALL_OFF: Record<Exclude<keyof InstrumentOptions, 'propagator' | 'log'>, false> = {
  http: false,
  http2: false,
  undici: false,
  fastify: false,
  express: false,
  koa: false,
  hono: false,
  h3: false,
  hapi: false,
  amqplib: false,
  kafkajs: false,
  bullmq: false,
  'aws-sdk': false,
  bluebird: false,
  graphql: false,
  trpc: false,
  grpc: false,
  pg: false,
  postgres: false,
  mariadb: false,
  mysql: false,
  mysql2: false,
  redis: false,
  ioredis: false,
  mongodb: false,
  mongoose: false,
  sqlite: false,
  workers: false,
  pino: false,
  winston: false,
  bunyan: false,
  console: false,
};

/**
 * What sixteen at once ask for, each below a root of its own: `request 0: ` and what `said` gives of the call below it, and so on, sorted. Whoever asked is
 * current again behind its call, and a call below none of its own trace is `undefined: `.
 */
export const askedBySixteen = async (
  ask: (i: number) => unknown,
  said: (call: SpanRecord) => unknown,
): Promise<readonly string[]> => {
  await Promise.all(
    Array.from({ length: 16 }, (_, i) =>
      Span.root(`request ${i}`).runToEnd(async () => {
        await ask(i);
        expect(Span.current()?.name).toBe(`request ${i}`);
      }),
    ),
  );
  const spans = await recorded();
  const askerOf = ({ parentSpanId, traceId }: SpanRecord): string | undefined =>
    spans.find((span) => span.spanId === parentSpanId && span.traceId === traceId)?.name;
  return spans
    .filter(({ kind }) => kind === 'client')
    .map((call) => `${askerOf(call)}: ${said(call)}`)
    .sort();
};

/** That, of calls which each say `saying(i)`. */
export const eachItsOwn = (saying: (i: number) => string): readonly string[] =>
  Array.from({ length: 16 }, (_, i) => `request ${i}: ${saying(i)}`).sort();

/** The text of a query. */
export const queryText = ({ properties }: SpanRecord): unknown => properties['db.query.text'];

/** Only what is named is on, until the test is over. */
export const instrumentOnly = (options: InstrumentOptions): void => {
  const { disable } = instrument({ ...ALL_OFF, ...options });
  later(disable);
};

/** The same by another copy of this package, as a bundle brings one. */
export const instrumentByAnotherCopy = async (options: InstrumentOptions): Promise<void> => {
  vi.resetModules();
  const other = await import('../../src/instrument/index.js');
  const { disable } = other.instrument({ ...ALL_OFF, ...options });
  later(disable);
};

/** Writes headers that nothing can be sent with, among those of a context, and then throws. */
export const writesBroken: Propagator = {
  extract: () => undefined,
  inject(context, set) {
    set('x-名', '1');
    set('x-odd', '名\r\n');
    set('traceparent', context.toTraceparent());
    throw new Error('mine');
  },
};

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
}

export const listen = async (server: Server): Promise<Served> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  later(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
};

export const serve = (listener: RequestListener): Promise<Served> => listen(createServer(listener));

/** Sends raw bytes and gives all that came back until the connection closed or `until` was seen. */
export const exchange = (port: number, bytes: string, until?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (until !== undefined && answer.includes(until)) socket.destroy();
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });

/** Resolves when `isSo` holds; the test's own time is the bound. */
export const when = async (isSo: () => unknown): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** A caller notes what is called back, and is done when it has heard all. */
export type Job = (note: (event: string, then?: () => void) => void, done: () => void) => void;

/** In whose context the calls back to several callers at once come: `EVENT: own`, `EVENT: none`, or `EVENT: another`. */
export const contextsOf = async (job: Job, callers = 3): Promise<readonly string[]> => {
  const seen = new Set<string>();
  const calls = Array.from({ length: callers }, () =>
    Span.root('caller').runToEnd(
      () =>
        new Promise<void>((resolve) => {
          const own = Span.current();
          job((event, then) => {
            const current = Span.current();
            seen.add(`${event}: ${current === own ? 'own' : current === undefined ? 'none' : 'another'}`);
            then?.();
          }, resolve);
        }),
    ),
  );
  await Promise.all(calls);
  return [...seen].sort();
};
