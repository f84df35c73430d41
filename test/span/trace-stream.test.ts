// traceStream is a span over the life of a Node stream: through, failed, or destroyed before its end. It changes
// nothing about the stream: its flow, its listeners, its errors.
import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { traceStream } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const outcome = async (use: () => Promise<void>): Promise<{ tree: string; status: unknown; events: string[] }> => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  await span.run(use);
  // `close` comes after the end of a pipeline.
  await new Promise((resolve) => setImmediate(resolve));
  span.end();
  await collector.flush();
  const record = memory.find('stream');
  return { tree: memory.tree(), status: record?.status, events: record?.events.map((event) => event.name) ?? [] };
};
const sink = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
const OK = { tree: 'root\n  stream', status: { code: 'unset' }, events: [] };

test('read to its end', async () => {
  expect(await outcome(() => pipeline(traceStream('stream', Readable.from(['a', 'b'])), sink()))).toEqual(OK);
});

test('written to its end', async () => {
  expect(await outcome(() => pipeline(Readable.from(['a', 'b']), traceStream('stream', sink())))).toEqual(OK);
});

test('a transform in the middle', async () => {
  const run = () => pipeline(Readable.from(['a']), traceStream('stream', new PassThrough()), sink());
  expect(await outcome(run)).toEqual(OK);
});

test('it does not start the flow', () => {
  const stream = recorder()
    .root('root')
    .run(() => traceStream('stream', Readable.from(['a'])));
  expect(stream.readableFlowing).toBe(null);
});

test("a failure is recorded, and is still the user's to handle", async () => {
  const result = await outcome(async () => {
    const broken = new Readable({ read: () => broken.destroy(new RangeError('bad')) });
    const stream = traceStream('stream', broken);
    expect(stream.listenerCount('error')).toBe(0);
    const failed = once(stream, 'close').catch((error: Error) => error.message);
    stream.resume();
    expect(await failed).toBe('bad');
  });
  expect(result).toEqual({ tree: 'root\n  stream', status: { code: 'error', message: 'bad' }, events: ['exception'] });
});

test.each([
  ['a readable', () => new Readable({ read() {} })],
  ['a writable', sink],
  ['a duplex', () => new PassThrough()],
])('%s destroyed before its end', async (_, make) => {
  const result = await outcome(async () => {
    const stream = traceStream<Readable | Writable>('stream', make());
    stream.destroy();
    await once(stream, 'close');
    expect(stream.listenerCount('close')).toBe(0);
  });
  expect(result.status).toEqual({ code: 'error', message: 'destroyed before its end' });
});

test('a stream destroyed already', async () => {
  const run = async () => {
    const stream = sink();
    stream.destroy();
    traceStream('stream', stream);
  };
  expect((await outcome(run)).events).toEqual(['destroyed before']);
});

test('without a parent nothing is listened to', () => {
  const stream = new PassThrough();
  const before = stream.eventNames();
  expect(traceStream('stream', stream)).toBe(stream);
  expect(stream.eventNames()).toEqual(before);
});
