// tracestate is kept as it came when every member is well-formed, else left out whole; it travels to records and headers.
import { expect, test } from 'vitest';
import { SpanContext } from '../../src/index.js';
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
  ['every character of a key', 'a0_-*/=1', 'a0_-*/=1'],
  ['a value with blanks inside', 'a=b c', 'a=b c'],
  ['32 members', members(32), members(32)],
  ['a long value', `a=${'x'.repeat(256)}`, `a=${'x'.repeat(256)}`],
])('kept: %s', (_, header, kept) => expect(stateOf(header)).toBe(kept));

test.each([
  ['nothing', undefined],
  ['33 members', members(33)],
  ['a key twice', 'a=1,a=2'],
  ['no equals sign', 'a'],
  ['no key', '=1'],
  ['no value', 'a='],
  ['an upper case key', 'A=1'],
  ['a digit before a plain key', '0a=1'],
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
