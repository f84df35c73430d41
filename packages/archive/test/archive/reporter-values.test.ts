// What types forbid and a program gives all the same: a Date, a Map, an object of a class. The span is archived without it, and the span itself,
// like the counters, says that something was left out.
import { expect, test } from 'vitest';
import { Collector, LocalSpan, Span, stats } from '../../../../src/index.js';
import { ArchiveReporter } from '../../src/archive-reporter.js';
import { newDirectory, openArchive } from './support/directory.js';

class Point {
  x = 1;
}
const BAD: readonly (readonly [string, unknown])[] = [
  ['a Date', new Date(0)],
  ['a Map', new Map([['a', 1]])],
  ['an object of a class', new Point()],
  ['a plain object', { a: 1 }],
  ['bytes', Uint8Array.of(1)],
  ['null', null],
  ['a symbol', Symbol('x')],
  ['a list with a Date', [new Date(0)]],
];

test.each(BAD)('%s', async (_, bad) => {
  const value = bad as never;
  const archive = await openArchive(newDirectory());
  const reporter = new ArchiveReporter(archive);
  const collector = new Collector({ serviceName: 'shop' });
  collector.setReporter(reporter);
  const before = stats().propertiesInvalid;
  const root = Span.root('root', undefined, { collector, properties: { bad: value, good: 1 } });
  root.addProperty('worse', value);
  root.addEvent('event', { bad: value, good: 2 });
  root.addLink(Span.root('other', undefined, { collector }), { bad: value, good: 3 });
  root.run(() => LocalSpan.start('local').addProperty('bad', value).addProperty('good', 4).end());
  root.end();
  await collector.shutdown();
  const [summary] = await archive.search({ name: 'root' });
  const spans = await archive.trace(summary.traceId);
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(named('root')).toMatchObject({ properties: { good: 1 }, droppedAttributesCount: 2 });
  expect(named('root')?.events).toMatchObject([{ properties: { good: 2 }, droppedAttributesCount: 1 }]);
  expect(named('root')?.links).toMatchObject([{ properties: { good: 3 }, droppedAttributesCount: 1 }]);
  expect(named('local')).toMatchObject({ properties: { good: 4 }, droppedAttributesCount: 1 });
  for (const span of spans) expect(Object.keys(span.properties)).toEqual(['good']);
  expect(stats().propertiesInvalid - before).toBe(5);
  expect(reporter.stats()).toMatchObject({ invalidSpans: 0, archivedSpans: 2 });
});
