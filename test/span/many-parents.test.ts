// A span with several parents has one record in each trace: in each its first parent there is the parent, the others of
// that trace are links. Its children and local spans follow it into every trace.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, never, Span, SpanContext } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('two parents in one trace: one record, one link', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const [a, b] = [Span.start('a', span), Span.start('b', span)];
  const both = Span.start('both', [a, b]);
  const bId = b.context?.spanId;
  for (const one of [both, a, b, span]) one.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  a\n    both\n  b');
  expect(memory.find('both')?.links).toEqual([
    { traceId: span.context?.traceId, spanId: bId, properties: undefined, traceState: undefined },
  ]);
  expect(new Set(memory.spans.map((one) => one.spanId)).size).toBe(4);
});

test('the same parent twice is one parent', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  Span.start('child', [span, span]).end();
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  child');
  expect(memory.find('child')?.links).toEqual([]);
});

test('parents in several traces, with descendants', async () => {
  const { root, memory, collector } = recorder();
  const roots = ['x', 'y', 'z'].map((name) => root(name));
  const inner = Span.start('y inner', roots[1]);
  const batch = Span.start('batch', [roots[0], roots[1], inner, roots[2]]);
  await batch.run(async () => {
    LocalSpan.start('local').addProperty('p', 1).end();
    await null;
    const child = Span.startWithLocalParent('child');
    const grandchild = Span.start('grandchild', child);
    grandchild.end();
    child.end();
  });
  const innerId = inner.context?.spanId;
  for (const one of [batch, inner, ...roots]) one.end();
  await collector.flush();
  expect(memory.traces.map((trace) => trace.spans.length)).toEqual([5, 6, 5]);
  for (const [i, name] of ['x', 'y', 'z'].entries()) {
    const { spans } = memory.traces[i];
    const by = (wanted: string) => spans.find((one) => one.name === wanted);
    expect(by('batch')?.parentSpanId).toBe(by(name)?.spanId);
    expect(by('local')?.parentSpanId).toBe(by('batch')?.spanId);
    expect(by('local')?.properties).toEqual({ p: 1 });
    expect(by('child')?.parentSpanId).toBe(by('batch')?.spanId);
    expect(by('grandchild')?.parentSpanId).toBe(by('child')?.spanId);
    // The second parent in one trace is of no concern to the others.
    expect(by('batch')?.links.map((link) => link.spanId)).toEqual(name === 'y' ? [innerId] : []);
  }
});

test('a parent that is named again is not a link, in whichever trace it is the parent', async () => {
  const { root, memory, collector } = recorder();
  const [a, b] = [root('a'), root('b')];
  const c = Span.start('c', b);
  const [bId, cId] = [b, c].map((one) => one.context?.spanId);
  const merged = Span.start('merged', [a, b]);
  const mergedId = merged.context?.spanId;
  for (const [name, parents] of Object.entries({
    abb: [a, b, b],
    aabba: [a, a, b, b, a],
    abcbc: [a, b, c, b, c],
    'merged twice': [merged, merged],
    'merged and its parents': [merged, a, b, merged, a, b],
  })) {
    Span.start(name, parents).end();
  }
  for (const one of [merged, c, a, b]) one.end();
  await collector.flush();
  const linksIn = (trace: number, name: string) =>
    memory.traces[trace].spans.find((one) => one.name === name)?.links.map((link) => link.spanId);
  const aId = memory.find('a')?.spanId;
  for (const [name, inA, inB] of [
    ['abb', [], []],
    ['aabba', [], []],
    ['abcbc', [], [cId]],
    ['merged twice', [], []],
    ['merged and its parents', [aId], [bId]],
  ] as const) {
    expect([name, linksIn(0, name), linksIn(1, name)]).toEqual([name, inA, inB]);
  }
  expect(memory.find('merged twice')?.parentSpanId).toBe(mergedId);
});

test('links to parents are bounded with those of the program, which are in every record', async () => {
  const { root, memory, collector } = recorder({ maxLinksPerSpan: 3 });
  const [a, b] = [root('a'), root('b')];
  const more = Array.from({ length: 5 }, (_, i) => Span.start(`more ${i}`, b));
  const far = SpanContext.random().toTraceparent();
  const changes = await counted(() => {
    Span.start('five', [a, b, ...more]).end();
    const one = Span.start('one', [a, b, more[0]]);
    for (let i = 0; i < 3; i++) one.addLink(SpanContext.fromTraceparent(far) as SpanContext);
    one.end();
  });
  expect(changes).toEqual({ linksOverCap: 3 });
  for (const span of [...more, a, b]) span.end();
  await collector.flush();
  const counts = memory.traces.map(({ spans }) =>
    ['five', 'one'].map((name) => spans.find((span) => span.name === name)?.links.length),
  );
  expect(counts).toEqual([
    [0, 2],
    [3, 3],
  ]);
});

test('local spans mounted again and again under the same spans have one link for each further one', async () => {
  const { root, memory, collector } = recorder({ maxLinksPerSpan: 2 });
  const span = root('root');
  const parents = Array.from({ length: 4 }, (_, i) => Span.start(`parent ${i}`, span));
  const [, spans] = LocalCollector.run(() => LocalSpan.start('local').end());
  const changes = await counted(() => {
    for (const i of [0, 1, 1, 0, 2, 1, 3]) parents[i].pushChildSpans(spans);
  });
  const ids = parents.map((one) => one.context?.spanId);
  for (const one of [...parents, span]) one.end();
  await collector.flush();
  expect(memory.find('local')?.links.map((link) => link.spanId)).toEqual([ids[1], ids[2]]);
  expect(changes).toEqual({ linksOverCap: 1 });
});

test('among parents that do not record, the one that was decided against counts', () => {
  const { root } = recorder({ sampler: never });
  const unsampled = root('root');
  const none = undefined as unknown as Span;
  for (const parents of [
    [Span.noop(), unsampled],
    [unsampled, Span.noop()],
    [none, unsampled],
    [none, Span.noop(), unsampled],
  ]) {
    const child = Span.start('child', parents);
    expect(child.context?.toTraceparent()).toBe(unsampled.context?.toTraceparent());
    child.run(() => expect(Span.startWithLocalParent('inner').context?.sampled).toBe(false));
  }
});

test('an unsampled or missing parent among others does not matter; none at all is a no-op', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const none = undefined as unknown as Span;
  const child = Span.start('child', [Span.noop(), none, span]);
  child.end();
  span.end();
  expect(await tree()).toBe('root\n  child');
  for (const parents of [[], [none], none, null as unknown as Span, [Span.noop()]]) {
    expect(Span.start('nothing', parents).isRecording).toBe(false);
  }
});

test('one parent trace cancelled: the others have their record', async () => {
  const { root, tree } = recorder();
  const [a, b] = [root('a'), root('b')];
  const both = Span.start('both', [a, b]);
  a.cancel();
  both.run(() => LocalSpan.start('local').end());
  // What it calls belongs to the trace that is left.
  expect(both.context?.toHeaders()).toEqual({ traceparent: expect.stringMatching(`^00-${b.context?.traceId}-.*-03$`) });
  expect([both.isRecording, a.isRecording]).toEqual([true, false]);
  Span.start('child', both).end();
  Span.start('child of both roots', [a, b]).end();
  for (const one of [both, a, b]) one.end();
  expect(await tree()).toBe('b\n  both\n    local\n    child\n  child of both roots');
});
