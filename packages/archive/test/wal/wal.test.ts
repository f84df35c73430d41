// What a write-ahead file took comes back as it was, however the file was cut or damaged: whole batches, or nothing of one.
import { appendFileSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { ObjectView } from '../../../../src/record/object-view.js';
import fc from '../../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import { BadKeyError, BadValueError, LimitError } from '../../../graph/src/container/graph-error.js';
import { thrownBy } from '../../../graph/test/container/support/errors.js';
import { WalTail } from '../../src/wal/wal-frames.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { newDirectory } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { anyTakenSpans } from '../segment/support/arbitrary-spans.js';
import { segmentBytes, span, spanIdOf } from '../segment/support/segments.js';
import { readWal } from '../support/read-wal.js';

/** A file of batches and where each ends. */
const writeBatches = (path: string, batches: readonly (readonly ArchivedSpan[])[]): number[] => {
  const writer = new WalWriter(path);
  const ends = batches.map((batch) => {
    writer.append(batch);
    return writer.bytes;
  });
  writer.close();
  return ends;
};

test('any spans', () => {
  const directory = newDirectory();
  let n = 0;
  fc.assert(
    fc.property(fc.array(anyTakenSpans, { maxLength: 4 }), (batches) => {
      const path = join(directory, `wal-${n++}.log`);
      writeBatches(path, batches);
      const { spans, tornBytes } = readWal(path);
      expect(isDeepStrictEqual(spans, batches.flat())).toBe(true);
      expect(tornBytes).toBe(0);
    }),
    { numRuns: samples(15, 60, 2000) },
  );
});

test('cut anywhere, the whole batches are there', () => {
  const path = join(newDirectory(), 'a.log');
  const batches = Array.from({ length: 6 }, (_, n) => numberedTrace(n));
  const ends = writeBatches(path, batches);
  const whole = readFileSync(path);
  // The first places, which have rules of their own, and those between batches are in every sample.
  const edges = [0, 7, 8, 9, ...ends.flatMap((end) => [end - 1, end, end + 1])];
  const lengths = Array.from({ length: whole.length + 1 }, (_, length) => length);
  for (const length of [...edges, ...sampleOf(lengths, 150, 1000)].filter((one) => one <= whole.length)) {
    writeFileSync(path, whole.subarray(0, length));
    const { spans, tornBytes, damagedBytes } = readWal(path);
    expect(damagedBytes).toBe(0);
    const left = ends.filter((end) => end <= length).length;
    expect(spans).toEqual(batches.slice(0, left).flat());
    expect(tornBytes).toBe(length < 8 ? 0 : length - (ends[left - 1] ?? 8));
  }
});

test('damaged anywhere, the other batches are there and nothing is made up', () => {
  const path = join(newDirectory(), 'a.log');
  const batches = Array.from({ length: 6 }, (_, n) => numberedTrace(n));
  const ends = writeBatches(path, batches);
  const bytes = readFileSync(path);
  const place = fc.oneof(
    { weight: 1, arbitrary: fc.nat(7) },
    { weight: 9, arbitrary: fc.noBias(fc.nat(bytes.length - 1)) },
  );
  fc.assert(
    fc.property(place, fc.nat(7), (at, bit) => {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << bit;
      writeFileSync(path, damaged);
      const hit = at < 8 ? -1 : ends.findIndex((end) => at < end);
      const left = batches.filter((_, n) => n !== hit).flat();
      const read = readWal(path);
      expect(read.spans).toEqual(left);
      expect(read).toMatchObject({
        tornBytes: 0,
        damagedBytes: hit < 0 ? 8 : ends[hit] - (ends[hit - 1] ?? 8),
        damagedAt: hit < 0 ? 0 : (ends[hit - 1] ?? 8),
      });
      const tail = new WalTail();
      expect(tail.read(path)).toEqual(left);
      expect(tail.damage).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CORRUPT', message: expect.stringContaining(path) });
    }),
    { numRuns: samples(100, 800, 20_000) },
  );
});

test('damage at the end of a file that is still written: what comes behind is read, what is written over it is not damage any more', () => {
  const path = join(newDirectory(), 'a.log');
  const ends = writeBatches(path, [numberedTrace(0), numberedTrace(1), numberedTrace(2)]);
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  damaged[ends[1] - 3] ^= 4;
  for (const [behind, expected] of [
    [damaged, [2]],
    [whole, [1, 2]],
  ] as const) {
    writeFileSync(path, damaged.subarray(0, ends[1]));
    const tail = new WalTail();
    expect(tail.read(path)).toEqual(numberedTrace(0));
    expect(tail.damage?.message).toContain(`${ends[1] - ends[0]} bytes`);
    writeFileSync(path, behind);
    expect(tail.read(path)).toEqual(expected.flatMap((n) => numberedTrace(n)));
    expect(tail.damage === undefined).toBe(behind === whole);
  }
});

test('zeros at the end, as a power failure leaves them, are not damage', () => {
  const path = join(newDirectory(), 'a.log');
  writeBatches(path, [numberedTrace(0)]);
  appendFileSync(path, Buffer.alloc(4096));
  expect(readWal(path)).toMatchObject({ spans: numberedTrace(0), tornBytes: 4096, damagedBytes: 0 });
});

test('a file of something else', () => {
  const path = join(newDirectory(), 'a.log');
  writeFileSync(path, 'no write-ahead file at all');
  expect(readWal(path)).toEqual({ spans: [], end: 0, tornBytes: 0, damagedBytes: 26, damagedAt: 0 });
});

test('a file that cannot be read or made is named, with the reason', () => {
  const path = join(newDirectory(), 'a.log');
  for (const read of [readWal, (none: string) => new WalTail().read(none)]) {
    const error = thrownBy(() => read(path));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_TRANSPORT', cause: { code: 'ENOENT' } });
    expect(error.message).toMatch(`${path} cannot be read: ENOENT`);
  }
  writeFileSync(path, '');
  expect(thrownBy(() => new WalWriter(path)).message).toMatch(`${path} cannot be made: EEXIST`);
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a file that has not its first bytes yet is followed from its beginning', () => {
  const path = join(newDirectory(), 'a.log');
  writeBatches(path, [numberedTrace(0)]);
  const whole = readFileSync(path);
  const tail = new WalTail();
  for (const length of [5, 8]) {
    writeFileSync(path, whole.subarray(0, length));
    expect(tail.read(path)).toEqual([]);
    expect(tail).toMatchObject({ tornBytes: length % 8, damage: undefined });
  }
  writeFileSync(path, whole);
  expect(tail.read(path)).toEqual(numberedTrace(0));
  expect(tail).toMatchObject({ tornBytes: 0, damage: undefined });
});

test('damage that is passed while a file is followed is counted from the beginning of the file, once', () => {
  const path = join(newDirectory(), 'a.log');
  const ends = writeBatches(
    path,
    [0, 1, 2, 3].map((n) => numberedTrace(n)),
  );
  const bytes = readFileSync(path);
  bytes[ends[1] - 3] ^= 4;
  const tail = new WalTail();
  for (const [end, expected] of [
    [ends[0], [0]],
    [ends[2], [2]],
    [ends[3], [3]],
  ] as const) {
    writeFileSync(path, bytes.subarray(0, end));
    expect(tail.read(path)).toEqual(expected.flatMap((n) => numberedTrace(n)));
    if (end === ends[0]) expect(tail.damage).toBeUndefined();
    else
      expect(tail.damage?.message).toContain(
        `${ends[1] - ends[0]} bytes of the write-ahead file ${path}, from byte ${ends[0]} on`,
      );
  }
});

test('frames end behind a MiB', () => {
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  const spans = Array.from({ length: 9 }, (_, i) => span({ spanId: spanIdOf(i + 1), name: 'y'.repeat(300_000) + i }));
  writer.append(spans);
  const views = spans.map((one) => new ObjectView().of(one));
  for (let next = 0; next < 9; )
    next = writer.appendFinished(
      (i) => views[i],
      next,
      9,
      () => false,
    ).next;
  writer.close();
  expect(writer.frames.map((one) => one.spans)).toEqual([4, 4, 1, 4, 4, 1]);
  expect(readWal(path).spans).toEqual([...spans, ...spans]);
});

test('a file is as old as the last time that its writer was alive', () => {
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  utimesSync(path, 1, 1);
  const before = Date.now();
  writer.touch();
  // Its clock has microseconds, a file system may have milliseconds.
  expect(statSync(path).mtimeMs).toBeGreaterThanOrEqual(before - 1);
  expect(statSync(path).mtimeMs).toBeLessThanOrEqual(Date.now() + 1);
  writer.close();
});

test('a file that is still written is followed', () => {
  const directory = newDirectory();
  const path = join(directory, 'a.log');
  const writer = new WalWriter(path);
  const tail = new WalTail();
  expect(tail.read(path)).toEqual([]);
  const seen: ArchivedSpan[] = [];
  for (let n = 0; n < 20; n++) {
    writer.append(numberedTrace(n));
    if (n % 3 === 0) seen.push(...tail.read(path));
  }
  // Half a batch is none yet.
  const whole = readFileSync(path);
  const other = join(directory, 'b.log');
  writeFileSync(other, whole.subarray(0, whole.length - 5));
  seen.push(...tail.read(other));
  expect(seen).toHaveLength(57);
  appendFileSync(other, whole.subarray(whole.length - 5));
  seen.push(...tail.read(other));
  expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => numberedTrace(n)).flat());
  writer.close();
});

test.each([
  ['an id in capitals', { traceId: 'A'.repeat(32) }, BadKeyError],
  ['a short span id', { spanId: '1' }, BadKeyError],
  ['a parent that is none', { parentSpanId: 'x' }, BadKeyError],
  ['a link to nothing', { links: [{ traceId: '', spanId: '', traceState: '', properties: {} }] }, BadKeyError],
  ['a time before 1970', { startUnixNs: -1n }, BadValueError],
  ['a time that is a number', { endUnixNs: 5 as unknown as bigint }, BadValueError],
  ['an unknown kind', { kind: 'odd' as 'server' }, BadValueError],
  ['an unknown status', { status: { code: 'odd' as 'ok', message: '' } }, BadValueError],
  ['undefined', { properties: { a: undefined as unknown as string } }, BadValueError],
  ['a huge text', { properties: { a: 'x'.repeat(40_000_000) } }, LimitError],
])('%s is refused with all its batch, as no segment could keep it', (_, changes, error) => {
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  writer.append(numberedTrace(1));
  const bad = span({ spanId: spanIdOf(7), ...changes });
  expect(thrownBy(() => segmentBytes([bad]))).toBeInstanceOf(error);
  // More than a frame before it.
  const large = Array.from({ length: 5 }, (_, i) => span({ spanId: spanIdOf(i + 1), name: 'y'.repeat(300_000) + i }));
  expect(thrownBy(() => writer.append([...large, bad]))).toBeInstanceOf(error);
  expect(statSync(path).size).toBe(writer.bytes);
  writer.append(numberedTrace(2));
  writer.close();
  expect(readWal(path)).toMatchObject({ spans: [...numberedTrace(1), ...numberedTrace(2)], tornBytes: 0 });
});

test('a file that was taken away is known to be lost', async () => {
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  writer.append(numberedTrace(1));
  await writer.sync();
  expect(writer.isLost).toBe(false);
  renameSync(path, `${path}.taken`);
  expect(writer.isLost).toBe(true);
  writer.close();
});
