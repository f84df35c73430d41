// A batch of finished local spans: of too many those that started first are kept, which have the parents of all of them; and it takes memory for what
// it holds.
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan } from '../../src/index.js';
import { LocalBatch } from '../../src/local-span/local-collector.js';
import { internedName } from '../../src/rows/row-text.js';
import { useOwnNames } from '../support/names.js';
import { recorder } from '../support/recorder.js';

useOwnNames();

/** A batch of spans that end in this order: name, begin, id. */
const batchOf = (...spans: [name: string, begin: number, id: number][]): LocalBatch => {
  const batch = new LocalBatch();
  for (const [name, begin, idLo] of spans) {
    const span = { name, idHi: 1, idLo, begin, outer: null, propertyList: null, details: null };
    batch.add(span as unknown as LocalSpan, begin + 10);
  }
  return batch;
};
const firstOf = (batch: LocalBatch, n: number): string[] =>
  batch.first(n).map(({ chunk, row }) => internedName(chunk.names[row]));

test('the first are those that began first, although the counter of ids has begun anew between them', () => {
  expect(firstOf(batchOf(['late', 3, 1], ['middle', 2, 900], ['early', 1, 899]), 2)).toEqual(['early', 'middle']);
});

test('of those that began at one tick the outer one, which has the lower id, comes first', () => {
  expect(firstOf(batchOf(['innermost', 5, 12], ['inner', 5, 11], ['outer', 5, 10]), 2)).toEqual(['outer', 'inner']);
});

test('mounted where not all have a place, each that is there has its parent', async () => {
  const { root, tree } = recorder({ maxSpansPerTrace: 2 });
  const [, spans] = LocalCollector.run(() => {
    using _a = LocalSpan.start('a');
    using _b = LocalSpan.start('b');
    LocalSpan.start('c').end();
    LocalSpan.start('d').end();
  });
  root('root').pushChildSpans(spans).end();
  expect(await tree()).toBe('root\n  a\n    b');
});

test('a small collection takes little memory, and all of that is counted', () => {
  const [, spans] = LocalCollector.run(() => LocalSpan.start('a').end());
  const [batch] = spans.batches;
  const bytes = batch.chunks.reduce((sum, { byteSize }) => sum + byteSize, 0);
  expect(bytes).toBeLessThan(8 << 10);
  // With the objects, which are more than the rows of a small one.
  expect(batch.byteSize).toBeGreaterThan(bytes);
});
