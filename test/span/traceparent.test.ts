// traceparent is read as W3C Trace Context level 2 says, to the letter: malformed headers are undefined and counted.
import { describe, expect, test } from 'vitest';
import { SpanContext } from '../../src/index.js';
import { counted } from '../support/recorder.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('valid', () => {
  test.each([
    ['sampled', `00-${TRACE}-${SPAN}-01`, true],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['other flags do not sample', `00-${TRACE}-${SPAN}-fe`, false],
    ['other flags beside sampled', `00-${TRACE}-${SPAN}-03`, true],
    ['a later version', `cc-${TRACE}-${SPAN}-01`, true],
    ['a later version with more fields', `01-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, true],
    ['ids of almost all zeros', `00-${'0'.repeat(31)}1-${'0'.repeat(15)}1-01`, true],
    ['ids of all ones', `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01`, true],
  ])('%s', (_, header, sampled) => {
    const context = SpanContext.fromTraceparent(header);
    expect(context?.sampled).toBe(sampled);
    expect(context?.isRemote).toBe(true);
    const [, traceId, spanId] = header.split('-');
    expect([context?.traceId, context?.spanId]).toEqual([traceId, spanId]);
    expect(context?.toTraceparent()).toBe(`00-${traceId}-${spanId}-${sampled ? '01' : '00'}`);
  });
});

describe('invalid', () => {
  test.each([
    ['short numbers', '00-1-2-3'],
    ['nothing in it', ''],
    ['no fields', 'abc'],
    ['upper case trace id', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['upper case span id', `00-${TRACE}-${SPAN.toUpperCase()}-01`],
    ['upper case flags', `00-${TRACE}-${SPAN}-0A`],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['upper case version', `CC-${TRACE}-${SPAN}-01`],
    ['a version of one digit', `0-${TRACE}-${SPAN}-01`],
    ['a field too many in version 00', `00-${TRACE}-${SPAN}-01-extra`],
    ['a trailing dash in version 00', `00-${TRACE}-${SPAN}-01-`],
    ['no dash before the rest of a later version', `cc-${TRACE}-${SPAN}-01.what`],
    ['a field too few', `00-${TRACE}-${SPAN}`],
    ['a trace id of all zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of all zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a trace id too long', `00-${TRACE}0-${SPAN}-01`],
    ['a trace id too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['no hex digit', `00-${TRACE.slice(1)}g-${SPAN}-01`],
    ['flags too long', `00-${TRACE}-${SPAN}-001`],
    ['blanks around', ` 00-${TRACE}-${SPAN}-01 `],
    ['a line end', `00-${TRACE}-${SPAN}-01\n`],
    ['two headers joined', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['underscores', `00_${TRACE}_${SPAN}_01`],
    ['far too long', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`],
    ['a list of headers', [`00-${TRACE}-${SPAN}-01`]],
    ['a number', 7 as unknown as string],
  ])('%s', async (_, header) => {
    const changes = await counted(() => expect(SpanContext.fromTraceparent(header)).toBeUndefined());
    expect(changes).toEqual({ traceparentsInvalid: 1 });
  });
});

test('no header is no error', async () => {
  const changes = await counted(() => {
    expect(SpanContext.fromTraceparent(undefined)).toBeUndefined();
    expect(SpanContext.fromTraceparent(null)).toBeUndefined();
  });
  expect(changes).toEqual({});
});

test('a context without a span gets a span id of its own in the header', () => {
  const context = SpanContext.random();
  expect(context.spanId).toBe('0'.repeat(16));
  expect(context.toTraceparent()).toMatch(new RegExp(`^00-${context.traceId}-(?!0{16})[0-9a-f]{16}-01$`));
  expect(context.withSampled(false).toTraceparent()).toMatch(/-00$/);
});
