// A span with several parents has one record in each trace: in each its first parent there is the parent, the others of
// that trace are links. Its children and local spans follow it into every trace.
import { expect, test } from 'vitest';
import { LocalSpan, Span } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

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
    expect(by('batch')?.links.map((link) => link.spanId)).toEqual([innerId]);
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
  for (const one of [both, a, b]) one.end();
  expect(await tree()).toBe('b\n  both\n    local');
});
