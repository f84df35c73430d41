// Trace ids in the records of pino, whose logger and whose caller's object stay as they were.
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { Span, SpanContext } from '../../../src/index.js';
import { instrument, instrumentationNames } from '../../../src/instrument/instrument.js';
import { out } from '../../support/child.js';
import { library } from '../libraries.js';
import { exchange, instrumentOnly, later, settled, when } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

test('records in a trace have its ids, others none', () => {
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  const logger = library('pino')(
    { base: { app: 'a' } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const record = Object.freeze({ user: 7 });
  const root = Span.root('request');
  logger.info('before');
  root.run(() => {
    logger.info('text');
    logger.info(record, 'object');
    logger.error(new Error('broken'));
    logger.child({ part: 'b' }).info('child');
    logger.info({ trace_id: 'own' });
    logger.debug('not logged');
  });
  logger.info('after');
  const { traceId: trace_id, spanId: span_id } = root.context as NonNullable<typeof root.context>;
  const ids = { trace_id, span_id, trace_flags: '01' };
  root.end();
  expect(lines).toHaveLength(7);
  for (const outside of [lines[0], lines[6]]) expect(outside).not.toHaveProperty('trace_id');
  expect(lines[1]).toMatchObject({ ...ids, app: 'a', msg: 'text' });
  expect(lines[2]).toMatchObject({ ...ids, user: 7, msg: 'object' });
  expect(lines[3]).toMatchObject({ ...ids, err: { message: 'broken' } });
  expect(lines[4]).toMatchObject({ ...ids, part: 'b' });
  expect(lines[5]).toMatchObject({ trace_id: 'own' });
});

describe('each key once', () => {
  const lines = (options: object, write: (logger: Untyped) => void): Untyped => {
    instrumentOnly({ pino: true });
    let text = '';
    const logger = library('pino')(options, {
      write: (line: string) => {
        text = line;
      },
    });
    const root = Span.root('request');
    root.run(() => write(logger));
    const { traceId, spanId } = root.context as NonNullable<typeof root.context>;
    root.end();
    const keys = [...text.matchAll(/"(trace_id|span_id|trace_flags)":/g)].map(([, key]) => key);
    return {
      record: JSON.parse(text),
      keys: keys.sort(),
      ids: { trace_id: traceId, span_id: spanId, trace_flags: '01' },
    };
  };
  const info = (logger: Untyped): void => logger.info('m');
  const mine = () => ({ trace_id: 'mine', span_id: 'mine' });
  const OWN = ['span_id', 'trace_id'];
  const OURS = ['span_id', 'trace_flags', 'trace_id'];

  test.each<[string, object, (logger: Untyped) => void, readonly string[]]>([
    ['an object', {}, (logger) => logger.info(mine(), 'm'), OWN],
    ['an object with one of them', {}, (logger) => logger.info({ span_id: 'mine' }, 'm'), ['span_id']],
    ['a mixin', { mixin: mine }, info, OWN],
    ['a formatter', { formatters: { log: (record: object) => ({ ...record, ...mine() }) } }, info, OWN],
    ['a child', {}, (logger) => logger.child(mine()).info('m'), OWN],
    ['a base', { base: mine() }, info, OWN],
    ['formatted bindings', { formatters: { bindings: mine } }, info, OWN],
  ])('they come from %s', (_, options, write, expected) => {
    const { record, keys } = lines(options, write);
    expect(keys).toEqual(expected);
    expect(record.span_id).toBe('mine');
  });

  test.each<[string, object, (logger: Untyped) => void]>([
    ['a formatter that adds none', { formatters: { log: (record: object) => ({ ...record, b: 1 }) } }, info],
    ['no time and no base', { timestamp: false, base: null }, info],
    ['a nested key', { nestedKey: 'payload' }, (logger) => logger.info({ a: 1 }, 'm')],
    ['an error', {}, (logger) => logger.error(new Error('broken'))],
  ])('ours, with %s', (_, options, write) => {
    const { record, keys, ids } = lines(options, write);
    expect(keys).toEqual(OURS);
    expect(record).toMatchObject(ids);
  });

  test('ours beside those of something inside the record', () => {
    const { record, ids } = lines({ formatters: { log: (record: object) => record } }, (logger) =>
      logger.info({ inner: mine() }, 'm'),
    );
    expect(record).toMatchObject({ ...ids, inner: mine() });
  });
});

test('ours beside what only looks like them among what a logger has', () => {
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  const logger = library('pino')({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const alike = [
    { module: 'trace_worker' },
    { trace_level: 3 },
    { text: '"span_id":' },
    { inner: { trace_id: 'mine' } },
  ];
  Span.root('request').runToEnd(() => {
    for (const bindings of alike) logger.child(bindings).info('one');
  });
  expect(lines).toMatchObject(alike);
  expect(lines.map(({ trace_id, span_id }) => [typeof trace_id, typeof span_id])).toEqual(
    alike.map(() => ['string', 'string']),
  );
});

test('a logger that is made while a record is written has no ids of it', () => {
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  let kid: Untyped;
  const logger: Untyped = library('pino')(
    {
      serializers: {
        a: (value: unknown) => {
          kid = logger.child({ kid: true });
          return value;
        },
      },
    },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  Span.root('request').runToEnd(() => logger.info({ a: 1 }));
  kid.info('outside');
  expect(lines.map((line) => 'trace_id' in line)).toEqual([true, false]);
  expect(logger.bindings()).not.toHaveProperty('trace_id');
});

test('a trace that is not sampled, and spans one after another', () => {
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  const logger = library('pino')({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const expected: unknown[] = [];
  for (const sampled of [true, false, true]) {
    const root = Span.root('request', SpanContext.random({ sampled }));
    const { traceId, spanId } = root.context as SpanContext;
    root.run(() => logger.info('one'));
    expected.push([traceId, spanId, sampled ? '01' : '00']);
    const child = Span.start('child', root);
    if (sampled) expected.push([traceId, child.context?.spanId, '01']);
    if (sampled) child.run(() => logger.info('two'));
    child.end();
    root.end();
  }
  expect(lines.map(({ trace_id, span_id, trace_flags }) => [trace_id, span_id, trace_flags])).toEqual(expected);
});

test('what a server logs of a client that has gone has the ids of its request', async () => {
  instrumentOnly({ http: { client: false }, fastify: true, pino: true });
  const lines: Untyped[] = [];
  const fastify: Untyped = library('fastify')({
    logger: { stream: { write: (line: string) => void lines.push(JSON.parse(line)) } },
  });
  later(() => fastify.close());
  fastify.addHook('onRequestAbort', async ({ log }: Untyped) => log.info('given up'));
  fastify.get('/hang', ({ log }: Untyped, { raw }: Untyped) => {
    // As pino-http does for other servers.
    raw.on('close', () => log.info('closed'));
    raw.write('part');
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  await exchange(fastify.server.address().port, 'GET /hang HTTP/1.1\r\nhost: a\r\n\r\n', 'part');
  const said = (): Untyped[] => lines.filter(({ msg }) => msg === 'given up' || msg === 'closed');
  await when(() => said().length === 2);
  const [{ traceId: trace_id, spanId: span_id }] = await settled(1);
  for (const line of said()) expect(line).toMatchObject({ trace_id, span_id });
});

test('taken back it is as before', () => {
  const { disable } = instrument({
    ...Object.fromEntries(instrumentationNames.map((name) => [name, false])),
    pino: true,
  });
  const lines: Untyped[] = [];
  const logger = library('pino')({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  disable();
  Span.root('request').runToEnd(() => logger.info('one'));
  expect(lines).toEqual([expect.not.objectContaining({ trace_id: expect.anything() })]);
});

const forget = (): void => {
  for (const path of Object.keys(library.cache)) if (path.includes('/node_modules/pino/')) delete library.cache[path];
};

test('a copy inside a bundle, before and behind one that is patched', async () => {
  const stdin = { contents: "module.exports = require('pino')", resolveDir: dirname(library.resolve('pino')) };
  const outfile = join(out, 'bundled-pino.cjs');
  await build({ stdin, outfile, bundle: true, platform: 'node', logLevel: 'error' });
  const bundled = (): Untyped => {
    delete library.cache[outfile];
    return library(outfile);
  };
  forget();
  instrumentOnly({ pino: true });
  const lines: string[] = [];
  const loggers = [bundled(), library('pino'), bundled()].map((pino, copy) =>
    pino({ base: { copy } }, { write: (line: string) => void lines.push(line) }),
  );
  const written = () => {
    Span.root('request').runToEnd(() => {
      for (const logger of loggers) logger.info('one');
    });
    return lines.splice(0).map((line) => [JSON.parse(line).copy, line.match(/"(?:trace_id|span_id)":/g)?.length]);
  };
  const ids = [0, 1, 2].map((copy) => [copy, 2]);
  expect(written()).toEqual(ids);
  // Options begin it anew.
  instrumentOnly({ pino: {} });
  expect(written()).toEqual(ids);
});

test('a copy that was not seen being loaded is heard by its channel', () => {
  forget();
  const pino = library('pino');
  forget();
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  Span.root('request').runToEnd(() => {
    logger.info('one');
    logger.info({ trace_id: 'mine' });
  });
  expect(lines.map(({ trace_id, span_id }) => [typeof trace_id, typeof span_id])).toEqual([
    ['string', 'string'],
    ['string', 'undefined'],
  ]);
});
