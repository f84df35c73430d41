// Headers of every format: what is written, what is read, and what is refused without a throw.
import {
  baggageEntryMetadataFromString,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { expect, test } from 'vitest';
import {
  B3Propagator,
  CompositePropagator,
  JaegerPropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '../../src/otel/index.js';
import { counted } from '../support/recorder.js';

type Headers = Record<string, string | string[]>;

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const HERE = { traceId: TRACE, spanId: SPAN, traceFlags: 1 };

const extract = (propagator: TextMapPropagator, headers: Headers): Context =>
  propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
const found = (propagator: TextMapPropagator, headers: Headers) => trace.getSpanContext(extract(propagator, headers));
const inject = (propagator: TextMapPropagator, from: Context): Record<string, string> => {
  const headers: Record<string, string> = {};
  propagator.inject(from, headers, defaultTextMapSetter);
  return headers;
};
const at = (context: object) => trace.setSpanContext(ROOT_CONTEXT, { ...HERE, ...context });

const w3c = new W3CTraceContextPropagator();
const b3 = new B3Propagator();
const b3Multiple = new B3Propagator({ multipleHeaders: true });
const jaeger = new JaegerPropagator();
const baggage = new W3CBaggagePropagator();

// The cases of the W3C's validation service that one request can show.
test.each([
  ['valid', `00-${TRACE}-${SPAN}-01`, 1],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, 0],
  ['random flag', `00-${TRACE}-${SPAN}-03`, 3],
  ['unknown flags are not read', `00-${TRACE}-${SPAN}-ff`, 3],
  ['a later version', `cc-${TRACE}-${SPAN}-01`, 1],
  ['a later version with more', `cc-${TRACE}-${SPAN}-01-what-the-future-holds`, 1],
  ['blanks around', ` 00-${TRACE}-${SPAN}-01\t`, 1],
  ['version ff', `ff-${TRACE}-${SPAN}-01`, undefined],
  ['version 00 with more', `00-${TRACE}-${SPAN}-01-more`, undefined],
  ['version 00 with a dash', `00-${TRACE}-${SPAN}-01-`, undefined],
  ['a later version with more but no dash', `cc-${TRACE}-${SPAN}-01.what`, undefined],
  ['version of other characters', `.0-${TRACE}-${SPAN}-01`, undefined],
  ['a long version', `000-${TRACE}-${SPAN}-01`, undefined],
  ['trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['trace id too short', `00-${TRACE.slice(1)}-${SPAN}-01`, undefined],
  ['trace id too long', `00-${TRACE}0-${SPAN}-01`, undefined],
  ['span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['span id of other characters', `00-${TRACE}-${SPAN.slice(1)}.-01`, undefined],
  ['span id too short', `00-${TRACE}-${SPAN.slice(1)}-01`, undefined],
  ['flags too short', `00-${TRACE}-${SPAN}-1`, undefined],
  ['flags too long', `00-${TRACE}-${SPAN}-001`, undefined],
  ['flags of other characters', `00-${TRACE}-${SPAN}-.0`, undefined],
  ['empty', '', undefined],
  ['very long', '0'.repeat(100_000), undefined],
])('W3C traceparent: %s', (_, traceparent, traceFlags) => {
  const read = found(w3c, { traceparent });
  expect(read).toEqual(
    traceFlags === undefined ? undefined : { traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true },
  );
});

test.each([
  ['one', 'foo=1', 'foo=1'],
  ['several', 'foo=1,bar=2', 'foo=1,bar=2'],
  ['blanks', 'foo=1 \t , \t bar=2, \t baz=3', 'foo=1,bar=2,baz=3'],
  ['of two headers', ['foo=1', 'bar=2'], 'foo=1,bar=2'],
  ['a key twice', 'foo=1,foo=2', 'foo=1'],
  ['tenant keys', 'fw529a3039@dt=FfK7', 'fw529a3039@dt=FfK7'],
  ['empty members', 'foo=1,,bar=2', 'foo=1,bar=2'],
  ['key of other characters', 'foo =1', undefined],
  ['upper case', 'FOO=1', undefined],
  ['no value', 'foo', undefined],
  ['33 members', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(','), undefined],
])('W3C tracestate: %s', (_, tracestate, expected) => {
  const read = found(w3c, { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate });
  expect(read?.spanId).toBe(SPAN);
  expect(read?.traceState?.serialize()).toBe(expected);
});

test('W3C: two traceparents are none; what is read is written again', () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  expect(found(w3c, { traceparent: [traceparent, traceparent] })).toBeUndefined();
  expect(found(w3c, { traceparent: [traceparent] })?.traceId).toBe(TRACE);
  const headers = { traceparent, tracestate: 'foo=1,bar=2' };
  expect(inject(w3c, extract(w3c, headers))).toEqual(headers);
  expect(inject(w3c, ROOT_CONTEXT)).toEqual({});
  expect(inject(w3c, at({ traceId: 'x' }))).toEqual({});
  expect(w3c.fields()).toEqual(['traceparent', 'tracestate']);
});

test.each([
  ['sampled', { b3: `${TRACE}-${SPAN}-1` }, { ...HERE, isRemote: true }],
  ['debug', { b3: `${TRACE}-${SPAN}-d` }, { ...HERE, isRemote: true }],
  ['not sampled', { b3: `${TRACE}-${SPAN}-0` }, { ...HERE, traceFlags: 0, isRemote: true }],
  ['with a parent', { b3: `${TRACE}-${SPAN}-1-${SPAN}` }, { ...HERE, isRemote: true }],
  ['64 bits', { b3: `${SPAN}-${SPAN}-1` }, { ...HERE, traceId: `${'0'.repeat(16)}${SPAN}`, isRemote: true }],
  ['a decision alone', { b3: '0' }, undefined],
  ['zeros', { b3: `${'0'.repeat(32)}-${SPAN}-1` }, undefined],
  ['nonsense', { b3: `${TRACE}-${SPAN}-x` }, undefined],
  ['long', { b3: `${TRACE}-${SPAN}-1${' '.repeat(5000)}` }, undefined],
  ['several', { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' }, { ...HERE, isRemote: true }],
  ['several, debug', { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-flags': '1' }, { ...HERE, isRemote: true }],
  ['several, short ids', { 'x-b3-traceid': 'xyz', 'x-b3-spanid': SPAN }, undefined],
  ['several, no span', { 'x-b3-traceid': TRACE }, undefined],
] as [string, Headers, object | undefined][])('B3: %s', (_, headers, expected) => {
  expect(found(b3, headers)).toEqual(expected);
});

test('B3 is written in one header or in several', () => {
  expect(inject(b3, at({}))).toEqual({ b3: `${TRACE}-${SPAN}-1` });
  expect(inject(b3Multiple, at({ traceFlags: 0 }))).toEqual({
    'x-b3-traceid': TRACE,
    'x-b3-spanid': SPAN,
    'x-b3-sampled': '0',
  });
});

test.each([
  ['whole', `${TRACE}:${SPAN}:0:1`, { ...HERE, isRemote: true }],
  ['encoded', `${TRACE}%3A${SPAN}%3A0%3A01`, { ...HERE, isRemote: true }],
  [
    'short ids',
    '1:2:0:0',
    { traceId: '1'.padStart(32, '0'), spanId: '2'.padStart(16, '0'), traceFlags: 0, isRemote: true },
  ],
  ['zeros', `0:${SPAN}:0:1`, undefined],
  ['nonsense', 'a:b', undefined],
  ['a stray percent', '%zz', undefined],
] as [string, string, object | undefined][])('Jaeger: %s', (_, header, expected) => {
  expect(found(jaeger, { 'uber-trace-id': header })).toEqual(expected);
});

test('Jaeger writes its header and baggage, and reads both', () => {
  const from = propagation.setBaggage(at({}), propagation.createBaggage({ user: { value: 'a b' } }));
  const headers = inject(jaeger, from);
  expect(headers).toEqual({ 'uber-trace-id': `${TRACE}:${SPAN}:0:1`, 'uberctx-user': 'a%20b' });
  expect(propagation.getBaggage(extract(jaeger, headers))?.getEntry('user')?.value).toBe('a b');
});

test('Jaeger leaves out what can be in no name of a header, and counts it', async () => {
  const context = extract(baggage, { baggage: 'a%20b=1,%E5%90%8D=2,c=3' });
  let headers = {};
  const { baggageEntriesDropped } = await counted(() => {
    headers = inject(jaeger, context);
  });
  expect(headers).toEqual({ 'uberctx-c': '3' });
  expect(baggageEntriesDropped).toBe(2);
});

test('W3C baggage: entries, metadata, bounds', () => {
  const read = (header: string | string[]) =>
    propagation
      .getBaggage(extract(baggage, { baggage: header }))
      ?.getAllEntries()
      .map(([key, { value }]) => [key, value]);
  expect(read('a=1,b=%C3%A9;meta=x, c = 3 ')).toEqual([
    ['a', '1'],
    ['b', 'é'],
    ['c', '3'],
  ]);
  expect(read('=1,b,%zz=1,d=%zz,ok=1')).toEqual([['ok', '1']]);
  expect(read('')).toBeUndefined();
  expect(read(`a=${'x'.repeat(9000)}`)).toBeUndefined();
  expect(read(['a=1', 'b=2'])).toEqual([
    ['a', '1'],
    ['b', '2'],
  ]);
  expect(read('__proto__=1')).toEqual([['__proto__', '1']]);
  const context = extract(baggage, { baggage: 'a=1;meta=x,b=%C3%A9' });
  expect(inject(baggage, context)).toEqual({ baggage: 'a=1;meta=x,b=%C3%A9' });
  const odd = extract(baggage, { baggage: 'a=1;m=\u00ff;n = "x"' });
  expect(inject(baggage, odd)).toEqual({ baggage: 'a=1;m=%C3%BF;n = "x"' });
  const [metadata, broken] = ['名,b=2\r\n', '\ud800'].map(baggageEntryMetadataFromString);
  const own = propagation.createBaggage({ a: { value: '1', metadata }, b: { value: '2', metadata: broken } });
  expect(inject(baggage, propagation.setBaggage(ROOT_CONTEXT, own))).toEqual({
    baggage: 'a=1;%E5%90%8D%2Cb=2%0D%0A',
  });
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, { value: 'v'.repeat(100) }]));
  const header = inject(baggage, propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage(many))).baggage;
  expect(header.length).toBeLessThanOrEqual(8192);
  expect(header.split(',').length).toBeGreaterThan(50);
});

test('entries of baggage that are left out are counted, each once', async () => {
  const [w3c, jaeger] = [new W3CBaggagePropagator(), new JaegerPropagator()];
  const long = 'x'.repeat(4096);
  const many = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}=1`).join();
  const dropped = async (work: () => unknown): Promise<number> => (await counted(work)).baggageEntriesDropped ?? 0;
  expect(await dropped(() => extract(w3c, { baggage: 'a=1, b=2,' }))).toBe(0);
  expect(await dropped(() => extract(w3c, { baggage: `a=1,long=${long},b=2` }))).toBe(1);
  expect(await dropped(() => extract(w3c, { baggage: '=1,b,%zz=1,ok=1' }))).toBe(3);
  expect(await dropped(() => extract(w3c, { baggage: many(190) }))).toBe(10);
  expect(await dropped(() => extract(w3c, { baggage: `a=${'x'.repeat(9000)},b=1` }))).toBe(2);
  expect(await dropped(() => extract(jaeger, { 'uberctx-a': '1', 'uberctx-b': `${long}x`, 'uberctx-c': '%zz' }))).toBe(
    2,
  );
  const context = (entries: Record<string, { value: string }>): Context =>
    propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage(entries));
  const odd = context({ a: { value: '1' }, long: { value: `${long}x` }, broken: { value: '\ud800' } });
  expect(await dropped(() => inject(w3c, odd))).toBe(2);
  expect(await dropped(() => inject(jaeger, odd))).toBe(2);
  const full = context(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, { value: '1' }])));
  expect(await dropped(() => inject(w3c, full))).toBe(20);
});

test('composite: all are asked, one that throws stops none', () => {
  const broken: TextMapPropagator = {
    inject() {
      throw new Error('inject');
    },
    extract() {
      throw new Error('extract');
    },
    fields: () => ['x'],
  };
  const all = new CompositePropagator([broken, w3c, b3, baggage]);
  expect(Object.keys(inject(all, at({})))).toEqual(['traceparent', 'b3']);
  expect(found(all, { b3: `${TRACE}-${SPAN}-1` })?.traceId).toBe(TRACE);
  expect(all.fields()).toEqual(['x', 'traceparent', 'tracestate', 'b3', 'baggage']);
});
