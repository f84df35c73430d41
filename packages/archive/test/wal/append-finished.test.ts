// Spans of a report go on behind the last one that was looked at: when the time is over none is skipped, and one that cannot be kept is not met again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ObjectView } from '../../../../src/record/object-view.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { newDirectory } from '../archive/support/directory.js';
import { span, spanIdOf, traceIdOf } from '../segment/support/segments.js';
import { readWal } from '../support/read-wal.js';

const spans = Array.from({ length: 5 }, (_, n) => span({ spanId: spanIdOf(n + 1), name: `span ${n}` }));
const finished = spans.map((one) => new ObjectView().of(one));

const newWriter = (): WalWriter => new WalWriter(join(newDirectory(), 'a.log'));
const names = (writer: WalWriter): string[] => readWal(writer.path).spans.map(({ name }) => name);

test('when the time is over, the next span is the one behind the last that was taken', () => {
  const writer = newWriter();
  const over = (): boolean => true;
  const first = writer.appendFinished((i) => finished[i], 0, 5, over);
  expect(first).toEqual({ next: 1, taken: 1 });
  expect(writer.appendFinished((i) => finished[i], first.next, 5, over)).toEqual({ next: 2, taken: 1 });
  writer.close();
  expect(names(writer)).toEqual(['span 0', 'span 1']);
});

test('a span that cannot be kept is left out, named, and the one behind it is next', () => {
  const writer = newWriter();
  const bad = new ObjectView().of({ ...spans[2], endUnixNs: spans[2].startUnixNs - 1n });
  const spanAt = (i: number): ObjectView => (i === 2 ? bad : finished[i]);
  const { invalid, ...first } = writer.appendFinished(spanAt, 0, 5, () => false);
  expect(first).toEqual({ next: 3, taken: 2 });
  expect(invalid?.message).toContain('ends before it starts');
  expect(writer.appendFinished(spanAt, first.next, 5, () => false)).toEqual({ next: 5, taken: 2 });
  writer.close();
  expect(names(writer)).toEqual(['span 0', 'span 1', 'span 3', 'span 4']);
});

test('nothing is said of a span that cannot be kept', () => {
  const [writer, without] = [newWriter(), newWriter()];
  const badLink = { traceId: '', spanId: '', traceState: '', properties: {} };
  const bad = { ...spans[1], traceId: traceIdOf(99), name: 'bad', endUnixNs: 2n ** 63n, links: [badLink] };
  const views = [spans[0], bad].map((one) => new ObjectView().of(one));
  expect(
    writer.appendFinished(
      (i) => views[i],
      0,
      2,
      () => false,
    ),
  ).toMatchObject({ next: 2, taken: 1 });
  without.append([spans[0]]);
  for (const one of [writer, without]) one.close();
  expect(writer.frames).toEqual(without.frames);
});

test('where the first span cannot be kept, nothing is written', () => {
  const writer = newWriter();
  const before = readFileSync(writer.path);
  const bad = new ObjectView().of({ ...spans[0], endUnixNs: spans[0].startUnixNs - 1n });
  expect(
    writer.appendFinished(
      () => bad,
      0,
      5,
      () => false,
    ),
  ).toMatchObject({ next: 1, taken: 0 });
  writer.close();
  expect(readFileSync(writer.path)).toEqual(before);
  expect(writer).toMatchObject({ spans: 0, frames: [] });
});
