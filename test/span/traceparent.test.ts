// traceparent is read as W3C Trace Context level 2 says, to the letter: malformed headers are undefined and counted.
import { describe, expect, test } from 'vitest';
import { always, contextForWorker, contextFromWorker, never, Span, SpanContext } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('valid', () => {
  test.each([
    ['sampled', `00-${TRACE}-${SPAN}-01`, true],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['a random id, not sampled', `00-${TRACE}-${SPAN}-02`, false, true],
    ['a random id, sampled', `00-${TRACE}-${SPAN}-03`, true, true],
    ['flags of the future', `00-${TRACE}-${SPAN}-fc`, false],
    ['flags of the future beside ours', `00-${TRACE}-${SPAN}-ff`, true, true],
    ['a later version', `cc-${TRACE}-${SPAN}-01`, true],
    ['a later version with more fields', `01-${TRACE}-${SPAN}-03-what-the-future-will-be-like`, true, true],
    ['ids of almost all zeros', `00-${'0'.repeat(31)}1-${'0'.repeat(15)}1-01`, true],
    ['ids of all ones', `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01`, true],
    ['blanks around', ` \t00-${TRACE}-${SPAN}-01\t `, true],
  ])('%s', (_, header: string, sampled: boolean, isRandom = false) => {
    const context = SpanContext.fromTraceparent(header);
    expect([context?.sampled, context?.isRandom, context?.isRemote]).toEqual([sampled, isRandom, true]);
    const [, traceId, spanId] = header.split('-');
    expect([context?.traceId, context?.spanId]).toEqual([traceId, spanId]);
    // As it came but for the version; flags that level 2 does not define are sent as 0.
    expect(context?.toTraceparent()).toBe(`00-${traceId}-${spanId}-0${Number(sampled) + 2 * Number(isRandom)}`);
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
    ['a blank inside', `00-${TRACE}-${SPAN}- 1`],
    ['a no-break blank around', `\u00a000-${TRACE}-${SPAN}-01`],
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

test('no header is not an error', async () => {
  const changes = await counted(() => {
    expect(SpanContext.fromTraceparent(undefined)).toBeUndefined();
    expect(SpanContext.fromTraceparent(null)).toBeUndefined();
  });
  expect(changes).toEqual({});
});

test('a context without a span gets a span id of its own in the header', () => {
  const context = SpanContext.random();
  expect(context.spanId).toBe('0'.repeat(16));
  expect(context.toTraceparent()).toMatch(new RegExp(`^00-${context.traceId}-(?!0{16})[0-9a-f]{16}-03$`));
  expect(context.toTraceparent()).toBe(context.toTraceparent());
  expect(context.withSampled(false).toTraceparent()).toMatch(/-02$/);
});

describe('the random flag', () => {
  test('is set for ids of our own, and follows to children, workers and whom they call', () => {
    const { root } = recorder();
    for (const [context, flags] of [
      [undefined, '03'],
      [SpanContext.random(), '03'],
      [SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-03`), '03'],
      [SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-01`), '01'],
      [SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-02`), '02'],
      [SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-00`), '00'],
    ] as const) {
      const span = root('root', context);
      span.run(() => {
        const child = Span.startWithLocalParent('child');
        const inWorker = contextFromWorker(contextForWorker(child));
        const sent = [span, child, Span.start('child', child)].map((one) => one.context?.toTraceparent());
        sent.push(inWorker?.toTraceparent());
        for (const header of sent) expect(header?.slice(-2)).toBe(flags);
      });
    }
  });

  test('is in the bytes for a worker and stays when the decision changes', () => {
    const context = SpanContext.random();
    expect(SpanContext.fromBytes(context.toBytes()).isRandom).toBe(true);
    expect(context.withSampled(false).isRandom).toBe(true);
    const received = SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-01`) as SpanContext;
    expect(SpanContext.fromBytes(received.toBytes()).isRandom).toBe(false);
  });
});

describe('another decision than the caller made goes out with a span id of its own', () => {
  test.each([
    ['never', never, '03', '02'],
    ['never', never, '01', '00'],
    ['always', always, '02', '03'],
    ['always', always, '00', '01'],
  ])('%s, for a caller with %s', (_, sampler, flags, sent) => {
    const { root } = recorder({ sampler });
    const span = root('root', SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-${flags}`, 'a=1'));
    const header = span.context?.toTraceparent();
    expect(header).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN}|0{16})[0-9a-f]{16}-${sent}$`));
    expect(span.context?.traceState).toBe('a=1');
    // One operation has one id, whoever asks, and however often.
    const child = Span.start('child', span);
    if (sent === '00' || sent === '02') expect(child.context?.toTraceparent()).toBe(header);
    expect(span.run(() => Span.current()?.context?.toTraceparent())).toBe(header);
  });

  test('also when it is changed by hand; changed back, the header is the one that came', () => {
    const came = `00-${TRACE}-${SPAN}-03`;
    const context = SpanContext.fromTraceparent(came) as SpanContext;
    const changed = context.withSampled(false);
    expect(changed.toTraceparent()).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-02$`));
    expect(changed.toTraceparent()).toBe(changed.toTraceparent());
    expect(context.withSampled(true).toTraceparent()).toBe(came);
    expect(changed.withSampled(true).toTraceparent()).toBe(came);
    const inWorker = SpanContext.fromBytes(changed.toBytes());
    expect(inWorker.toTraceparent()).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-02$`));
    expect([inWorker.spanId, inWorker.withSampled(true).toTraceparent()]).toEqual([SPAN, came]);
  });

  test('the span of the caller stays the parent of a root that records against it', async () => {
    const { root, memory, collector } = recorder();
    root('root', SpanContext.fromTraceparent(`00-${TRACE}-${SPAN}-00`)?.withSampled(true)).end();
    await collector.flush();
    expect(memory.find('root')?.parentSpanId).toBe(SPAN);
  });

  test('an unsampled root that nobody called has one id too', () => {
    const { root } = recorder({ sampler: never });
    for (const context of [undefined, SpanContext.random(), SpanContext.random({ sampled: false })]) {
      const span = root('root', context);
      const header = span.context?.toTraceparent();
      expect(header).toMatch(/^00-[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-02$/);
      expect(span.context?.toTraceparent()).toBe(header);
      expect(Span.start('child', span).context?.toTraceparent()).toBe(header);
      expect(contextFromWorker(contextForWorker(span))?.toTraceparent()).toBe(header);
    }
  });
});
