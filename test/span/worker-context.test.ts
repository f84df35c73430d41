// A context as bytes survives the way to another thread unchanged; anything else is refused with a code.
import { expect, test } from 'vitest';
import { contextForWorker, contextFromWorker, Span, SpanContext } from '../../src/index.js';
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

test('nothing where there is nothing', () => {
  expect(contextForWorker()).toBeUndefined();
  expect(contextForWorker(Span.noop())).toBeUndefined();
  expect(contextFromWorker(undefined)).toBeUndefined();
});

test.each([[new Uint8Array(24)], [new Uint8Array(25)], [{}], [null], ['00-1-2-3'], [Array(25).fill(1)]])(
  'refused: %o',
  (bytes) => {
    expect(() => contextFromWorker(bytes as Uint8Array)).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_CONTEXT' }),
    );
  },
);
