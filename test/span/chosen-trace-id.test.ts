// A new trace under an id chosen by the program. What can be no trace id is counted, and the trace has a random one.
import { expect, test } from 'vitest';
import { contextForWorker, contextFromWorker, never, Span, SpanContext } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const ID = '7f1a2b3c9d4e4f508a6b1c2d3e4f5a6b';

test('the trace has the id, and its root no parent', async () => {
  const { root, memory, collector } = recorder();
  const span = root('job', SpanContext.fromTraceId(ID));
  Span.start('child', span).end();
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('job\n  child');
  expect(memory.spans.map((one) => one.traceId)).toEqual([ID, ID]);
  expect(memory.find('job')).toMatchObject({ parentSpanId: '', hasRemoteParent: false });
  expect(memory.find('job')?.trace.isRandom).toBe(false);
});

test('the flags say what the program says: not random by default, sampled by default', () => {
  const flags = (context: SpanContext | undefined) => context?.toTraceparent().slice(-2);
  expect(flags(SpanContext.fromTraceId(ID))).toBe('01');
  expect(flags(SpanContext.fromTraceId(ID, { isRandom: true }))).toBe('03');
  expect(flags(SpanContext.fromTraceId(ID, { sampled: false }))).toBe('00');
  expect(flags(SpanContext.fromTraceId(ID, { sampled: false, isRandom: true }))).toBe('02');
  const { root } = recorder();
  expect(flags(root('job', SpanContext.fromTraceId(ID, { isRandom: true })).context)).toBe('03');
  expect(root('job', SpanContext.fromTraceId(ID, { sampled: false })).isRecording).toBe(false);
});

test('the sampler is asked, as for every new trace', () => {
  const { root } = recorder({ sampler: never });
  const span = root('job', SpanContext.fromTraceId(ID));
  expect([span.isRecording, span.context?.traceId]).toEqual([false, ID]);
});

test('upper case is the same id; it goes to workers', () => {
  const context = SpanContext.fromTraceId(ID.toUpperCase());
  expect(context?.traceId).toBe(ID);
  const { root } = recorder();
  expect(contextFromWorker(contextForWorker(root('job', context)))?.traceId).toBe(ID);
});

test.each([
  ['zeros', '0'.repeat(32)],
  ['31 digits', ID.slice(1)],
  ['33 digits', `${ID}0`],
  ['a UUID with its dashes', '7f1a2b3c-9d4e-4f50-8a6b-1c2d3e4f5a6b'],
  ['no digit', `${ID.slice(1)}g`],
  ['a line end', `${ID}\n`],
  ['nothing', undefined],
  ['a number', 7],
])('counted: %s', async (_, id) => {
  const { root } = recorder();
  const changes = await counted(() => {
    const context = SpanContext.fromTraceId(id as string);
    expect(context).toBeUndefined();
    expect(root('job', context).isRecording).toBe(true);
  });
  expect(changes).toEqual({ traceparentsInvalid: 1, tracesStarted: 1 });
});
