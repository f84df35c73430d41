// A name that is not a string may run code of the program when it is turned into one. That code may end spans, report and cancel.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span, toRecords } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const nameThat = (run: () => void, text: string): string =>
  ({
    toString: () => {
      run();
      return text;
    },
  }) as unknown as string;

test('a name that ends other spans, also as the name of an event', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const inner = Span.start('inner', span).addProperty('of', 'inner');
  const early = Span.start('early', span).addProperty('of', 'early');
  const outer = Span.start(
    nameThat(() => inner.end(), 'outer'),
    span,
  ).addProperty('of', 'outer');
  outer.addEvent(
    nameThat(() => early.end(), 'event'),
    { of: 'event' },
  );
  outer.end();
  span.end();
  await collector.flush();
  const found = memory.spans.map(({ name, propertyList }) => [name, propertyList?.[1]]);
  expect(found.sort()).toEqual([
    ['early', 'early'],
    ['inner', 'inner'],
    ['outer', 'outer'],
    ['root', undefined],
  ]);
  expect(memory.spans.find(({ name }) => name === 'outer')?.events.map(({ name }) => name)).toEqual(['event']);
});

test('a name that reports, and one that cancels its trace', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  Span.start('first', span).end();
  Span.start(
    nameThat(() => void collector.flush(), 'flushes'),
    span,
  ).end();
  span.end();
  const cancelled = root('cancelled');
  Span.start(
    nameThat(() => cancelled.cancel(), 'cancels'),
    cancelled,
  ).end();
  cancelled.end();
  const throwing = root('throwing');
  Span.start(
    nameThat(() => {
      throw new Error('no name');
    }, ''),
    throwing,
  ).end();
  throwing.end();
  await collector.flush();
  expect(memory.spans.map(({ name }) => name).sort()).toEqual(['', 'first', 'flushes', 'root', 'throwing']);
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyBytes: 0 });
});

test('names of collected local spans', () => {
  const [, spans] = LocalCollector.run(() => {
    const outer = LocalSpan.start(nameThat(() => LocalSpan.start('inner').addProperty('of', 'inner').end(), 'outer'));
    outer.addProperty('of', 'outer').end();
  });
  const found = toRecords(spans).map(({ name, propertyList }) => [name, propertyList?.[1]]);
  expect(found.sort()).toEqual([
    ['inner', 'inner'],
    ['outer', 'outer'],
  ]);
});
