// LocalCollector: local spans apart from any trace, mounted later under any number of spans or turned into records; the
// context is left as it was found, and what it keeps is bounded.
import { AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { spanTree } from '../../src/formats/terminal/trace-tree.js';
import { LocalCollector, LocalSpan, Span, SpanContext, toRecords } from '../../src/index.js';
import { MAX_DETACHED_SPANS } from '../../src/local-span/local-collector.js';
import { counted, recorder } from '../support/recorder.js';

const commit = (): void => {
  using _commit = LocalSpan.start('commit');
  LocalSpan.start('write').addProperty('bytes', 10).end();
};

test('mounted under spans of several traces: a record in each, equal but for parent and trace', async () => {
  const { root, memory, collector } = recorder();
  const spans = [root('one'), root('two')];
  const [, detached] = LocalCollector.run(commit);
  expect(detached.count).toBe(2);
  for (const span of spans) span.pushChildSpans(detached);
  for (const span of spans) span.end();
  await collector.flush();
  expect(memory.tree()).toBe('one\n  commit\n    write\ntwo\n  commit\n    write'.replace(/one|two/g, (name) => name));
  const [first, second] = memory.traces.map((trace) => trace.spans.find((one) => one.name === 'write'));
  expect(first?.spanId).toBe(second?.spanId);
  expect(first?.traceId).not.toBe(second?.traceId);
  expect(first?.properties).toEqual({ bytes: 10 });
});

test('mounted under two spans of one trace: one record, the other parent is a link', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const [a, b] = [Span.start('a', span), Span.start('b', span)];
  const [, detached] = LocalCollector.run(commit);
  a.pushChildSpans(detached);
  b.pushChildSpans(detached);
  // Again: nothing new.
  a.pushChildSpans(detached);
  const bId = b.context?.spanId;
  for (const one of [a, b, span]) one.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  a\n    commit\n      write\n  b');
  expect(memory.find('commit')?.links).toEqual([{ traceId: span.context?.traceId, spanId: bId }]);
  expect(memory.find('write')?.links).toEqual([]);
});

test('mounted again after its trace was reported: counted, and no second record', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const [, detached] = LocalCollector.run(commit);
  span.pushChildSpans(detached);
  span.end();
  await collector.flush();
  expect(await counted(() => span.pushChildSpans(detached))).toEqual({ mountsAfterReport: 1 });
  await collector.flush();
  expect(memory.spans.length).toBe(3);
});

test('records without a reporter', () => {
  const collector = LocalCollector.start();
  commit();
  const spans = collector.collect();
  expect(collector.collect().count).toBe(0);
  const parent = SpanContext.fromTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  const records = toRecords(spans, parent);
  expect(spanTree(records)).toBe('commit (parent missing)\n  write');
  expect(records[0].parentSpanId).toBe('b7ad6b7169203331');
  expect(records[0].traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(spanTree(toRecords(spans))).toBe('commit\n  write');
});

test('inside a trace it collects apart, and gives the context back', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    using _before = LocalSpan.start('before');
    const collector = LocalCollector.start();
    commit();
    expect(Span.current()).toBeUndefined();
    expect(Span.startWithLocalParent('no parent').isRecording).toBe(false);
    expect(collector.collect().count).toBe(2);
    expect(Span.current()).toBe(span);
    LocalSpan.start('after').end();
  });
  span.end();
  expect(await tree()).toBe('root\n  before\n    after');
});

test('nested collectors take their own; a throw still gives the context back', () => {
  const outer = LocalCollector.start();
  LocalSpan.start('outer').end();
  expect(() =>
    LocalCollector.run(() => {
      throw new Error('x');
    }),
  ).toThrow('x');
  const [, inner] = LocalCollector.run(commit);
  LocalSpan.start('outer').end();
  expect(inner.count).toBe(2);
  expect(toRecords(outer.collect()).map((one) => one.name)).toEqual(['outer', 'outer']);
});

test('collectors left in the wrong order do not come back as local parent', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    const first = LocalCollector.start();
    const second = LocalCollector.start();
    const guard = span.enter();
    expect(first.collect().count).toBe(0);
    expect(second.collect().count).toBe(0);
    guard[Symbol.dispose]();
    expect(Span.current()).toBe(span);
    LocalSpan.start('a').end();
  });
  expect(Span.current()).toBeUndefined();
  span.end();
  expect(await tree()).toBe('root\n  a');
});

test('spans open at collect() end there and are counted', async () => {
  const changes = await counted(() => {
    const collector = LocalCollector.start();
    const buffered = LocalSpan.start('held');
    expect(collector.collect().count).toBe(1);
    buffered.end();
  });
  expect(changes).toEqual({ localSpansLeftOpen: 1, staleHandles: 1 });
});

test('what it keeps is bounded and the rest counted', async () => {
  const extra = 1000;
  const changes = await counted(() => {
    const [, spans] = LocalCollector.run(() => {
      for (let i = 0; i < MAX_DETACHED_SPANS + extra; i++) LocalSpan.start('a').end();
    });
    expect(spans.count).toBe(MAX_DETACHED_SPANS);
  });
  expect(changes).toEqual({ localSpansOverCap: extra });
});

test('of an async function: all of its spans, once its promise has settled', async () => {
  const { root, memory, collector } = recorder();
  const [early, late] = [root('early'), root('late')];
  const changes = await counted(async () => {
    const [done, spans] = LocalCollector.run(async () => {
      LocalSpan.start('before').end();
      await null;
      commit();
      await new Promise((resolve) => setTimeout(resolve, 1));
      LocalSpan.start('left open');
      return 5;
    });
    early.pushChildSpans(spans);
    expect(spans.count).toBe(1);
    expect(await done).toBe(5);
    expect(toRecords(spans).map((one) => one.name)).toEqual(['before', 'commit', 'write', 'left open']);
    late.pushChildSpans(spans);
    LocalSpan.start('outside').end();
  });
  early.end();
  late.end();
  await collector.flush();
  expect(changes).toEqual({ localSpansLeftOpen: 1, localSpansWithoutParent: 1 });
  const mounted = '\n  before\n  commit\n    write\n  left open';
  expect(memory.tree()).toBe(`early${mounted}\nlate${mounted}`);
});

test('collected inside the run of a span: what follows that run belongs to what is around the collector', async () => {
  const { root, memory, collector } = recorder();
  const [outer, other] = [root('outer'), root('other')];
  const changes = await counted(() => {
    const alone = LocalCollector.start();
    LocalSpan.start('a').end();
    expect(other.run(() => alone.collect()).count).toBe(1);
    LocalSpan.start('no parent').end();
    LocalSpan.addProperty('no', 'parent');
    expect(Span.current()).toBeUndefined();
  });
  expect(changes).toEqual({ localSpansWithoutParent: 2 });
  await outer.run(async () => {
    const inside = LocalCollector.start();
    LocalSpan.start('b').end();
    const count = await other.run(async () => {
      await null;
      return inside.collect().count;
    });
    expect(count).toBe(1);
    LocalSpan.start('after').end();
    Span.startWithLocalParent('span after').end();
    expect(Span.current()).toBe(outer);
  });
  outer.end();
  other.end();
  await collector.flush();
  expect(memory.tree()).toBe('outer\n  after\n  span after\nother');
});

test('what cannot be had back is counted: spans of a run that threw, properties outside any local span', async () => {
  const changes = await counted(() => {
    expect(() =>
      LocalCollector.run(() => {
        commit();
        LocalSpan.addProperty('k', 1);
        LocalSpan.addEvent('e');
        throw new Error('x');
      }),
    ).toThrow('x');
  });
  expect(changes).toEqual({ localSpansWithoutParent: 4 });
});

test('what goes on after the collection is there as soon as it has ended, and never without its parent', () => {
  type Work = () => void;
  const [[one, two], spans] = LocalCollector.run(() => [0, 1].map(() => AsyncResource.bind((work: Work) => work())));
  one(() => {
    LocalSpan.start('first').end();
    expect(spans.count).toBe(1);
  });
  one(() => {
    using _outer = LocalSpan.start('outer');
    LocalSpan.start('inner').end();
    two(() => LocalSpan.start('beside').end());
    // `outer` is still open: `inner` would be mounted without a parent.
    expect(spanTree(toRecords(spans))).not.toContain('inner');
  });
  expect(spanTree(toRecords(spans))).toBe('first\nouter\n  inner\nbeside');
});

test('a property without a value is none: nothing of it is counted as lost', async () => {
  const changes = await counted(() =>
    LocalCollector.run(() => LocalSpan.addProperties({ left: undefined, out: undefined, lost: 1 })),
  );
  expect(changes).toEqual({ localSpansWithoutParent: 1 });
});
