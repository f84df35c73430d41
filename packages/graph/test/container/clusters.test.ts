// A clustered file gives the bytes of the logical one, whatever its order, by as few reads as it was asked at a time; a map that is not whole is refused.
import { expect, test, vi } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CLUSTER_FOOTER_BYTES, clusterFile } from '../../src/container/cluster-map.js';
import { Container } from '../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../src/container/container-writer.js';
import { TransportError } from '../../src/container/graph-error.js';
import type { ClusteredTransport } from '../../src/container/transport/clustered-transport.js';
import { BufferTransport } from '../../src/container/transport/file-transport.js';
import type { ByteRange } from '../../src/container/transport/transport.js';
import { failureOf } from './support/errors.js';

const SECTION = 1000;

/** A file with one section. */
const fileOf = (section: Buffer): Buffer => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, 'none');
  writer.section({ id: SECTION }, section);
  writer.finish();
  return sink.toBuffer();
};

/** What some ranges leave of a file. */
const leftOver = (ranges: readonly ByteRange[], size: number): ByteRange[] => {
  const isTaken = new Uint8Array(size);
  for (const { offset, length } of ranges) isTaken.fill(1, offset, offset + length);
  const left: { offset: number; length: number }[] = [];
  for (let at = 0; at < size; at++) {
    if (isTaken[at] === 1) continue;
    const last = left.at(-1);
    if (last !== undefined && last.offset + last.length === at) last.length++;
    else left.push({ offset: at, length: 1 });
  }
  return left;
};

const rangeIn = (size: number): fc.Arbitrary<ByteRange> =>
  fc.tuple(fc.nat(size), fc.nat(size)).map(([a, b]) => ({ offset: Math.min(a, b), length: Math.abs(a - b) }));

interface Case {
  readonly logical: Buffer;
  readonly clustered: Buffer;
  readonly rounds: readonly (readonly ByteRange[])[];
  readonly tailBytes: number;
}

const anyCase: fc.Arbitrary<Case> = fc.uint8Array({ minLength: 1, maxLength: 300 }).chain((bytes) => {
  const logical = fileOf(Buffer.from(bytes));
  const range = rangeIn(logical.length);
  const stretch = range.filter(({ length }) => length > 0);
  return fc
    .record({
      clusters: fc.array(fc.array(stretch, { maxLength: 4 }), { maxLength: 5 }),
      again: fc.array(stretch, { maxLength: 2 }),
      rounds: fc.array(fc.array(range, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
      tailBytes: fc.nat(800),
    })
    .map(({ clusters, again, rounds, tailBytes }) => {
      const others = [...again, ...leftOver([...clusters.flat(), ...again], logical.length)];
      return { logical, clustered: clusterFile(logical, clusters, others), rounds, tailBytes: 1 + tailBytes };
    });
});

const slices = (bytes: Buffer, ranges: readonly ByteRange[]): Buffer[] =>
  ranges.map(({ offset, length }) => bytes.subarray(offset, offset + length));

test('any ranges are those of the logical file', async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ logical, clustered, rounds, tailBytes }) => {
      const inner = new BufferTransport(clustered);
      const container = await Container.open(inner, { tailBytes });
      const sync = Container.openSync(new BufferTransport(clustered), { tailBytes });
      for (const { size, storedSize, sections } of [container, sync]) {
        expect([size, storedSize]).toEqual([logical.length, clustered.length]);
        expect(sections.map(({ id }) => id)).toEqual([SECTION]);
      }
      const before = inner.stats().requests;
      const found = await Promise.all(rounds.map((ranges) => container.transport.readRanges(ranges)));
      expect(found).toEqual(rounds.map((ranges) => slices(logical, ranges)));
      for (const ranges of rounds) expect(sync.readStoredSync(ranges)).toEqual(slices(logical, ranges));
      // Neighbours in memory cost one request, and nothing lies far apart in a file of this size.
      expect(inner.stats().requests - before).toBeLessThanOrEqual(1);
      const [whole] = await container.transport.readRanges([{ offset: 0, length: logical.length }]);
      expect(whole).toEqual(logical);
      expect(await container.transport.readTail(tailBytes)).toEqual({
        bytes: logical.subarray(Math.max(0, logical.length - tailBytes)),
        offset: Math.max(0, logical.length - tailBytes),
        size: logical.length,
      });
    }),
    { numRuns: samples(150, 600, 5000) },
  );
});

test('a range outside of the logical file is refused, also where the file has bytes there', async () => {
  const logical = fileOf(Buffer.alloc(100));
  const clustered = clusterFile(logical, [], [{ offset: 0, length: logical.length }]);
  const { transport } = await Container.open(new BufferTransport(clustered));
  const failure = await failureOf(transport.readRanges([{ offset: 0, length: logical.length + 1 }]));
  expect(failure.code).toBe('ERR_SPANLINE_GRAPH_TRUNCATED');
});

const logical = fileOf(Buffer.from(Array.from({ length: 60 }, (_, i) => i)));
const CLUSTERS = [[{ offset: 20, length: 30 }], [{ offset: 10, length: 20 }]];
const clustered = clusterFile(logical, CLUSTERS, leftOver(CLUSTERS.flat(), logical.length));
const bodyLength = 50 + leftOver(CLUSTERS.flat(), logical.length).reduce((sum, { length }) => sum + length, 0);

const CODES = ['CORRUPT', 'TRUNCATED', 'BAD_SIGNATURE', 'UNSUPPORTED_VERSION'].map(
  (code) => `ERR_SPANLINE_GRAPH_${code}`,
);

test('each byte of map and footer that is another is refused', async () => {
  expect(clustered.length - CLUSTER_FOOTER_BYTES).toBeGreaterThan(bodyLength);
  for (let at = bodyLength; at < clustered.length; at++)
    for (let bit = 0; bit < 8; bit++) {
      const damaged = Buffer.from(clustered);
      damaged[at] ^= 1 << bit;
      const { code } = await failureOf(Container.open(new BufferTransport(damaged)));
      expect(CODES).toContain(code);
    }
});

test('a file cut anywhere is refused', async () => {
  for (let length = 0; length < clustered.length; length++)
    expect(CODES).toContain((await failureOf(Container.open(new BufferTransport(clustered.subarray(0, length))))).code);
});

test.each([
  ['lacks a byte', [{ offset: 0, length: logical.length - 1 }]],
  ['goes beyond the file', [{ offset: 0, length: logical.length + 1 }]],
  [
    'has a stretch of no bytes',
    [
      { offset: 0, length: 0 },
      { offset: 0, length: logical.length },
    ],
  ],
  [
    'has all bytes in too many places',
    Array.from({ length: 60 }, (_, i) => [
      { offset: 0, length: logical.length },
      { offset: i, length: 60 },
    ]).flat(),
  ],
])('a map that %s is refused', async (_, others) => {
  const file = clusterFile(logical, [], others);
  expect(CODES).toContain((await failureOf(Container.open(new BufferTransport(file)))).code);
});

test('a map is refused whose stretches would take far more memory than the file has bytes', async () => {
  const many = fileOf(Buffer.alloc(5000));
  const stretches = Array.from({ length: many.length }, (_, offset) => ({ offset, length: 1 }));
  const failure = await failureOf(Container.open(new BufferTransport(clusterFile(many, [], stretches))));
  expect(failure).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CORRUPT', section: 'clusterMap' });
});

test('of ranges that are asked for together, one that cannot be read keeps no other from being read', async () => {
  const inner = new BufferTransport(clustered);
  const { transport } = await Container.open(inner, { tailBytes: 1 });
  const read = inner.readRanges.bind(inner);
  const reads = vi.spyOn(inner, 'readRanges').mockImplementation(async (ranges) => {
    // The first bytes of the first cluster.
    if (ranges.some(({ offset }) => offset < 5)) throw new TransportError('broken');
    return read(ranges);
  });
  const asked = [CLUSTERS[0][0], { offset: 60, length: 4 }, { offset: 40, length: 10 }];
  const [broken, ...whole] = await Promise.allSettled(asked.map((range) => transport.readRanges([range])));
  expect(broken).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SPANLINE_GRAPH_TRANSPORT' } });
  expect(whole.map((one) => one.status === 'fulfilled' && one.value)).toEqual(
    asked.slice(1).map((range) => slices(logical, [range])),
  );
  // Who asks alone is not asked for again.
  reads.mockClear();
  await failureOf(transport.readRanges([asked[0]]));
  expect(reads).toHaveBeenCalledTimes(1);
});

test('copies are compared a bounded stretch at a time', () => {
  const large = fileOf(Buffer.alloc(5 * 1024 * 1024, 'anything'));
  const all = { offset: 0, length: large.length };
  const file = clusterFile(large, [[all]], [all]);
  const compare = (bytes: Buffer): { readonly differing: readonly ByteRange[]; readonly max: number } => {
    const inner = new BufferTransport(bytes);
    const { transport } = Container.openSync(inner);
    const reads = vi.spyOn(inner, 'readRangesSync');
    const differing = (transport as ClusteredTransport).differingSync();
    const sizes = reads.mock.calls.map(([ranges]) => ranges.reduce((sum, { length }) => sum + length, 0));
    return { differing, max: Math.max(...sizes) };
  };
  const { differing, max } = compare(file);
  expect(differing).toEqual([]);
  expect(max).toBeLessThanOrEqual(2 * 1024 * 1024);
  file[large.length - 200] ^= 1;
  expect(compare(file).differing).toEqual([all]);
});

test('nothing is read again of which no copies differ', () => {
  const logical = fileOf(Buffer.from('1234'));
  const all = { offset: 0, length: logical.length };
  const read = (clustered: Buffer): number => {
    const transport = Container.openSync(new BufferTransport(clustered)).transport as ClusteredTransport;
    const action = vi.fn(() => {
      transport.readRangesSync([all]);
      throw new TransportError('damaged');
    });
    expect(() => transport.byAnyCopySync(action)).toThrow('damaged');
    return action.mock.calls.length;
  };
  const twice = clusterFile(logical, [[all]], [all]);
  expect([read(clusterFile(logical, [], [all])), read(twice)]).toEqual([1, 1]);
  twice[logical.length + 3] ^= 1;
  // As at first, and each copy.
  expect(read(twice)).toBe(3);
});
