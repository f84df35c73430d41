// The cases of the test suite that belongs to W3C Trace Context (level 2, strict), put to a service of ours: headers come in,
// a root runs, a call goes out. What goes out is what the suite expects.
import { describe, expect, test } from 'vitest';
import { Span, SpanContext } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const TRACE = '12345678901234567890123456789012';
const PARENT = '1234567890123456';
const GOOD = `00-${TRACE}-${PARENT}-00`;

type Headers = readonly (readonly [name: string, value: string])[];

interface Sent {
  readonly traceId: string;
  readonly parentId: string;
  readonly flags: number;
  readonly state: ReadonlyMap<string, string>;
}

const HEADER = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/;

/** What Node makes of headers: names in lower case, the values of one name joined, blanks around a value left to us. */
const received = (headers: Headers): Record<string, string | undefined> => {
  const out: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    out[key] = key in out ? `${out[key]}, ${value}` : value;
  }
  return out;
};

const { root } = recorder();

/** The headers of `calls` calls of a service that got these. */
const calls = (headers: Headers, count = 1): Sent[] => {
  const { traceparent, tracestate } = received(headers);
  const span = root('service', SpanContext.fromTraceparent(traceparent, tracestate));
  const sent = Array.from({ length: count }, () => {
    const context = Span.start('call', span).context as SpanContext;
    const match = HEADER.exec(context.toTraceparent());
    if (match === null) throw new Error(`not valid: ${context.toTraceparent()}`);
    const state = new Map(
      context.traceState === ''
        ? []
        : context.traceState.split(',').map((one): [string, string] => {
            const at = one.indexOf('=');
            return [one.slice(0, at), one.slice(at + 1)];
          }),
    );
    return { traceId: match[1], parentId: match[2], flags: Number.parseInt(match[3], 16), state };
  });
  span.end();
  return sent;
};

const parent = (value: string): Headers => [['traceparent', value]];

describe('a trace goes on', () => {
  test.each<[string, Headers]>([
    ['a header alone', parent(`00-${TRACE}-${PARENT}-01`)],
    ['TraceParent', [['TraceParent', GOOD]]],
    ['TrAcEpArEnT', [['TrAcEpArEnT', GOOD]]],
    ['TRACEPARENT', [['TRACEPARENT', GOOD]]],
    ['version cc', parent(`cc-${TRACE}-${PARENT}-01`)],
    ['version cc with more', parent(`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`)],
    ['a blank before', parent(` ${GOOD}`)],
    ['a tab before', parent(`\t${GOOD}`)],
    ['a blank behind', parent(`${GOOD} `)],
    ['a tab behind', parent(`${GOOD}\t`)],
    ['blanks and tabs around', parent(`\t ${GOOD} \t`)],
  ])('%s', (_, headers) => {
    const [{ traceId, parentId }] = calls(headers);
    expect(traceId).toBe(TRACE);
    expect(parentId).not.toBe(PARENT);
  });

  test('every call out of a recording service has its own parent id', () => {
    for (const headers of [parent(`00-${TRACE}-${PARENT}-01`), [], parent(`00-${'0'.repeat(32)}-${PARENT}-01`)]) {
      const sent = calls(headers, 3);
      expect(new Set(sent.map(({ parentId }) => parentId)).size).toBe(3);
      expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(1);
    }
  });

  test.each(['00', '01', '02', '03', 'ff'])('flags %s', (flags) => {
    const [sent] = calls(parent(`00-${TRACE}-${PARENT}-${flags}`));
    expect(sent.flags).toBe(Number.parseInt(flags, 16) & 3);
    expect(sent.parentId).not.toBe(PARENT);
  });
});

describe('a trace begins anew', () => {
  test.each<[string, Headers]>([
    ['no header', []],
    ['two headers', [...parent(`00-${TRACE}-${PARENT}-01`), ...parent(`00-${TRACE}-${PARENT}-01`)]],
    ['trace-parent', [['trace-parent', GOOD]]],
    ['trace.parent', [['trace.parent', GOOD]]],
    ['version 00 with a dot behind', parent(`${GOOD}.`)],
    ['version 00 with more', parent(`${GOOD}-what-the-future-will-be-like`)],
    ['version cc with a dot behind', parent(`cc-${TRACE}-${PARENT}-01.what-the-future-will-be-like`)],
    ['version ff', parent(`ff-${TRACE}-${PARENT}-01`)],
    ['version .0', parent(`.0-${TRACE}-${PARENT}-01`)],
    ['version 0.', parent(`0.-${TRACE}-${PARENT}-01`)],
    ['version 000', parent(`000-${TRACE}-${PARENT}-01`)],
    ['version 0000', parent(`0000-${TRACE}-${PARENT}-01`)],
    ['version 0', parent(`0-${TRACE}-${PARENT}-01`)],
    ['a trace id of zeros', parent(`00-${'0'.repeat(32)}-${PARENT}-01`)],
    ['a trace id that begins with a dot', parent(`00-.${TRACE.slice(1)}-${PARENT}-01`)],
    ['a trace id that ends with a dot', parent(`00-${TRACE.slice(1)}.-${PARENT}-01`)],
    ['a trace id of 33 digits', parent(`00-${TRACE}3-${PARENT}-01`)],
    ['a trace id of 31 digits', parent(`00-${TRACE.slice(1)}-${PARENT}-01`)],
    ['a parent id of zeros', parent(`00-${TRACE}-${'0'.repeat(16)}-01`)],
    ['a parent id that begins with a dot', parent(`00-${TRACE}-.${PARENT.slice(1)}-01`)],
    ['a parent id that ends with a dot', parent(`00-${TRACE}-${PARENT.slice(1)}.-01`)],
    ['a parent id of 17 digits', parent(`00-${TRACE}-${PARENT}7-01`)],
    ['a parent id of 15 digits', parent(`00-${TRACE}-${PARENT.slice(1)}-01`)],
    ['flags .0', parent(`00-${TRACE}-${PARENT}-.0`)],
    ['flags 0.', parent(`00-${TRACE}-${PARENT}-0.`)],
    ['flags 001', parent(`00-${TRACE}-${PARENT}-001`)],
    ['flags 1', parent(`00-${TRACE}-${PARENT}-1`)],
  ])('%s', (_, headers) => {
    const [sent] = calls([...headers, ['tracestate', 'foo=1']]);
    // Nor may any part of a wrong id come through.
    expect(sent.traceId.includes(TRACE.slice(1, -1))).toBe(false);
    expect(sent.state.size).toBe(0);
    expect(sent.flags).toBe(3);
  });
});

/** The tracestate that goes out for these headers beside a good traceparent. */
const stateOf = (...values: string[]): Record<string, string> => {
  const [{ traceId, state }] = calls([
    ['traceparent', GOOD],
    ...values.map((value): [string, string] => ['tracestate', value]),
  ]);
  // Whatever is wrong with it, the trace goes on.
  expect(traceId).toBe(TRACE);
  return Object.fromEntries(state);
};

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ascii = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCharCode(from + i)).join('');
const EVERY_VALUE = ascii(0x20, 0x2b) + ascii(0x2d, 0x3c) + ascii(0x3e, 0x7e);
const bars = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(2, '0'))
    .map((n) => `bar${n}=${n}`)
    .join(',');

describe('tracestate', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['two members', ['foo=1,bar=2'], { foo: '1', bar: '2' }],
    ['nothing', [''], {}],
    ['nothing after something', ['foo=1', ''], { foo: '1' }],
    ['nothing before something', ['', 'foo=1'], { foo: '1' }],
    [
      'three headers',
      ['foo=1,bar=2', 'rojo=1,congo=2', 'baz=3'],
      { foo: '1', bar: '2', rojo: '1', congo: '2', baz: '3' },
    ],
    ['a member twice', ['foo=1,foo=1'], { foo: '1' }],
    ['a key with two values', ['foo=1,foo=2'], { foo: '1' }],
    ['a member in two headers', ['foo=1', 'foo=1'], { foo: '1' }],
    ['a key with two values in two headers', ['foo=1', 'foo=2'], { foo: '1' }],
    ['every character', [`${LETTERS}0123456789_-*/=${EVERY_VALUE}`], { [`${LETTERS}0123456789_-*/`]: EVERY_VALUE }],
    [
      'every character, with an at sign',
      [`${LETTERS}0123456789_-*/@a-z0-9_-*/=${EVERY_VALUE}`],
      { [`${LETTERS}0123456789_-*/@a-z0-9_-*/`]: EVERY_VALUE },
    ],
    ['blanks then tabs', ['foo=1 \t , \t bar=2, \t baz=3'], { foo: '1', bar: '2', baz: '3' }],
    ['tabs then blanks', ['foo=1\t \t,\t \tbar=2,\t \tbaz=3'], { foo: '1', bar: '2', baz: '3' }],
    ['a blank before', [' foo=1'], { foo: '1' }],
    ['a tab before', ['\tfoo=1'], { foo: '1' }],
    ['a blank behind', ['foo=1 '], { foo: '1' }],
    ['a tab behind', ['foo=1\t'], { foo: '1' }],
    ['blanks and tabs around', ['\t foo=1 \t'], { foo: '1' }],
    ['an at sign last', ['foo@=1,bar=2'], { 'foo@': '1', bar: '2' }],
    ['two at signs', ['foo@@bar=1,bar=2'], { 'foo@@bar': '1', bar: '2' }],
    ['two at signs apart', ['foo@bar@baz=1,bar=2'], { 'foo@bar@baz': '1', bar: '2' }],
    ['a key of 256', ['foo=1', `${'z'.repeat(256)}=1`], { foo: '1', ['z'.repeat(256)]: '1' }],
    [
      '241 @ 14',
      ['foo=1', `${'t'.repeat(241)}@${'v'.repeat(14)}=1`],
      { foo: '1', [`${'t'.repeat(241)}@${'v'.repeat(14)}`]: '1' },
    ],
    ['242 @ 1', ['foo=1', `${'t'.repeat(242)}@v=1`], { foo: '1', [`${'t'.repeat(242)}@v`]: '1' }],
    ['1 @ 15', ['foo=1', `t@${'v'.repeat(15)}=1`], { foo: '1', [`t@${'v'.repeat(15)}`]: '1' }],
    ['a digit first', ['1special=1'], { '1special': '1' }],
    ['a value of 256', [`foo=${'x'.repeat(256)}`], { foo: 'x'.repeat(256) }],
  ])('kept: %s', (_, values, kept) => {
    const state = stateOf(...values);
    expect(state).toEqual(kept);
    expect(Object.keys(state)).toEqual(Object.keys(kept));
  });

  test.each<[string, string[]]>([
    ['a blank in a key', ['foo =1']],
    ['upper case in a key', ['FOO=1']],
    ['a dot in a key', ['foo.bar=1']],
    ['an at sign first', ['@foo=1,bar=2']],
    ['a key of 257', ['foo=1', `${'z'.repeat(257)}=1`]],
    ['two equals signs', ['foo=bar=baz']],
    ['no value', ['foo=,bar=3']],
    ['a value of 257', [`foo=${'x'.repeat(257)}`]],
    ['33 members', [bars(1, 10), bars(11, 20), bars(21, 30), bars(31, 33)]],
  ])('left out: %s', (_, values) => expect(stateOf(...values)).toEqual({}));

  test('32 members are kept', () => {
    const state = stateOf(bars(1, 10), bars(11, 20), bars(21, 30), bars(31, 32));
    expect([state.bar01, state.bar32, Object.keys(state).length]).toEqual(['01', '32', 32]);
  });

  test('under any case of its name, and under no other name', () => {
    for (const name of ['TraceState', 'TrAcEsTaTe', 'TRACESTATE']) {
      expect(
        calls([
          ['traceparent', GOOD],
          [name, 'foo=1'],
        ])[0].state.get('foo'),
      ).toBe('1');
    }
    for (const name of ['trace-state', 'trace.state']) {
      expect(
        calls([
          ['traceparent', GOOD],
          [name, 'foo=1'],
        ])[0].state.size,
      ).toBe(0);
    }
  });

  test('none without a traceparent', () => {
    for (const state of ['foo=1', 'foo=1,bar=2']) expect(calls([['tracestate', state]])[0].state.size).toBe(0);
  });
});
