// Whatever becomes of a trace, a snapshot holds each of its spans once, as it was recorded; and the ring keeps its bounds.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, never, Span, SpanContext, type SpanRecord } from '../../src/index.js';
import { flight, linesOf, namesOf } from './support/flight.js';

test('a trace that is not sampled is held here, is reported to nobody, and goes out as not sampled', async () => {
  const { root, snapshot, memory, collector } = flight({ sampler: never });
  const span = root('GET /');
  expect(span.isRecording).toBe(true);
  expect(span.context?.toTraceparent()).toMatch(/-0[02]$/);
  span.run(() => LocalSpan.start('work').end());
  Span.start('child', span).end();
  span.end();
  expect(namesOf(snapshot())).toEqual(['GET / here', 'work here', 'child here']);
  await collector.flush();
  expect(memory.spans).toEqual([]);
  Span.start('late', span).end();
  expect(namesOf(snapshot())).toEqual(['GET / here', 'work here', 'child here', 'late here']);
});

test('without a recorder a trace that is not sampled records nothing', () => {
  const { root, recorder } = flight({ sampler: never });
  recorder.stop();
  expect(root('GET /').isRecording).toBe(false);
});

test('what is reported, what keep drops and what nobody has asked for yet is held alike', async () => {
  const { root, snapshot, memory, collector } = flight({ keep: ({ root: top }) => top?.name !== 'dropped' });
  root('kept').end();
  root('dropped').end();
  await collector.flush();
  root('new').end();
  const open = root('open');
  Span.start('child', open).end();
  expect(namesOf(snapshot())).toEqual(['kept', 'dropped', 'new', 'open open', 'child']);
  expect(memory.spans.map(({ name }) => name)).toEqual(['kept']);
  open.end();
  expect(namesOf(snapshot()).filter((name) => name.startsWith('open'))).toEqual(['open']);
});

test('what is cancelled is shown to nobody, before it is reported and after', async () => {
  const { root, snapshot } = flight();
  const one = root('cancelled');
  Span.start('child', one).end();
  // Now the ring has the child.
  expect(namesOf(snapshot())).toEqual(['cancelled open', 'child']);
  one.cancel();
  one.end();
  root('other').end();
  expect(namesOf(snapshot())).toEqual(['other']);
});

test('an evicted trace is held', () => {
  const { root, snapshot } = flight({ maxOpenTraces: 1 });
  const first = root('first');
  Span.start('child', first).end();
  root('second');
  expect(namesOf(snapshot()).sort()).toEqual(['child here', 'first here open', 'second open']);
});

test('batches mounted by hand are held, under each parent', async () => {
  const { root, snapshot, collector } = flight();
  const one = root('one');
  const local = LocalCollector.start();
  LocalSpan.start('batched').end();
  one.pushChildSpans(local.collect());
  one.end();
  await collector.flush();
  expect(namesOf(snapshot())).toEqual(['one', 'batched']);
});

test('spans of a trace are in order of their begin, the root before those that began before it, however many blocks they came in', async () => {
  const { root, snapshot, collector } = flight();
  const local = LocalCollector.start();
  LocalSpan.start('before').end();
  const early = local.collect();
  const one = root('one');
  one.pushChildSpans(early);
  const slow = Span.start('begun first', one);
  for (let i = 0; i < 3; i++) {
    Span.start(`child ${i}`, one).end();
    collector.observeNow();
  }
  slow.end();
  one.end();
  await collector.flush();
  expect(namesOf(snapshot())).toEqual(['one', 'before', 'begun first', 'child 0', 'child 1', 'child 2']);
});

test('a trace that a trigger sends in the end is sampled, though its first spans were held before that', async () => {
  const { root, snapshot, collector } = flight({ sampler: never }, { triggers: { error: true } });
  const one = root('one');
  Span.start('child', one).end();
  collector.observeNow();
  expect(namesOf(snapshot())).toEqual(['one here open', 'child here']);
  one.setStatus('error').end();
  await collector.flush();
  expect(namesOf(snapshot())).toEqual(['one', 'child']);
});

const plain = ({ spanId, parentSpanId, name, kind, properties, events, links, status, isLocal }: SpanRecord) => ({
  spanId,
  parentSpanId,
  name,
  kind,
  properties,
  events: events.map((event) => [event.name, event.properties]),
  links,
  status,
  isLocal,
});

test('every field of a span is as a reporter gets it', async () => {
  const { root, snapshot, memory, collector } = flight();
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const remote = SpanContext.fromTraceparent(parent, 'vendor=1');
  for (let i = 0; i < 300; i++) {
    const one = root(`GET ${i % 7}`, i % 5 === 0 ? remote : undefined, { kind: 'server' });
    one.addProperties({ text: `wert ${i} ä`, n: i, yes: true, list: ['a', `b${i}`], big: 2n ** 70n, lone: '\ud800' });
    one.addEvent('event', { i }).addLink({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
    one.run(() => {
      const local = LocalSpan.start('local');
      local.addProperty('same', 'every time the same text');
      local.end();
    });
    Span.start('x'.repeat(400), one).setStatus('error', 'why').end();
    one.end();
    if (i === 100) await collector.flush();
    // What follows in the same chunk is a block from its middle.
    if (i % 37 === 0) snapshot();
  }
  await collector.flush();
  const buffered = [...snapshot().traces()].flatMap(({ spans }) => spans.map(({ record }) => plain(record)));
  const byId = (a: { spanId: string }, b: { spanId: string }) => (a.spanId < b.spanId ? -1 : 1);
  expect(buffered.sort(byId)).toEqual(memory.spans.map(plain).sort(byId));
  expect(buffered.length).toBe(900);
});

test('a snapshot stays as it is while spans go on', () => {
  const { root, snapshot } = flight({}, { maxBytes: 1 << 20 });
  for (let i = 0; i < 3000; i++) root('before').end();
  const taken = snapshot();
  const before = linesOf(taken);
  for (let i = 0; i < 30_000; i++) root('after').end();
  expect(linesOf(taken)).toEqual(before);
  expect(before.length).toBe(3000);
});

test('the ring keeps its bound in bytes, lets the oldest go and counts it', () => {
  const { root, recorder, snapshot, collector } = flight({}, { maxBytes: 2 << 20 });
  for (let i = 0; i < 80_000; i++) {
    root(i < 40_000 ? 'old' : 'new').end();
    if (i % 5000 === 0) collector.observeNow();
  }
  const names = new Set(namesOf(snapshot()));
  const { bytes, spans, spansEvictedEarly, bufferedMs } = recorder.stats();
  expect(bytes).toBeLessThan((2 << 20) * 1.1);
  expect(spans).toBeGreaterThan(15_000);
  expect(spans + spansEvictedEarly).toBe(80_000);
  expect(names).toEqual(new Set(['new']));
  expect(bufferedMs).toBeGreaterThan(0);
});

test('spans that never end do not fill the table of open spans for ever', () => {
  const { root, recorder, snapshot } = flight();
  for (let i = 0; i < 40_000; i++) root('lost');
  const last = root('last');
  expect(recorder.stats().openSpans).toBeLessThanOrEqual(16_384);
  expect(recorder.stats().openSpansForgotten).toBeGreaterThan(20_000);
  expect(namesOf(snapshot())).toContain('last open');
  last.end();
});
