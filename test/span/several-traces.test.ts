// Spans of several traces, each of which may be full, cancelled, discarded or reported before the others.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const namesOf = (memory: { readonly traces: readonly { readonly spans: readonly { readonly name: string }[] }[] }) =>
  memory.traces.map(({ spans }) => spans.map(({ name }) => name));

test('cancelling one of two parents leaves the other whole, whenever it happens', async () => {
  for (const when of ['before', 'during', 'after']) {
    const { root, memory, collector, tree } = recorder();
    const [kept, cancelled] = [root('kept'), root('cancelled')];
    for (const parents of [
      [kept, cancelled],
      [cancelled, kept],
    ]) {
      const both = Span.start('both', parents).addProperty('k', when);
      if (when === 'before') cancelled.cancel();
      both.run(() => {
        const outer = LocalSpan.start('outer').addProperty('n', 1);
        LocalSpan.start('inner').end();
        if (when === 'during') cancelled.cancel();
        outer.end();
      });
      Span.start('child', both).end();
      both.end();
    }
    if (when === 'after') cancelled.cancel();
    kept.end();
    cancelled.end();
    const both = '\n  both\n    outer\n      inner\n    child';
    expect((await tree()).replaceAll(/ +[{[(].*/g, '')).toBe(`kept${both}${both}`);
    expect(memory.traces.length).toBe(1);
    expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyBytes: 0, readyTraces: 0 });
  }
});

test('local spans under many parents when one trace is full', async () => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 3 });
  const [full, room] = [root('full'), root('room')];
  for (let i = 0; i < 2; i++) Span.start(`own ${i}`, full).end();
  const changes = await counted(() => {
    const both = Span.start('both', [full, room]);
    both.run(() => {
      const outer = LocalSpan.start('outer');
      LocalSpan.start('inner').end();
      outer.end();
    });
    both.end();
    full.end();
    room.end();
  });
  await collector.flush();
  const byRoot = new Map(memory.traces.map(({ spans }) => [spans[0].name, spans]));
  expect(byRoot.get('full')?.map(({ name }) => name)).toEqual(['full', 'own 0', 'own 1', 'both']);
  expect(byRoot.get('full')?.[0].properties).toEqual({ 'spanline.dropped_spans': 2 });
  expect(byRoot.get('room')?.map(({ name }) => name)).toEqual(['room', 'both', 'outer', 'inner']);
  expect(changes).toEqual({ localSpansOverCap: 2 });
  // No span names a parent that its trace does not have.
  for (const spans of byRoot.values()) {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const span of spans.slice(1)) expect(ids.has(span.parentSpanId as string)).toBe(true);
  }
});

test('mounted batches in a trace without room for all of them', async () => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 10 });
  const [, spans] = LocalCollector.run(() => {
    for (let i = 0; i < 4; i++) {
      const outer = LocalSpan.start(`outer ${i}`);
      LocalSpan.start(`inner ${i}`).end();
      outer.end();
    }
  });
  const [one, other] = [root('one'), root('other')];
  for (let i = 0; i < 5; i++) Span.start('own', one).end();
  const changes = await counted(() => {
    one.pushChildSpans(spans);
    other.pushChildSpans(spans).pushChildSpans(spans);
    one.end();
    other.end();
  });
  await collector.flush();
  expect(changes).toEqual({ spansOverTraceCap: 3 });
  const [ofOne, ofOther] = namesOf(memory);
  expect(ofOne.filter((name) => /ner|ter/.test(name)).sort()).toEqual([
    'inner 0',
    'inner 1',
    'outer 0',
    'outer 1',
    'outer 2',
  ]);
  expect(ofOther.length).toBe(9);
  expect(memory.traces[0].spans[0].properties).toEqual({ 'spanline.dropped_spans': 3 });
  expect(collector.stats()).toMatchObject({ openBytes: 0, readyBytes: 0 });
});

test('a discarded trace stays discarded, whatever took its slot meanwhile', async () => {
  const { root, memory, collector } = recorder({ keep: ({ root: top }) => top?.name !== 'unwanted' });
  const late: Span[] = [];
  for (const name of ['cancelled', 'unwanted']) {
    const span = root(name);
    late.push(Span.start('late', span), Span.start('later', span));
    if (name === 'cancelled') span.cancel();
    span.end();
    await collector.flush();
  }
  const others = Array.from({ length: 5 }, (_, i) => root(`other ${i}`));
  const changes = await counted(() => {
    for (const span of late) {
      span.run(() => LocalSpan.start('local').end());
      Span.start('below', span).end();
      span.end();
      for (const other of others) Span.start('own', other).end();
    }
  });
  for (const other of others) other.end();
  await collector.flush();
  expect(namesOf(memory)).toEqual(others.map((_, i) => [`other ${i}`, 'own', 'own', 'own', 'own']));
  expect(changes).toEqual({ spansOfDiscardedTraces: 12 });
});

test('late spans follow their own trace over many reports', async () => {
  const { root, memory, collector } = recorder();
  const roots = Array.from({ length: 20 }, (_, i) => root(`root ${i}`));
  for (const span of roots) span.end();
  for (let round = 0; round < 10; round++) {
    await collector.flush();
    roots.forEach((span, i) => {
      if ((i + round) % 3 === 0) Span.start(`of ${i}`, span).addProperty('i', i).end();
    });
  }
  await collector.flush();
  memory.traces.forEach(({ spans }, i) => {
    expect(spans[0].name).toBe(`root ${i}`);
    expect(new Set(spans.slice(1).map(({ name }) => name))).toEqual(new Set([`of ${i}`]));
    expect(spans.length).toBeGreaterThan(3);
  });
});
