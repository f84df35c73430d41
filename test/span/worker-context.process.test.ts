// A context as bytes survives the way to another thread unchanged; anything else is refused with a code.
import { once } from 'node:events';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { contextForWorker, contextFromWorker, parentBased, Span, SpanContext } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('there and back through a structured clone', () => {
  const { root } = recorder();
  const span = root('root');
  for (const bytes of [contextForWorker(span), span.run(() => contextForWorker())]) {
    const context = contextFromWorker(structuredClone(bytes));
    expect(context?.toTraceparent()).toBe(span.context?.toTraceparent());
    expect(context?.isRemote).toBe(true);
  }
  const unsampled = SpanContext.random({ sampled: false });
  expect(SpanContext.fromBytes(unsampled.toBytes()).sampled).toBe(false);
  expect(SpanContext.fromBytes(Buffer.concat([Buffer.alloc(3), unsampled.toBytes()]).subarray(3)).traceId).toBe(
    unsampled.traceId,
  );
});

test('the tracestate goes along, to a real worker as well', async () => {
  const { root } = recorder();
  const long = Array.from({ length: 32 }, (_, i) => `k${i}@v=${'x'.repeat(256)}`).join();
  for (const state of ['a=1', 'foo@= x!,0b=~', long]) {
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03';
    const span = root('root', SpanContext.fromTraceparent(parent, state));
    const bytes = contextForWorker(Span.start('child', span));
    const context = contextFromWorker(structuredClone(bytes));
    expect(context?.traceState).toBe(state);
    const inWorker = root('task', context);
    expect(contextFromWorker(contextForWorker(inWorker))?.traceState).toBe(state);
    const echo =
      'const { parentPort, workerData } = require("node:worker_threads"); parentPort.postMessage(workerData)';
    const worker = new Worker(echo, { eval: true, workerData: bytes });
    const [back] = await once(worker, 'message');
    expect(contextFromWorker(back)?.traceState).toBe(state);
  }
});

test('a context without a span is not a remote parent, and its decision is still to be made', async () => {
  const { root, memory, collector } = recorder({ sampler: parentBased(({ name }) => name !== 'unwanted') });
  const context = contextFromWorker(SpanContext.random().toBytes());
  root('task', context).end();
  await collector.flush();
  expect(memory.find('task')).toMatchObject({ hasRemoteParent: false, parentSpanId: '', traceId: context?.traceId });
  expect(root('unwanted', context).isRecording).toBe(false);
  const refused = contextFromWorker(SpanContext.random({ sampled: false }).toBytes());
  expect(root('task', refused).isRecording).toBe(false);
});

test('nothing where there is nothing', () => {
  expect(contextForWorker()).toBeUndefined();
  expect(contextForWorker(Span.noop())).toBeUndefined();
  expect(contextFromWorker(undefined)).toBeUndefined();
});

const bytesWith = (...rest: number[]): Uint8Array => Uint8Array.from([...Array(24).fill(1), 3, ...rest]);

test.each<[string, unknown]>([
  ['24 bytes', new Uint8Array(24).fill(1)],
  ['a trace id of zeros', new Uint8Array(25)],
  ['a zero behind', bytesWith(0)],
  ['no tracestate behind', bytesWith(...Buffer.from('a'))],
  ['a tracestate as nobody writes it', bytesWith(...Buffer.from('a=1 '))],
  ['a key twice', bytesWith(...Buffer.from('a=1,a=2'))],
  ['an object', {}],
  ['null', null],
  ['a text', '00-1-2-3'],
  ['an array', Array(25).fill(1)],
  ['words of 16 bits', new Uint16Array(25).fill(1)],
  ['signed bytes', new Int8Array(25).fill(1)],
  ['doubles', new Float64Array(25).fill(1)],
  ['a view', new DataView(new ArrayBuffer(25))],
  ['a buffer', new Uint8Array(25).fill(1).buffer],
])('refused: %s', (_, bytes) => {
  for (const read of [contextFromWorker, SpanContext.fromBytes]) {
    expect(() => read(bytes as Uint8Array)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_CONTEXT' }));
  }
});

test('bytes of another realm, or shared with other threads, are taken', () => {
  const bytes = SpanContext.random().toBytes();
  const foreign = runInNewContext('new Uint8Array(25)') as Uint8Array;
  const shared = new Uint8Array(new SharedArrayBuffer(25));
  for (const copy of [foreign, shared]) {
    copy.set(bytes);
    expect(SpanContext.fromBytes(copy).traceId).toBe(SpanContext.fromBytes(bytes).traceId);
  }
});
