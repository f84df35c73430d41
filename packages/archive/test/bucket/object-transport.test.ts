// Ranges of an object, as a client brings them: an empty one is a damaged upload, not a store that fails, bytes of two versions are never mixed, and what was
// read is not asked for again while it is kept.
import { expect, test } from 'vitest';
import { KeptStretches, STRETCH_BYTES } from '../../src/bucket/kept-stretches.js';
import { ObjectTransport } from '../../src/bucket/object-transport.js';
import type { S3Client } from '../../src/bucket/s3-client.js';
import { Segment } from '../../src/segment/segment.js';

const transportOf = (ask: unknown, etag: string, size: number, kept = new KeptStretches(1000)): ObjectTransport =>
  new ObjectTransport({ ask } as unknown as S3Client, asked, { size, etag }, kept);

const asked = { url: 'http://127.0.0.1:1/b/k', name: 's3://b/k', deed: { what: 'reading', right: 's3:GetObject' } };

test.each([
  ['all of it', 200, {}, 90],
  ['a range', 206, { 'content-range': 'bytes 0-9/90' }, 10],
])(
  'one of another size is another, also where a store names no versions and sends %s',
  async (_, status, headers, bytes) => {
    const ask = async () => ({ status, headers, bytes: Buffer.alloc(bytes) });
    const transport = transportOf(ask, '', 100);
    const changed = { code: 'ERR_SPANLINE_GRAPH_CHANGED' };
    await expect(transport.readRanges([{ offset: 0, length: 10 }])).rejects.toMatchObject(changed);
    await expect(transport.readTail(10)).rejects.toMatchObject(changed);
  },
);

test('one that is listed as empty is cut off', async () => {
  const ask = async (): Promise<never> => {
    throw new Error('asked for a range');
  };
  const transport = transportOf(ask, '"e"', 0);
  await expect(Segment.open(transport)).rejects.toMatchObject({ code: 'ERR_SPANLINE_GRAPH_TRUNCATED' });
});

/** A client of an object of 1,000 bytes, and the ranges that it was asked for. */
const counted = (first: number) => {
  const object = Buffer.from(Array.from({ length: 1000 }, (_, i) => (first + i) % 256));
  const ranges: string[] = [];
  const ask = async ({ headers }: { readonly headers: { readonly range: string } }) => {
    const [start, end] = headers.range.slice('bytes='.length).split('-').map(Number);
    ranges.push(headers.range);
    return {
      status: 206,
      headers: { 'content-range': `bytes ${start}-${end}/1000` },
      bytes: Buffer.from(object.subarray(start, end + 1)),
    };
  };
  return { object, ranges, ask };
};

test('what lies between ranges that were read together is not asked for again, by no reader of that version', async () => {
  const kept = new KeptStretches(10_000);
  const { object, ranges, ask } = counted(0);
  const read = (etag: string, ...wanted: readonly (readonly [number, number])[]) =>
    transportOf(ask, etag, 1000, kept).readRanges(wanted.map(([offset, length]) => ({ offset, length })));
  await read('"a"', [100, 10], [300, 10]);
  expect(await read('"a"', [200, 50], [310, 5], [100, 1])).toEqual([
    object.subarray(200, 250),
    object.subarray(310, 315),
    object.subarray(100, 101),
  ]);
  expect(ranges).toEqual(['bytes=100-309', 'bytes=310-314']);
  await read('"b"', [200, 50]);
  // One that names no version may be any.
  await read('', [200, 50]);
  await read('', [200, 50]);
  expect(ranges.slice(2)).toEqual(Array.from({ length: 3 }, () => 'bytes=200-249'));
});

test('ranges that are read at a time before a version is known are all of one', async () => {
  let answers = 0;
  const ask = async ({ headers }: { readonly headers: { readonly range: string } }) => {
    const [start, end] = headers.range.slice('bytes='.length).split('-').map(Number);
    const etag = `"${answers++}"`;
    const bytes = Buffer.alloc(end + 1 - start);
    return { status: 206, headers: { etag, 'content-range': `bytes ${start}-${end}/1000000` }, bytes };
  };
  const far = [0, 500_000].map((offset) => ({ offset, length: 10 }));
  const transport = new ObjectTransport({ ask } as unknown as S3Client, asked, undefined, new KeptStretches(10_000));
  await expect(transport.readRanges(far)).rejects.toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CHANGED' });
});

test('what is kept is bounded, and that goes first which was used longest ago', () => {
  const kept = new KeptStretches(1_000_000);
  const bytes = (size: number, fill = 0): Buffer => Buffer.alloc(size - STRETCH_BYTES, fill);
  for (let i = 0; i < 10; i++) kept.put('o', 100_000 * i, bytes(100_000, i));
  expect(kept.find('o', 5, 10)).toEqual(Buffer.alloc(10, 0));
  kept.put('o', 1_000_000, bytes(150_000, 10));
  expect(kept.bytes).toBe(950_000);
  const isKept = (i: number): boolean => kept.find('o', 100_000 * i, 90_000) !== undefined;
  expect([0, 1, 2, 3, 10].map(isKept)).toEqual([true, false, false, true, true]);
  // One that has others in it takes their place; one that is large alone is not kept.
  kept.put('o', 300_000, bytes(200_000));
  expect(kept.bytes).toBe(950_000);
  kept.put('o', 0, bytes(251_000));
  expect(kept.bytes).toBe(950_000);
});

test('what is kept holds no more in memory than it says', () => {
  const kept = new KeptStretches(100_000);
  // A part of something does not keep all of it.
  for (const size of [20, 20_000, 2_000_000]) {
    kept.put('p', 0, Buffer.alloc(size).subarray(0, 10));
    expect(kept.find('p', 0, 10)?.buffer.byteLength).toBe(10);
  }
  // Each takes memory, however small.
  for (let i = 0; i < 10_000; i++) kept.put('o', 2 * i, Buffer.alloc(1));
  expect(Array.from({ length: 10_000 }, (_, i) => kept.find('o', 2 * i, 1)).filter(Boolean).length).toBeLessThan(300);
});
