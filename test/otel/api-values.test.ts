// What we make in place of OpenTelemetry's API, and what the API makes, are read by the other alike; with SPANLINE_OTEL=3 in its version 1.10.
import * as api from '@opentelemetry/api';
import { expect, test } from 'vitest';
import * as ours from '../../src/otel/api-values.js';

const PLACE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
const KEY = api.createContextKey('k');

test.each([
  [
    'a context of ours',
    ours.setBaggage(ours.setSpanContext(ours.contexts.root, PLACE), ours.createBaggage({ a: { value: '1' } })),
  ],
  [
    'one of the API',
    api.propagation.setBaggage(
      api.trace.setSpanContext(api.ROOT_CONTEXT, PLACE),
      api.propagation.createBaggage({ a: { value: '1' } }),
    ),
  ],
])('%s is the same to both', (_, context) => {
  for (const found of [ours.getSpanContext(context), api.trace.getSpanContext(context)]) expect(found).toEqual(PLACE);
  for (const baggage of [ours.getBaggage(context), api.propagation.getBaggage(context)]) {
    expect(baggage?.getAllEntries()).toEqual([['a', { value: '1' }]]);
    expect(baggage?.setEntry('b', { value: '2' }).removeEntry('a').getAllEntries()).toEqual([['b', { value: '2' }]]);
    expect(baggage?.removeEntries('a', 'b').getEntry('a')).toBeUndefined();
    expect(baggage?.clear().getAllEntries()).toEqual([]);
    expect(baggage?.getEntry('a')).toEqual({ value: '1' });
  }
  for (const without of [ours.deleteSpan(context), api.trace.deleteSpan(context)]) {
    expect(ours.getSpan(without)).toBeUndefined();
    expect(api.propagation.getBaggage(without)).toBeDefined();
  }
  expect(context.setValue(KEY, 7).getValue(KEY)).toBe(7);
  expect(context.setValue(KEY, 7).deleteValue(KEY).getValue(KEY)).toBeUndefined();
  expect(context.getValue(KEY)).toBeUndefined();
});

test('the context that holds nothing is that of the API', async () => {
  await import('../../src/otel/index.js');
  expect(ours.contexts.root).toBe(api.ROOT_CONTEXT);
});

test('a span that only stands for a place has all methods and records nothing', () => {
  const span = ours.wrapSpanContext(PLACE);
  const theirs = api.trace.wrapSpanContext(PLACE) as unknown as Record<string, unknown>;
  for (let of = theirs; of !== Object.prototype; of = Object.getPrototypeOf(of) as Record<string, unknown>) {
    for (const name of Object.getOwnPropertyNames(of).filter((one) => !one.startsWith('_'))) {
      expect(typeof (span as unknown as Record<string, unknown>)[name], name).toBe(typeof theirs[name]);
    }
  }
  expect(span.setAttribute('a', 1).setAttributes({}).addEvent('e').addLink({ context: PLACE }).addLinks([])).toBe(span);
  expect(span.setStatus({ code: 2 }).updateName('n')).toBe(span);
  span.recordException('e');
  span.end();
  expect([span.isRecording(), span.spanContext()]).toEqual([false, PLACE]);
});

test.each([
  PLACE,
  { ...PLACE, traceId: PLACE.traceId.toUpperCase() },
  { ...PLACE, traceId: '0'.repeat(32) },
  { ...PLACE, spanId: '0'.repeat(16) },
  { ...PLACE, spanId: `${PLACE.spanId}a` },
  { ...PLACE, traceId: `${'g'.repeat(32)}` },
  { ...PLACE, traceId: 7 as never },
  ours.INVALID_SPAN_CONTEXT,
])('valid or not, as the API says: %j', (place) => {
  expect(ours.isSpanContextValid(place)).toBe(api.isSpanContextValid(place));
});

test.each(['', 'a=1', 'a=1,b=2', ' a=1 , b=2', 'v@t=x y,k=1', 'a=1,b'])(
  'a trace state as the API reads it: %j',
  (text) => {
    const [mine, theirs] = [ours.createTraceState(text), api.createTraceState(text === 'a=1,b' ? '' : text)];
    expect(mine.serialize()).toBe(theirs.serialize());
    expect(mine.get('b')).toBe(theirs.get('b'));
    for (const change of [
      (state: api.TraceState) => state.set('b', '3'),
      (state: api.TraceState) => state.set('n', '4').set('a', '5'),
      (state: api.TraceState) => state.unset('a'),
    ]) {
      expect(change(mine).serialize()).toBe(change(theirs).serialize());
    }
    expect(mine.serialize()).toBe(theirs.serialize());
  },
);

test('a trace state that is full loses its last member', () => {
  const full = ours.createTraceState(Array.from({ length: 32 }, (_, i) => `k${i}=${i}`).join(','));
  const more = full.set('new', '1').serialize().split(',');
  expect([more.length, more[0], more[31]]).toEqual([32, 'new=1', 'k30=30']);
});
