// The bytes of a frame are those that docs/formats.md states: a text that comes again is written once, an end is where it was, the collector's spans
// are written as archived ones are, and what is not a span is refused whole, with its reason.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { ObjectView } from '../../../../src/record/object-view.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { sectionReader } from '../../../graph/src/container/layout.js';
import { SpanRows } from '../../src/rows/span-rows.js';
import { writeResource, writeScope } from '../../src/segment/span-tables.js';
import { writeText } from '../../src/values/values.js';
import { readRows } from '../../src/wal/read-spans.js';
import { ALL_BITS, Has } from '../../src/wal/span-form.js';
import { beginFrame, endFrame, HEAD_BYTES, readFrames, WAL_MAGIC } from '../../src/wal/wal-frames.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { newDirectory } from '../archive/support/directory.js';
import { anyTakenSpans } from '../segment/support/arbitrary-spans.js';
import { span, spanIdOf, traceIdOf } from '../segment/support/segments.js';
import { readWal } from '../support/read-wal.js';

const newWriter = (): WalWriter => new WalWriter(join(newDirectory(), 'a.log'));

const bytesOf = (...spans: readonly ArchivedSpan[]): number => {
  const writer = newWriter();
  writer.append(spans);
  writer.close();
  expect(readWal(writer.path).spans).toEqual(spans);
  return writer.bytes;
};

// A text of so many characters has two bytes of length.
test.each([
  [256, 256 + 1],
  [257, 2 * (2 + 257) - 1],
])('a text of %i characters in two spans takes %i bytes more than an empty one', (length, more) => {
  const named = (name: string): ArchivedSpan[] => [1, 2].map((n) => span({ spanId: spanIdOf(n), name }));
  const [empty, long] = ['', 'x'.repeat(length)].map((name) => bytesOf(...named(name)));
  expect(long - empty).toBe(more);
});

test('what the collector gives is written as archived spans are', () => {
  fc.assert(
    fc.property(anyTakenSpans, (spans) => {
      const [archived, finished] = [newWriter(), newWriter()];
      for (const one of spans) archived.append([one]);
      const view = new ObjectView();
      for (let next = 0; next < spans.length; )
        next = finished.appendFinished(
          (i) => view.of(spans[i]),
          next,
          spans.length,
          () => true,
        ).next;
      for (const writer of [archived, finished]) writer.close();
      expect(readWal(finished.path).spans).toEqual(readWal(archived.path).spans);
      expect(finished.frames.map(({ facts }) => facts)).toEqual(archived.frames.map(({ facts }) => facts));
    }),
    { numRuns: samples(10, 60, 2000) },
  );
});

test.each([
  ['the id of a trace', 'as long as a trace lasts', 3],
  ['a long time', 'of 2^53 ns', 1],
])('%s is written %s', (_, __, count) => {
  const startUnixNs = 1n;
  const spans = Array.from({ length: count }, (_one, n) =>
    span({ spanId: spanIdOf(n + 1), startUnixNs, endUnixNs: startUnixNs + 2n ** 53n - BigInt(n % 2) }),
  );
  const [archived, finished] = [newWriter(), newWriter()];
  archived.append(spans);
  const views = spans.map((one) => new ObjectView().of(one));
  finished.appendFinished(
    (i) => views[i],
    0,
    count,
    () => false,
  );
  for (const writer of [archived, finished]) {
    writer.close();
    expect(writer.frames.map(({ facts }) => [...facts.traceWords])).toEqual([[0x89abcdef]]);
    expect(readWal(writer.path).spans).toEqual(spans);
  }
  expect(finished.bytes).toBe(archived.bytes);
});

test.each([
  [
    'a span whose ids are none',
    { spanId: '' },
    '0123456789abcdef0123456789abcdef,  are not the ids of a trace and a span',
  ],
  [
    'a span with a link to nothing',
    { links: [{ traceId: traceIdOf(1), spanId: '', traceState: '', properties: {} }] },
    `${traceIdOf(1)},  are not the ids of a link`,
  ],
  [
    'a span that ends before it starts',
    { endUnixNs: 1n },
    'span 00000000000000aa of trace 0123456789abcdef0123456789abcdef ends before it starts',
  ],
])('%s is left out, and the reason names it', (_, changes, message) => {
  const writer = newWriter();
  const bad = new ObjectView().of(span(changes as Partial<ArchivedSpan>));
  const { invalid } = writer.appendFinished(
    () => bad,
    0,
    1,
    () => false,
  );
  expect(invalid?.message).toBe(message);
  expect(writer.bytes).toBe(WAL_MAGIC.length);
  writer.close();
});

/** A span by hand, as docs/formats.md has it. */
interface Form {
  readonly bits?: number;
  readonly kindAndStatus?: number;
  readonly start?: bigint;
  readonly duration?: number;
  readonly resource?: number;
}

const writeSpan = (
  writer: ByteWriter,
  { bits = Has.newTrace, kindAndStatus = 0, start = 5n, duration = 1, resource = 0 }: Form,
) => {
  writer.byte(bits);
  writer.byte(kindAndStatus);
  if (bits & Has.newTrace) for (let i = 1; i <= 4; i++) writer.uint32(i);
  for (let i = 1; i <= 2; i++) writer.uint32(i);
  writer.uint32(Number(start & 0xffff_ffffn));
  writer.uint32(Number(start >> 32n));
  writer.varint(duration);
  for (const [number, write] of [
    [resource, () => writeResource(writer, { properties: {} })],
    [0, () => writeScope(writer, { name: '', version: '', properties: {} })],
  ] as const) {
    writer.varint(number);
    if (writer.length < 60) write();
  }
  writer.varint(1);
  writeText(writer, 'work');
};

const read = (...forms: readonly Form[]): SpanRows => {
  const writer = new ByteWriter();
  for (const form of forms) writeSpan(writer, form);
  const rows = SpanRows.of([span()]);
  try {
    readRows(sectionReader(writer.view(), 'a batch', 'wal'), rows);
  } finally {
    // All spans of a batch or none.
    expect([1, 1 + forms.length]).toContain(rows.count);
  }
  return rows;
};

test.each([
  [5n, 1],
  [0xffff_ffffn, 1],
  [0xffff_fffen, 1],
  [5n, 2 ** 40 + 1],
  [0xffff_ffff_0000_0000n, 0xffff_ffff],
])('a span from %d on that lasts %d ns ends then', (start, duration) => {
  const [, one] = read({ start, duration }).spans();
  expect(one).toMatchObject({ name: 'work', startUnixNs: start, endUnixNs: start + BigInt(duration) });
});

test.each<[string, Form]>([
  ['has a span of unknown form', { bits: ALL_BITS + 1 }],
  ['has a span of unknown kind', { kindAndStatus: 255 }],
  ['has a span of no trace', { bits: 0 }],
  ['has a span that ends at no time', { start: 0xffff_ffff_ffff_ffffn, duration: 1 }],
  ['names something it does not have', { resource: 7 }],
])('a batch that %s is damage, and none of it is a span', (reason, form) => {
  expect(() => read(form)).toThrow(`a batch ${reason}`);
  if (form.bits !== 0) expect(() => read({}, form)).toThrow('a batch ');
  // The checksum is right, the bytes are not.
  const writer = new ByteWriter();
  beginFrame(writer);
  writeSpan(writer, form);
  const frame = Buffer.from(endFrame(writer));
  const rows = new SpanRows();
  expect(readFrames(frame, 0, 'a file', rows)).toEqual({
    end: 0,
    tornBytes: 0,
    damagedBytes: frame.length,
    damagedAt: 0,
  });
  expect(rows.count).toBe(0);
});

test('a length that is not the one of its bytes is damage; the head of a frame alone is one that is being written', () => {
  const writer = newWriter();
  writer.append([span()]);
  const frame = Buffer.from(writer.frames[0].bytes);
  writer.close();
  const extentOf = (bytes: Buffer) => readFrames(bytes, 0, 'a file', new SpanRows());
  expect(extentOf(frame.subarray(0, HEAD_BYTES))).toMatchObject({ tornBytes: HEAD_BYTES, damagedBytes: 0 });
  expect(extentOf(Buffer.concat([frame, Buffer.from('xyz')]))).toMatchObject({ tornBytes: 0, damagedBytes: 3 });
  frame.writeUInt32LE(frame.readUInt32LE(4) + 1, 4);
  expect(extentOf(frame)).toMatchObject({ tornBytes: 0, damagedBytes: frame.length });
  const path = join(newDirectory(), 'a.log');
  writeFileSync(path, Buffer.concat([WAL_MAGIC, frame]));
  expect(readWal(path)).toMatchObject({ spans: [], tornBytes: 0, damagedBytes: frame.length, damagedAt: 8 });
});
