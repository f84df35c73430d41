// An unsorted segment answers as the sorted one of the same spans does, damage of a block spoils that block alone and is reported, and what it says of
// itself is so.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BlockCache } from '../../../graph/src/container/block-cache.js';
import { GraphError } from '../../../graph/src/container/graph-error.js';
import { SpanRows } from '../../src/rows/span-rows.js';
import { Segment } from '../../src/segment/segment.js';
import { newDirectory, openArchive } from '../archive/support/directory.js';
import { anyTakenSpans } from './support/arbitrary-spans.js';
import { withoutBytes } from './support/brute-force.js';
import { byId, collect, openSegment, segmentBytes, span, traceIdOf, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';
import { unsortedBytes } from './support/unsorted-bytes.js';

test('it answers as a sorted one', async () => {
  await fc.assert(
    fc.asyncProperty(anyTakenSpans, fc.integer({ min: 1, max: 9 }), async (spans, perBatch) => {
      fc.pre(spans.length > 0);
      const segment = await Segment.open(await unsortedBytes(spans, perBatch));
      const sorted = await openSegment(spans);
      expect([segment.isSorted, sorted.isSorted]).toEqual([false, true]);
      const { services, operations, listsAllOperations, startUnixNs, endUnixNs } = sorted.info;
      const same = { services, operations, listsAllOperations, startUnixNs, endUnixNs };
      // Of a span that comes twice both are there until they are sorted.
      expect(segment.info).toMatchObject({
        ...(sorted.info.doubles === 0 ? same : { services }),
        spanCount: spans.length,
        replaces: ['a', 'b'],
      });
      const traces = tracesOf(spans);
      const ids = [...traces.keys(), traceIdOf(77)];
      const findsAll = async (): Promise<void> => {
        const found = await segment.traces(ids);
        expect([...found.keys()]).toEqual([...traces.keys()]);
        for (const [id, trace] of traces) {
          expect(isDeepStrictEqual(byId(found.get(id) ?? []), byId(trace))).toBe(true);
          expect(segment.mayHave(id)).toBe(true);
        }
        expect((await segment.present(ids)).sort()).toEqual((await sorted.present(ids)).sort());
      };
      await findsAll();
      expect(isDeepStrictEqual(await collect(segment.scan()), await collect(sorted.scan()))).toBe(true);
      const search = { name: spans[0].name, limit: 1000 };
      expect(withoutBytes(await segment.summaries(search))).toEqual(withoutBytes(await sorted.summaries(search)));
      expect(await collect(segment.traceIds())).toEqual(await collect(sorted.traceIds()));
      // Now by its sorted form.
      await findsAll();
      expect(await segment.faults()).toEqual([]);
      const rows = new SpanRows();
      await segment.addTo(rows);
      expect(isDeepStrictEqual(rows.spans(), [...spans])).toBe(true);
    }),
    { numRuns: samples(20, 100, 1500) },
  );
});

// Distinct texts fill a block of 512 KiB with some 1,700 spans.
const spans = syntheticSpans({ traces: 250, spansPerTrace: 20, seed: 7 }).map((span, i) => ({
  ...span,
  properties: { text: `${i}`.padStart(250, '.') },
}));

test('any one flipped bit spoils a block and is reported, or changes nothing', async () => {
  const bytes = await unsortedBytes(spans, 100);
  const ids = [...tracesOf(spans).keys()];
  const expected = await (await Segment.open(bytes)).traces(ids);
  await fc.assert(
    fc.asyncProperty(fc.noBias(fc.nat(bytes.length - 1)), fc.nat(7), async (at, bit) => {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << bit;
      const reported: GraphError[] = [];
      const options = { onDamage: (error: GraphError) => reported.push(error) };
      let faults: readonly GraphError[] = [];
      try {
        const segment = await Segment.open(damaged);
        for (const [id, trace] of await segment.traces(ids, options))
          if (reported.length === 0) expect(isDeepStrictEqual(trace, expected.get(id))).toBe(true);
        const scanned = (await collect(segment.scan(options))).flat();
        expect(new Set(scanned.map(({ spanId }) => spanId)).size).toBe(scanned.length);
        if (reported.length > 0) {
          // Not by `rejects`: it keeps what each of two thousand rounds read until the test is over, eight gigabytes.
          const refusal = await segment.addTo(new SpanRows()).catch((error: unknown) => error);
          expect(refusal).toBeInstanceOf(GraphError);
          expect(scanned.length).toBeGreaterThan(0);
        }
        faults = await segment.faults();
        expect(faults.length > 0 || reported.length === 0).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(GraphError);
      }
    }),
    { numRuns: samples(8, 100, 2000) },
  );
});

test('a damaged block is named, and the others are read', async () => {
  const bytes = await unsortedBytes(spans, 100);
  bytes[1000] ^= 1;
  const segment = await Segment.open(bytes);
  await expect(segment.summaries()).rejects.toThrow(/^block 0 of batches of a buffer is damaged; the others are read$/);
  const reported: GraphError[] = [];
  const left = (await collect(segment.scan({ onDamage: (error) => reported.push(error) }))).flat();
  expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining('block 0 of batches')]);
  expect(left.length).toBeGreaterThan(spans.length / 2);
  expect(left.length).toBeLessThan(spans.length);
  // A trace of another block is found without a word.
  const last = spans[spans.length - 1].traceId;
  expect((await segment.traces([last])).get(last)).toHaveLength(20);
  expect(await segment.faults()).toHaveLength(1);
});

test('what a span says is what it said when it was appended', async () => {
  const archive = await openArchive(newDirectory(), { unsortedSpans: 1 });
  const properties = { 'service.name': 'shop' };
  archive.append([span({ resource: { properties } })]);
  properties['service.name'] = 'cart';
  await archive.seal();
  expect((await archive.stats()).unsortedSegments).toBe(1);
  expect(await archive.services()).toEqual(['shop']);
  expect(await archive.search({ service: 'shop' })).toHaveLength(1);
});

test('sorted forms are kept as far as there is room for them', async () => {
  const bytes = await unsortedBytes(spans, 100);
  const { length } = segmentBytes(spans, { compression: 'none' });
  /** Of two segments, searched by turns: whether blocks are read for it. */
  const readings = async (cacheBytes: number): Promise<boolean[]> => {
    const cache = new BlockCache(cacheBytes);
    const [a, b] = await Promise.all([1, 2].map(() => Segment.open(bytes, { cache, tailBytes: 1 })));
    const read: boolean[] = [];
    for (const segment of [a, a, b, a]) {
      const { requests } = segment.stats().transport;
      await segment.summaries();
      read.push(segment.stats().transport.requests > requests);
    }
    return read;
  };
  expect(await readings(length / 2)).toEqual([true, false, true, false]);
  expect(await readings(length / 3)).toEqual([true, false, true, true]);
});

test('once it was searched no block is read again for a trace', async () => {
  const segment = await Segment.open(await unsortedBytes(spans, 100), { tailBytes: 1 });
  const [{ traceId }] = await segment.summaries();
  const { requests } = segment.stats().transport;
  expect((await segment.traces([traceId])).get(traceId)).toHaveLength(20);
  expect(await segment.present([traceId])).toEqual([traceId]);
  expect(segment.stats().transport.requests).toBe(requests);
});

test('a search that can find nothing reads no block', async () => {
  const segment = await Segment.open(await unsortedBytes(spans, 100), { tailBytes: 1 });
  const { requests } = segment.stats().transport;
  const { startUnixNs, endUnixNs } = segment.info;
  for (const search of [{ name: 'no span' }, { fromUnixNs: endUnixNs + 1n }, { toUnixNs: startUnixNs - 1n }])
    expect(await segment.summaries(search)).toEqual([]);
  expect(segment.stats().transport.requests).toBe(requests);
});
