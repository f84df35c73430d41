// A cancelled root takes its whole trace along: what finished, what is open, what comes late; each span is counted.
import { expect, test } from 'vitest';
import { contextForWorker, currentQueue, LocalSpan, never, Span, SpanContext, traced } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('nothing of a cancelled trace is reported, before or after', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const [early, late] = [Span.start('early', span), Span.start('late', span)];
  early.end();
  const changes = await counted(async () => {
    await span.run(async () => {
      LocalSpan.start('before').end();
      span.cancel();
      LocalSpan.start('after').end();
      await null;
      LocalSpan.start('later').end();
    });
    late.run(() => LocalSpan.start('late local').end());
    late.end();
    span.end();
    Span.start('new', span).end();
    await collector.flush();
  });
  expect(memory.spans).toEqual([]);
  expect(changes).toEqual({ tracesCancelled: 1, spansOfDiscardedTraces: 8 });
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyTraces: 0 });
});

test('only an open root can be cancelled', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const child = Span.start('child', span);
  const changes = await counted(() => {
    child.cancel();
    child.end();
    span.end();
    span.cancel();
  });
  expect(changes).toEqual({ cancelOnNonRoot: 1, changedAfterEnd: 1 });
  expect(await tree()).toBe('root\n  child');
});

test('a second cancel while the root runs discards nothing, and is not misuse', async () => {
  const { root } = recorder();
  const span = root('root');
  const changes = await counted(() => {
    span.cancel();
    span.cancel();
  });
  expect(changes).toEqual({ tracesCancelled: 1 });
});

test('other traces are not touched', async () => {
  const { root, tree } = recorder();
  const [a, b] = [root('a'), root('b')];
  a.cancel();
  a.cancel();
  a.end();
  b.end();
  expect(await tree()).toBe('b');
});

const forbidden = (): never => {
  throw new Error('a callback ran');
};

test('after it nothing records, and who is called is told so', async () => {
  const { root, memory, collector } = recorder();
  const span = root(
    'root',
    SpanContext.fromTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03', 'a=1'),
  );
  const open = Span.start('open', span);
  const before = span.context;
  const wrapped = traced({ name: 'traced', properties: forbidden }, () => 1);
  const wrappedAsync = traced({ name: 'traced async', properties: forbidden }, async () => 1);
  const changes = await counted(async () => {
    await span.run(async () => {
      const local = LocalSpan.start('local');
      open.run(() => span.cancel());
      expect(local.isRecording).toBe(false);
      local.addProperties(forbidden).end();
      LocalSpan.addProperties(forbidden);
      expect(LocalSpan.start('later').addProperties(forbidden).isRecording).toBe(false);
      await null;
      expect(LocalSpan.start('after an await').isRecording).toBe(false);
      expect(Span.current()?.context?.sampled).toBe(false);
      expect(SpanContext.fromBytes(contextForWorker() as Uint8Array).sampled).toBe(false);
      wrapped();
      await wrappedAsync();
      const children = [
        Span.startWithLocalParent('child'),
        Span.start('child', span),
        Span.start('child', [open, span]),
      ];
      children.push(Span.start('grandchild', children[0], { properties: forbidden }));
      for (const child of children) {
        expect(child.isRecording).toBe(false);
        expect(child.context?.toHeaders()).toEqual({ traceparent: expect.stringMatching(/-02$/), tracestate: 'a=1' });
        child.run(() => expect(LocalSpan.start('under a child').isRecording).toBe(false));
        child.addProperties(forbidden).end();
      }
    });
    for (const one of [span, open]) {
      expect(one.isRecording).toBe(false);
      expect(one.addProperties(forbidden).addEvent('e').addLink(span).context?.sampled).toBe(false);
      one.end();
    }
    await collector.flush();
  });
  // The id stays, so that a link made before leads to the same place.
  expect(span.context?.spanId).toBe(before?.spanId);
  expect(memory.spans).toEqual([]);
  expect(changes.callbackErrors).toBeUndefined();
});

test('the same once a trace was evicted, or was not kept', async () => {
  const { root, collector } = recorder({ maxOpenTraces: 1, keep: () => false });
  const evicted = root('evicted');
  const dropped = root('dropped');
  const late = Span.start('late', dropped);
  dropped.end();
  await collector.flush();
  for (const span of [evicted, late]) {
    expect([span.isRecording, span.context?.sampled]).toEqual([false, false]);
    const changes = await counted(() => expect(Span.start('child', span).isRecording).toBe(false));
    expect(changes).toEqual({ spansOfDiscardedTraces: 1 });
  }
});

test('a held queue of an unsampled root refuses nothing that a bound would count', async () => {
  const { root } = recorder({ sampler: never });
  const changes = await counted(() => root('root').run(() => currentQueue()?.start('local').end()));
  expect(changes).toEqual({ tracesUnsampled: 1 });
});
