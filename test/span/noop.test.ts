// The no-op span is frozen and accepts every call; arguments that types would refuse do not make recording throw.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const forbidden = (): never => {
  throw new Error('a callback ran');
};

test('every method of the no-op span', async () => {
  const span = Span.noop();
  expect(Object.isFrozen(span)).toBe(true);
  expect(span).toBe(Span.noop());
  const [, spans] = LocalCollector.run(() => LocalSpan.start('a').end());
  const changes = await counted(async () => {
    span.addProperty('k', 1).addProperties(forbidden).addEvent('e').addLink(span).setStatus('error');
    span.recordException(new Error('x')).pushChildSpans(spans);
    expect(span.run(() => 5)).toBe(5);
    expect(span.runToEnd(() => 6)).toBe(6);
    expect(span.bind((x: number) => x)(7)).toBe(7);
    expect([span.isRecording, span.elapsed(), span.context]).toEqual([false, 0, undefined]);
    expect(Span.start('child', span, { properties: forbidden })).toBe(span);
    span.enter()[Symbol.dispose]();
    span.cancel();
    span.end();
    span[Symbol.dispose]();
  });
  expect(changes).toEqual({});
});

test('without a local parent: the no-op span, counted', async () => {
  const changes = await counted(() => {
    expect(Span.startWithLocalParent('a', { properties: forbidden })).toBe(Span.noop());
  });
  expect(changes).toEqual({ spansWithoutParent: 1 });
});

test('null in place of options, and nothing in place of local spans', async () => {
  const { collector, tree } = recorder();
  const nothing = null as unknown as undefined;
  const span = Span.root('root', nothing, { collector, kind: nothing, properties: nothing });
  Span.start('child', span, nothing).end();
  span.run(() => Span.startWithLocalParent('inner', nothing).end());
  span.pushChildSpans(undefined as never).pushChildSpans({} as never);
  span.end();
  expect(await tree()).toBe('root\n  child\n  inner');
  Span.root('with the default collector', nothing, nothing).cancel();
});

test('links to nothing are left out', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  for (const nothing of [undefined, null, Span.noop()]) span.addLink(nothing as unknown as Span);
  span.end();
  await collector.flush();
  expect(memory.spans[0].links).toEqual([]);
});
