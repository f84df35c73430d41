// tracestate is kept as it came when every member is well-formed, else left out whole; it travels to records and headers.
import { expect, test } from 'vitest';
import { Span, SpanContext } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const stateOf = (header: unknown): string | undefined =>
  SpanContext.fromTraceparent(PARENT, header as string)?.traceState;
const member = (i: number): string => `k${i}=v`;
const members = (n: number): string => Array.from({ length: n }, (_, i) => member(i)).join(',');

test.each([
  ['one member', 'a=1', 'a=1'],
  ['blanks and empty members', ' a=1 ,\t,b=2\t', 'a=1,b=2'],
  ['several headers', ['a=1', 'b=2'], 'a=1,b=2'],
  ['a tenant key', '0tenant@sys=x', '0tenant@sys=x'],
  ['every character of a key', 'a0_-*/@=1', 'a0_-*/@=1'],
  ['a digit first', '0a=1', '0a=1'],
  ['an at sign last', 'foo@=1', 'foo@=1'],
  ['two at signs', 'foo@@bar=1,foo@bar@baz=2', 'foo@@bar=1,foo@bar@baz=2'],
  ['a long system after the at sign', 't@vvvvvvvvvvvvvvv=1', 't@vvvvvvvvvvvvvvv=1'],
  ['a long tenant before it', `${'t'.repeat(242)}@v=1`, `${'t'.repeat(242)}@v=1`],
  ['a key of 256 characters', `${'a'.repeat(256)}=1`, `${'a'.repeat(256)}=1`],
  ['the first of a key that comes twice', 'a=1,b=2,a=3', 'a=1,b=2'],
  ['one of two that are the same', 'a=1,a=1', 'a=1'],
  ['the first of a key in two headers', ['a=1', 'a=2'], 'a=1'],
  ['a blank that begins a value', 'a= b', 'a= b'],
  ['a value with blanks inside', 'a=b c', 'a=b c'],
  ['32 members', members(32), members(32)],
  ['a long value', `a=${'x'.repeat(256)}`, `a=${'x'.repeat(256)}`],
])('kept: %s', (_, header, kept) => expect(stateOf(header)).toBe(kept));

test.each([
  ['nothing', undefined],
  ['33 members', members(33)],
  ['33 members of one key', Array(33).fill('a=1').join()],
  ['no equals sign', 'a'],
  ['no key', '=1'],
  ['no value', 'a='],
  ['an upper case key', 'A=1'],
  ['an at sign first', '@a=1'],
  ['a dash first', '-a=1'],
  ['a dot in a key', 'a.b=1'],
  ['a blank after a key', 'a =1'],
  ['two equals signs', 'a=b=c'],
  ['a value too long', `a=${'x'.repeat(257)}`],
  ['a key too long', `${'a'.repeat(257)}=1`],
  ['a character beyond ASCII', 'a=é'],
  ['a no-break blank', 'a=1\u00a0'],
  ['a number', 7],
  ['one bad member among good ones', 'a=1,B=2,c=3'],
])('left out: %s', (_, header) => expect(stateOf(header)).toBe(''));

test('reading takes time in proportion to the header', () => {
  // Quadratic reading of this one would run into the time limit of the test.
  expect(stateOf(`a=b${' '.repeat(1_000_000)}c`)).toBe('');
});

test('it travels with the trace', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root', SpanContext.fromTraceparent(PARENT, 'a=1'));
  expect(span.context?.traceState).toBe('a=1');
  span.end();
  await collector.flush();
  expect(memory.spans[0].trace.traceState).toBe('a=1');
  expect(memory.spans[0].hasRemoteParent).toBe(true);
  expect(memory.spans[0].parentSpanId).toBe('b7ad6b7169203331');
});

test('both headers for who is called: no tracestate where there is none', () => {
  const { root } = recorder();
  for (const [state, sent] of [
    ['b=2 , a=1', { tracestate: 'b=2,a=1' }],
    ['', {}],
    ['B=2', {}],
  ] as const) {
    const { context } = Span.start('call', root('root', SpanContext.fromTraceparent(PARENT, state)));
    expect(context?.toHeaders()).toEqual({ traceparent: context?.toTraceparent(), ...sent });
  }
});
