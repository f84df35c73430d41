// What a span carries arrives in its record as given, in order, within its bounds; what the bounds refuse is counted.
import { expect, test } from 'vitest';
import { Span, SpanContext } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('kind, properties, events, links, status', async () => {
  const { root, memory, collector } = recorder();
  const other = root('other');
  const remote = SpanContext.fromTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'a=1');
  const span = root('root', undefined, { kind: 'server', properties: () => ({ a: 1, b: undefined }) });
  const child = Span.start('child', span, { kind: 'client', properties: { list: ['x'] } });
  child.addLink(other, { why: 'batch' }).addLink(remote as SpanContext);
  child.addLink({ traceId: 'f'.repeat(32), spanId: 'e'.repeat(16), properties: { n: 1n } });
  child.addEvent('e', { size: 1, bad: undefined }).setStatus('error', 'm').setStatus('ok');
  const otherContext = other.context;
  child.end();
  span.end();
  other.end();
  await collector.flush();
  const record = memory.find('child');
  expect([memory.find('root')?.kind, record?.kind]).toEqual(['server', 'client']);
  expect([memory.find('root')?.properties, record?.properties]).toEqual([{ a: 1 }, { list: ['x'] }]);
  expect(record?.status).toEqual({ code: 'ok' });
  expect(record?.events[0].properties).toEqual({ size: 1 });
  expect(record?.links).toEqual([
    { traceId: otherContext?.traceId, spanId: otherContext?.spanId, properties: { why: 'batch' } },
    { traceId: remote?.traceId, spanId: remote?.spanId, traceState: 'a=1' },
    { traceId: 'f'.repeat(32), spanId: 'e'.repeat(16), properties: { n: 1n } },
  ]);
});

test('properties in one list come behind those there are, within the bound', async () => {
  const { root, memory, collector } = recorder({ maxPropertiesPerSpan: 3 });
  const [first, more, full] = ['first', 'more', 'full'].map((name) => root(name));
  first.addAll(['a', 1]);
  more.addProperty('a', 1).addAll(['b', 'x', 'c', 2]);
  full.addProperty('a', 1).addAll(['b', 'x', 'c', 2, 'd', 3]);
  for (const span of [first, more, full]) span.end();
  full.addAll(['e', 4]);
  await collector.flush();
  expect(memory.spans.map(({ properties }) => properties)).toEqual([
    { a: 1 },
    { a: 1, b: 'x', c: 2 },
    { a: 1, b: 'x', c: 2 },
  ]);
  expect(memory.find('full')?.droppedProperties).toContain(1);
});

test('a span that is ended for good keeps nothing of what its record has', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root', undefined, { properties: { a: 1 } }).addEvent('e');
  span.endForGood();
  span.endForGood();
  await collector.flush();
  expect(memory.spans.map(({ properties, events }) => [properties, events.length])).toEqual([[{ a: 1 }, 1]]);
  expect([span.propertyList, span.details]).toEqual([null, null]);
});

test('any thrown value can be recorded', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const evil = {
    get message() {
      throw new Error('getter');
    },
  };
  const values = [new RangeError('r'), 'text', 7, null, undefined, {}, evil, Symbol('s'), Object.create(null)];
  for (const value of values) span.recordException(value);
  span.recordException(new Error('with'), { 'exception.escaped': true });
  span.end();
  await collector.flush();
  const events = memory.spans[0].events.map((event) => event.properties);
  expect(events.length).toBe(values.length + 1);
  expect(events[0]).toMatchObject({ 'exception.type': 'RangeError', 'exception.message': 'r' });
  expect(events[0]['exception.stacktrace']).toContain('details.test.ts');
  expect(events[1]).toEqual({ 'exception.type': 'string', 'exception.message': 'text' });
  expect(events[9]).toMatchObject({ 'exception.message': 'with', 'exception.escaped': true });
  expect(memory.spans[0].status.code).toBe('unset');
});

test('bounds of properties, events and links', async () => {
  const { root, memory, collector } = recorder({ maxPropertiesPerSpan: 3, maxEventsPerSpan: 2, maxLinksPerSpan: 1 });
  const other = root('other');
  const span = root('root');
  const changes = await counted(() => {
    for (let i = 0; i < 5; i++) span.addProperty(`p${i}`, i).addEvent(`e${i}`).addLink(other);
  });
  expect(changes).toEqual({ propertiesOverCap: 2, eventsOverCap: 3, linksOverCap: 4 });
  span.end();
  await collector.flush();
  const [record] = memory.spans;
  expect([record.propertyList?.length, record.events.length, record.links.length]).toEqual([6, 2, 1]);
});

test('elapsed grows while open and stands still after the end, equal to the duration', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const first = span.elapsed();
  const second = span.elapsed();
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThanOrEqual(first);
  span.end();
  expect(span.elapsed()).toBe(span.elapsed());
  await collector.flush();
  expect(Math.abs(memory.spans[0].durationNs - span.elapsed())).toBeLessThanOrEqual(1 + span.elapsed() * 1e-4);
});

test('using ends a span, and runToEnd ends it with the outcome', async () => {
  const { root, memory, collector } = recorder();
  {
    using span = root('root');
    expect(Span.start('ok', span).runToEnd(() => 5)).toBe(5);
    expect(() =>
      Span.start('throws', span).runToEnd(() => {
        throw new TypeError('t');
      }),
    ).toThrow('t');
    await expect(
      Span.start('rejects', span).runToEnd(async () => {
        throw new TypeError('u');
      }),
    ).rejects.toThrow('u');
  }
  await collector.flush();
  expect(memory.tree()).toBe('root\n  ok\n  throws\n  rejects');
  expect(memory.find('ok')?.status.code).toBe('unset');
  expect(memory.find('throws')?.status).toEqual({ code: 'error', message: 't' });
  expect(memory.find('rejects')?.status).toEqual({ code: 'error', message: 'u' });
  expect(memory.find('rejects')?.events[0].name).toBe('exception');
});

test('what no type would let through does not reach a reporter', async () => {
  const { root, memory, collector } = recorder();
  const changes = await counted(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
    const span = root('root', undefined, { kind: 'bogus' as any }) as any;
    const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
    span
      .addLink({})
      .addLink({ traceId: 5, spanId: 6 })
      .addLink({ traceId, spanId: '0'.repeat(16) });
    span.addLink({ traceId, spanId, traceState: 7, properties: { ok: 1, bad: {} } });
    Span.start('code', span)
      .setStatus('bogus' as 'ok')
      .end();
    Span.start('message', span)
      .setStatus('error', 5 as unknown as string)
      .end();
    span.end();
    await collector.flush();
    expect(memory.find('root')).toMatchObject({
      kind: 'internal',
      links: [{ traceId, spanId, properties: { ok: 1 } }],
    });
  });
  expect(changes).toEqual({ tracesStarted: 1, linksInvalid: 3, propertiesInvalid: 1, argumentsInvalid: 3 });
  expect(memory.find('code')?.status).toEqual({ code: 'unset' });
  expect(memory.find('message')?.status).toEqual({ code: 'error' });
});
