// Any TracingChannel by name: synchronous work, promises, callbacks, and what fails.
import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LocalSpan, Span, stats } from '../../src/index.js';
import { type ChannelOptions, instrumentChannel } from '../../src/instrument/index.js';
import { later, recorded } from './support.js';

interface Query {
  readonly table: string;
}
const channel = tracingChannel<unknown, Query>('mylib:query');
const trace = (options: ChannelOptions<Query> = {}): void => later(instrumentChannel('mylib:query', options));

test('a span for each piece of work, which runs under it', async () => {
  trace({ name: ({ table }) => `query ${table}`, properties: ({ table }) => ({ table }), kind: 'client' });
  await Span.root('request').runToEnd(async () => {
    channel.traceSync(() => LocalSpan.start('inner sync').end(), { table: 'sync' });
    await channel.tracePromise(
      async () => {
        await sleep(1);
        LocalSpan.start('inner promise').end();
      },
      { table: 'promise' },
    );
    await new Promise<void>((resolve) => {
      const work = (done: () => void): void => void setTimeout(done, 1);
      channel.traceCallback(work as never, 0, { table: 'callback' }, undefined, () => resolve());
    });
  });
  const spans = await recorded();
  const tree = spans.map(({ name, parentSpanId }) => [name, spans.find(({ spanId }) => spanId === parentSpanId)?.name]);
  expect(tree).toEqual(
    expect.arrayContaining([
      ['request', undefined],
      ['query sync', 'request'],
      ['inner sync', 'query sync'],
      ['query promise', 'request'],
      ['inner promise', 'query promise'],
      ['query callback', 'request'],
    ]),
  );
  expect(tree).toHaveLength(6);
  expect(spans.find(({ name }) => name === 'query sync')).toMatchObject({
    kind: 'client',
    properties: { table: 'sync' },
  });
});

test('errors are passed on, and recorded once', async () => {
  trace();
  const fail = (): never => {
    throw new TypeError('broken');
  };
  expect(() => channel.traceSync(fail, { table: 'a' })).toThrow('broken');
  expect(() => channel.tracePromise(fail, { table: 'b' })).toThrow('broken');
  await expect(channel.tracePromise(async () => fail(), { table: 'c' })).rejects.toThrow('broken');
  const spans = await recorded();
  expect(spans.map(({ name, status, properties }) => [name, status.code, properties['error.type']])).toEqual(
    Array.from({ length: 3 }, () => ['mylib:query', 'error', 'TypeError']),
  );
});

test('hooks that throw are counted and go no further', async () => {
  const thrown = (): never => {
    throw new Error('hook');
  };
  trace({ name: thrown, properties: thrown, ignore: thrown, enrich: thrown });
  const before = stats().callbackErrors;
  expect(channel.traceSync(() => 7, { table: 'a' })).toBe(7);
  expect(stats().callbackErrors).toBe(before + 4);
  expect((await recorded()).map(({ name }) => name)).toEqual(['mylib:query']);
});

test('taken back, nothing is traced', async () => {
  instrumentChannel('mylib:query')();
  channel.traceSync(() => {}, { table: 'a' });
  expect(await recorded()).toEqual([]);
  expect(channel.start.hasSubscribers).toBe(false);
});

test('work that is under way when it is taken back still ends', async () => {
  const off = instrumentChannel('mylib:query');
  await Span.root('request').runToEnd(async () => {
    const two = [5, 10].map((ms) => channel.tracePromise(() => sleep(ms), { table: 'a' }));
    off();
    channel.traceSync(() => {}, { table: 'later' });
    await Promise.all(two);
  });
  expect((await recorded()).map(({ name }) => name)).toEqual(['request', 'mylib:query', 'mylib:query']);
  expect(channel.asyncEnd.hasSubscribers).toBe(false);
});

test('a name that is none', () => {
  expect(() => instrumentChannel('')).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
});
