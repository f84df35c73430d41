// Rows of the collector are written by the numbers that they have of names and texts. It must give the same bytes as writing the strings does, over
// several frames, and whatever comes again, in whatever chunk.
import { expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import { BatchSpans } from '../../../../src/exporters/batch-spans.js';
import { Collector, LocalSpan, type ReportBatch, Span } from '../../../../src/index.js';
import type { FinishedSpan } from '../../../../src/record/finished-span.js';
import { RowView } from '../../../../src/record/row-view.js';
import { SpanEncoder } from '../../src/wal/write-spans.js';

/** The same object, which nobody takes for a row. */
const disguised = <T extends object>(thing: T): T =>
  new Proxy(thing, {
    getPrototypeOf: () => Object.prototype,
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value === 'function')
        return (...given: unknown[]) => {
          const result = value.apply(target, given);
          return typeof result === 'object' && result !== null && 'properties' in result ? disguised(result) : result;
        };
      return name === 'properties' ? disguised(value as object) : value;
    },
  });

const encoded = (batch: ReportBatch, perFrame: number, view: (span: FinishedSpan) => FinishedSpan): Buffer => {
  const spans = new BatchSpans(batch);
  const writer = new ByteWriter();
  for (let first = 0; first < batch.spanCount; first += perFrame) {
    const encoder = new SpanEncoder(writer);
    for (let i = first; i < Math.min(batch.spanCount, first + perFrame); i++)
      encoder.addFinished(view(spans.viewAt(i)));
  }
  return writer.copy();
};

const VALUES = ['', 'a', 'b', 'select 1', 'ä', '\ud800', 'x'.repeat(256), 'x'.repeat(257), 'x'.repeat(70)];
const OTHERS = [0, -0, 1, -1, 127, 128, 2 ** 31, 2 ** 32, 2 ** 32 - 1, 2 ** 53, 0.5, Number.NaN, true, false, 7n];
const KEYS = ['key', 'other', '\0key', 'k'.repeat(256), 'k'.repeat(257), `\0${'k'.repeat(255)}`, 'ü', 'a'];

const record = (collector: Collector, round: number): void => {
  const root = Span.root(`root ${round % 3}`, undefined, { collector, kind: 'server' });
  root.run(() => {
    for (let i = 0; i < 40; i++) {
      const local = LocalSpan.start(i % 5 === 0 ? 'n'.repeat(300) : KEYS[i % KEYS.length]);
      const text = VALUES[(i + round) % VALUES.length];
      local.addProperty(KEYS[i % KEYS.length], i % 2 === 0 ? text : OTHERS[i % OTHERS.length]);
      local.addProperty('again', VALUES[round % VALUES.length]).addProperty('list', ['a', 'b', '']);
      if (i % 7 === 0) local.addEvent('event', { key: text, n: OTHERS[i % OTHERS.length] });
      local.end();
    }
  });
  root.setStatus('error', 'message').end();
};

test.each([1, 7, 10_000])('frames of %d spans', async (perFrame) => {
  let rows = 0;
  let spans = 0;
  const areSame: boolean[] = [];
  const collector = new Collector();
  collector.setReporter({
    name: 'both ways',
    report(batch) {
      const views = new BatchSpans(batch);
      for (let i = 0; i < batch.spanCount; i++) if (views.viewAt(i) instanceof RowView) rows++;
      spans += batch.spanCount;
      const byNumbers = encoded(batch, perFrame, (span) => span);
      // What was remembered of the frames before is of no use to those behind.
      const again = encoded(batch, perFrame, (span) => span);
      areSame.push(byNumbers.equals(encoded(batch, perFrame, disguised)), byNumbers.equals(again));
    },
  });
  for (let round = 0; round < 60; round++) record(collector, round);
  await collector.shutdown();
  expect(spans).toBe(60 * 41);
  expect(rows).toBe(spans);
  expect(new Set(areSame)).toEqual(new Set([true]));
});
