// Whatever is asked, every transport gives the same bytes, and counts exactly what it fetched.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from '../../../../../test/support/fast-check.js';
import { samples } from '../../../../../test/support/samples.js';
import { AbortedError, BadOptionsError, ClosedError, TruncatedError } from '../../../src/container/graph-error.js';
import { BufferTransport, FileTransport } from '../../../src/container/transport/file-transport.js';
import { HttpTransport } from '../../../src/container/transport/http-transport.js';
import {
  type ByteRange,
  mergeRanges,
  type SyncTransport,
  type Transport,
} from '../../../src/container/transport/transport.js';
import { failureOf, thrownBy } from '../support/errors.js';
import { type RangeServer, startRangeServer } from '../support/range-server.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const SIZE = 200_000;
const BEFORE = 777;
const GAP = 500;
const file = Buffer.from(Array.from({ length: SIZE }, (_, i) => (i * 2_654_435_761) >>> 24));
const path = join(temporaryDirectory(), 'some.graph');
const inside = join(temporaryDirectory(), 'bigger.bin');

let server: RangeServer;
beforeAll(async () => {
  server = await startRangeServer(file);
  writeFileSync(path, file);
  writeFileSync(inside, Buffer.concat([Buffer.alloc(BEFORE, 1), file, Buffer.alloc(99, 2)]));
});
afterAll(() => server.close());

const KINDS: Readonly<Record<string, () => Promise<Transport>>> = {
  buffer: async () => new BufferTransport(file, { gapBytes: GAP }),
  file: () => FileTransport.open(path, { gapBytes: GAP }),
  'file inside a bigger one': () => FileTransport.open(inside, { offset: BEFORE, length: SIZE, gapBytes: GAP }),
  http: async () => new HttpTransport(server.url, { gapBytes: GAP }),
};

const range = fc
  .record({ offset: fc.nat(SIZE), length: fc.oneof(fc.nat(300), fc.nat(20_000)) })
  .map(({ offset, length }) => ({ offset, length: Math.min(length, SIZE - offset) }));
const batch = fc.array(range, { maxLength: 20 });

const slices = (ranges: readonly ByteRange[]): Buffer[] =>
  ranges.map(({ offset, length }) => file.subarray(offset, offset + length));

const fetched = (ranges: readonly ByteRange[]) => {
  const merged = mergeRanges(ranges, GAP);
  return {
    requests: merged.length,
    ranges: ranges.length,
    bytes: merged.reduce((sum, { length }) => sum + length, 0),
  };
};

describe.each(Object.entries(KINDS))('%s', (_, open) => {
  test('gives the bytes of any batch of ranges, and counts them', async () => {
    await fc.assert(
      fc.asyncProperty(batch, async (ranges) => {
        const transport = await open();
        const bytes = await transport.readRanges(ranges);
        const stats = transport.stats();
        await transport.close();
        expect(Buffer.concat(bytes).equals(Buffer.concat(slices(ranges)))).toBe(true);
        expect(stats).toEqual(fetched(ranges));
      }),
      { numRuns: samples(20, 60, 600) },
    );
  });

  test('gives the tail and the size in one request', async () => {
    for (const length of [1, 1_000, SIZE, SIZE + 1, 10 * SIZE]) {
      const transport = await open();
      const tail = await transport.readTail(length);
      expect(tail.size).toBe(SIZE);
      expect(tail.offset).toBe(Math.max(0, SIZE - length));
      expect(tail.bytes.equals(file.subarray(tail.offset))).toBe(true);
      expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: Math.min(SIZE, length) });
      await transport.close();
    }
  });

  test('gives the size with a tail of no bytes', async () => {
    const transport = await open();
    expect(await transport.readTail(0)).toEqual({ bytes: Buffer.alloc(0), offset: SIZE, size: SIZE });
    await transport.close();
  });

  test('refuses ranges that are none, and those behind the end', async () => {
    const transport = await open();
    for (const [offset, length] of [
      [-1, 1],
      [0, -1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
      [Number.MAX_SAFE_INTEGER, 2],
    ]) {
      expect(await failureOf(transport.readRanges([{ offset, length }]))).toBeInstanceOf(BadOptionsError);
    }
    expect(await failureOf(transport.readTail(-1))).toBeInstanceOf(BadOptionsError);
    const cut = await failureOf(transport.readRanges([{ offset: SIZE - 5, length: 9 }]));
    expect(cut).toBeInstanceOf(TruncatedError);
    expect(cut).toMatchObject({ expected: SIZE + 4, actual: SIZE });
    await transport.close();
  });

  test('does nothing for a signal that fired, and after it was closed', async () => {
    const transport = await open();
    const signal = AbortSignal.abort(new Error('not now'));
    const aborted = await failureOf(transport.readRanges([{ offset: 0, length: 1 }], { signal }));
    expect(aborted).toBeInstanceOf(AbortedError);
    expect((aborted.cause as Error).message).toBe('not now');
    expect(await failureOf(transport.readTail(1, { signal }))).toBeInstanceOf(AbortedError);
    await transport.close();
    await transport.close();
    expect(await failureOf(transport.readRanges([{ offset: 0, length: 1 }]))).toBeInstanceOf(ClosedError);
    expect(await failureOf(transport.readTail(1))).toBeInstanceOf(ClosedError);
    expect(transport.stats().requests).toBe(0);
  });
});

const SYNC_KINDS: Readonly<Record<string, () => SyncTransport>> = {
  buffer: () => new BufferTransport(file, { gapBytes: GAP }),
  file: () => FileTransport.openSync(path, { gapBytes: GAP }),
  'file inside a bigger one': () => FileTransport.openSync(inside, { offset: BEFORE, length: SIZE, gapBytes: GAP }),
};

describe.each(Object.entries(SYNC_KINDS))('%s, at once', (_, open) => {
  test('gives and counts the same', async () => {
    const transport = open();
    fc.assert(
      fc.property(batch, (ranges) => {
        const before = transport.stats();
        const bytes = transport.readRangesSync(ranges);
        const after = transport.stats();
        expect(Buffer.concat(bytes).equals(Buffer.concat(slices(ranges)))).toBe(true);
        expect({
          requests: after.requests - before.requests,
          ranges: after.ranges - before.ranges,
          bytes: after.bytes - before.bytes,
        }).toEqual(fetched(ranges));
      }),
    );
    const tail = transport.readTailSync(4_321);
    expect({ ...tail, bytes: tail.bytes.equals(file.subarray(-4_321)) }).toEqual({
      bytes: true,
      offset: SIZE - 4_321,
      size: SIZE,
    });
    await transport.close();
    expect(thrownBy(() => transport.readTailSync(1))).toBeInstanceOf(ClosedError);
    expect(thrownBy(() => transport.readRangesSync([]))).toBeInstanceOf(ClosedError);
  });
});
