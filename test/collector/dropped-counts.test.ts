// What bounds and checks leave out of a span is counted on the span itself, and everything that sends or keeps it says so.
import { expect, test } from 'vitest';
import { encodeOtlpJson } from '../../packages/archive/src/formats/encode.js';
import { ownResource } from '../../src/formats/library.js';
import { LocalSpan, type PropertyValue, SpanContext } from '../../src/index.js';
import { MAX_LOCAL_DETAILS } from '../../src/local-span/local-span.js';
import { archivedSpan } from '../support/archived-span.js';
import { recorder } from '../support/recorder.js';

const wrong = { no: 'value' } as unknown as PropertyValue;

test('a span: over its bounds, and what cannot be a property or a link', async () => {
  const { root, memory, collector } = recorder({ maxPropertiesPerSpan: 2, maxEventsPerSpan: 3, maxLinksPerSpan: 2 });
  const span = root('root');
  for (let i = 0; i < 5; i++) span.addProperty(`p${i}`, i === 0 ? wrong : i).addEvent(`e${i}`, { bad: wrong, good: 1 });
  span.addLink({ traceId: 'none', spanId: 'none' });
  for (let i = 0; i < 3; i++) span.addLink(root('other'), { bad: wrong });
  span.addLink(SpanContext.random());
  span.end();
  await collector.flush();
  const record = memory.find('root');
  expect(record).toMatchObject({ droppedAttributesCount: 4, droppedEventsCount: 2, droppedLinksCount: 4 });
  expect(record?.properties).toEqual({ p1: 1 });
  expect(record?.events.map((one) => one.droppedAttributesCount)).toEqual([1, 1, 1]);
  expect(record?.links.map((one) => one.droppedAttributesCount)).toEqual([1]);
  expect(record?.withProperties({ more: 1 })).toMatchObject({ droppedAttributesCount: 4, droppedLinksCount: 4 });
});

test('a local span, over its bound; others are whole', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  span.run(() => {
    const many = LocalSpan.start('many');
    for (let i = 0; i < MAX_LOCAL_DETAILS; i++) many.addProperty('k', i).addEvent('e');
    LocalSpan.start('last').addProperty('k', 1).addEvent('e').end();
    for (let i = 0; i < 5; i++) many.addProperty('k', i).addEvent('e');
    many.end();
  });
  span.run(() => LocalSpan.start('next').addProperty('k', 1).addProperty('bad', wrong).end());
  span.end();
  await collector.flush();
  expect(memory.find('many')).toMatchObject({ droppedAttributesCount: 5, droppedEventsCount: 5 });
  expect(memory.find('last')).toMatchObject({ droppedAttributesCount: 0, droppedEventsCount: 0 });
  expect(memory.find('next')).toMatchObject({ droppedAttributesCount: 1, droppedEventsCount: 0 });
});

test('the archive keeps the counts, and they are fields of OTLP again', async () => {
  const { root, memory, collector } = recorder({ maxPropertiesPerSpan: 1, maxSpansPerTrace: 1 });
  const span = root('root');
  span.addProperty('a', 1).addProperty('b', 2).addEvent('e', { bad: wrong }).addLink(root('other'), { bad: wrong });
  span.run(() => {
    LocalSpan.start('kept').end();
    LocalSpan.start('cut').end();
  });
  span.end();
  await collector.flush();
  const record = memory.find('root');
  const archived = archivedSpan(record!, ownResource({ serviceName: 's', attributes: {} }));
  expect(archived.properties).toEqual({ a: 1, 'spanline.dropped_spans': 1 });
  expect(archived.droppedAttributesCount).toBe(1);
  const [sent] = JSON.parse(encodeOtlpJson([archived])).resourceSpans[0].scopeSpans[0].spans;
  expect(sent.droppedAttributesCount).toBe(1);
  expect(sent.events[0].droppedAttributesCount).toBe(1);
  expect(sent.links[0].droppedAttributesCount).toBe(1);
  expect(sent.attributes).toEqual([
    { key: 'a', value: { intValue: '1' } },
    { key: 'spanline.dropped_spans', value: { intValue: '1' } },
  ]);
});
