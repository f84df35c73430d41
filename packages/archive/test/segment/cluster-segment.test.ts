// A segment as it lies in a bucket is the same segment: its bytes, its answers, what is reported when it is damaged; and a trace of it costs one request.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Container, CorruptError, type GraphError, SectionId } from '@spanline/graph';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import { BufferTransport, FileTransport } from '../../../graph/src/container/transport/file-transport.js';
import { salvage } from '../../../graph/src/salvage.js';
import { KeptStretches } from '../../src/bucket/kept-stretches.js';
import { ObjectTransport } from '../../src/bucket/object-transport.js';
import type { S3Client } from '../../src/bucket/s3-client.js';
import { clusteredSegment } from '../../src/segment/cluster-segment.js';
import { SegmentSection } from '../../src/segment/layout.js';
import { Segment } from '../../src/segment/segment.js';
import { newDirectory } from '../archive/support/directory.js';
import { anySpans } from './support/arbitrary-spans.js';
import { byId, collect, segmentBytes, spanIdOf, traceIdOf, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';
import { unsortedBytes } from './support/unsorted-bytes.js';

/** What a bucket takes together. */
const GAP_BYTES = 64 * 1024;

const spans = syntheticSpans({ traces: 1500, spansPerTrace: 12, seed: 91 }).map((span, i) => ({
  ...span,
  properties: { 'http.route': span.name, order: i, of: 'all' },
  events: i % 50 === 0 ? [{ name: 'event', timeUnixNs: span.startUnixNs, properties: { i } }] : [],
  links: i % 70 === 0 ? [{ traceId: traceIdOf(i), spanId: spanIdOf(i), traceState: '', properties: {} }] : [],
}));
const plain = segmentBytes(spans);
const clustered = await clusteredSegment(plain);

/** The segment in a file whose reads are counted as those of a bucket. */
const openCounted = async (bytes: Buffer): Promise<{ segment: Segment; transport: FileTransport }> => {
  const path = join(newDirectory(), 'segment');
  writeFileSync(path, bytes);
  const transport = await FileTransport.open(path, { gapBytes: GAP_BYTES });
  // Nothing is kept from one trace to the next, and no cluster lies in what opening reads.
  return { segment: await Segment.open(transport, { cache: 0, tailBytes: 2048 }), transport };
};

test('of any spans it has the same bytes, and gives the same', async () => {
  await fc.assert(
    fc.asyncProperty(anySpans, async (some) => {
      const bytes = segmentBytes(some);
      const object = await clusteredSegment(bytes);
      expect(await clusteredSegment(bytes)).toEqual(object);
      const { transport, size } = await Container.open(new BufferTransport(object));
      expect(await transport.readRanges([{ offset: 0, length: size }])).toEqual([bytes]);
      const [segment, direct] = [await Segment.open(object), await Segment.open(bytes)];
      expect(segment.info).toEqual({ ...direct.info, bytes: object.length });
      expect(await collect(segment.scan())).toEqual(await collect(direct.scan()));
      expect(await segment.faults()).toEqual([]);
    }),
    { numRuns: samples(25, 100, 500) },
  );
});

test('it takes a fifth more bytes at most', () => {
  expect(plain.length).toBeGreaterThan(4 * GAP_BYTES);
  expect(clustered.length).toBeLessThan(1.2 * plain.length);
});

test('a trace costs one request, and less than two clusters', async () => {
  const { segment, transport } = await openCounted(clustered);
  const all = [...tracesOf(spans)];
  for (const [id, trace] of sampleOf(all, 75, 375)) {
    const before = transport.stats();
    expect(byId((await segment.traces([id])).get(id) ?? [])).toEqual(byId(trace));
    const after = transport.stats();
    expect(after.requests - before.requests).toBe(1);
    expect(after.bytes - before.bytes).toBeLessThan(128 * 1024);
  }
  await segment.close();
});

test('a trace that lies in many groups costs one request, and so do many at a time', async () => {
  const [first, ...rest] = syntheticSpans({ traces: 40, spansPerTrace: 400, seed: 92 });
  const long = [first, ...rest].map((span, i) => (i < 8000 ? { ...span, traceId: first.traceId } : span));
  const { segment, transport } = await openCounted(await clusteredSegment(segmentBytes(long)));
  const before = transport.stats().requests;
  const found = await segment.traces([first.traceId]);
  expect(found.get(first.traceId)).toHaveLength(8000);
  expect(transport.stats().requests - before).toBeLessThanOrEqual(2);
  await segment.close();
});

test('a search reads the rows of all groups together', async () => {
  const { segment, transport } = await openCounted(clustered);
  const before = transport.stats().requests;
  expect(await collect(segment.traceIds({ fromUnixNs: 0n, toUnixNs: 1n }))).toEqual([]);
  await segment.summaries({ limit: 5, minDurationNs: 10n ** 15n });
  expect(transport.stats().requests - before).toBeLessThanOrEqual(1);
  await segment.close();
});

/** The segment as it is read out of a bucket, whose requests are counted. */
const openInBucket = async (object: Buffer): Promise<{ segment: Segment; transport: ObjectTransport }> => {
  const ask = async ({ headers: { range } }: { readonly headers: { readonly range: string } }) => {
    const [start, end] = range.slice('bytes='.length).split('-').map(Number);
    const headers = { 'content-range': `bytes ${start}-${end}/${object.length}` };
    return { status: 206, headers, bytes: Buffer.from(object.subarray(start, end + 1)) };
  };
  const asked = { url: 'http://127.0.0.1/b/k', name: 's3://b/k', deed: { what: 'reading', right: 's3:GetObject' } };
  const known = { size: object.length, etag: '"e"' };
  const transport = new ObjectTransport({ ask } as unknown as S3Client, asked, known, new KeptStretches(2 ** 25));
  return { segment: await Segment.open(transport, { cache: 0, tailBytes: 2048 }), transport };
};

test('a search by what spans have takes two requests, and one behind it none', async () => {
  const direct = await Segment.open(plain);
  const searches: Record<string, string>[] = [{ order: '17000' }, { 'http.route': spans[3].name }, { order: 'none' }];
  for (const [i, properties] of searches.entries()) {
    const { segment, transport } = await openInBucket(clustered);
    const before = transport.stats().requests;
    const searched = async (search: Record<string, string>): Promise<number> => {
      const found = await segment.summaries({ properties: search, limit: 256 });
      expect(found).toEqual(await direct.summaries({ properties: search, limit: 256 }));
      return transport.stats().requests - before;
    };
    // Rows, and what all candidates need, in which the keys are by which traces are named.
    expect(await searched(properties)).toBeLessThanOrEqual(2);
    expect(await searched(searches[(i + 1) % 3])).toBeLessThanOrEqual(2);
    await segment.close();
  }
});

test('what was damaged on its way, or heals where it lies, is read again', async () => {
  const { sections } = await Container.open(new BufferTransport(plain));
  const large = sections.filter((section) => section.storedLength > 500);
  const sample = sampleOf(large, 6, large.length);
  let damaged = 0;
  for (const { offset, storedLength } of sample) {
    const at = offset + Math.floor(storedLength / 2);
    const part = plain.subarray(at, at + 16);
    const object = Buffer.from(clustered);
    const flip = (): void => {
      for (const place of new Set([clustered.indexOf(part), clustered.lastIndexOf(part)])) object[place] ^= 1;
    };
    const { segment } = await openInBucket(object);
    const answer = async () => {
      const codes: string[] = [];
      const onDamage = ({ code }: GraphError): number => codes.push(code);
      const ids = spans.filter((_, i) => i % 1200 === 0).map(({ traceId }) => traceId);
      const found = await segment.summaries({ properties: { of: 'all' }, limit: 5000 }, { onDamage });
      const extents = await segment.extents(ids, { onDamage });
      const traces = await segment.traces(ids, { onDamage });
      return { codes, found: found.length, extents: extents.size, traces: traces.size };
    };
    flip();
    if ((await answer()).codes.length > 0) damaged++;
    flip();
    expect(await answer()).toEqual({ codes: [], found: 1500, extents: 15, traces: 15 });
    await segment.close();
  }
  expect(damaged).toBeGreaterThan(sample.length / 2);
});

test('keys that are damaged hide what they name from a search, and nothing else', async () => {
  const { offset, storedLength } = (await Container.open(new BufferTransport(plain))).need(SectionId.dictionaryBlocks);
  const at = offset + Math.floor(storedLength / 2);
  const [damaged, damagedPlain] = [Buffer.from(clustered), Buffer.from(plain)];
  damaged[clustered.indexOf(plain.subarray(at, at + 16))] ^= 1;
  damagedPlain[at] ^= 1;
  const searchIn = async (bytes: Buffer) => {
    const codes = new Set<string>();
    const segment = await Segment.open(bytes);
    const search = { properties: { of: 'all' }, limit: 5000 };
    const found = await segment.summaries(search, { onDamage: ({ code }) => codes.add(code) });
    return { found: found.length, codes: [...codes] };
  };
  const inPlain = await searchIn(damagedPlain);
  expect(await searchIn(damaged)).toEqual(inPlain);
  expect(inPlain.codes).toEqual(['ERR_SPANLINE_GRAPH_CORRUPT']);
  expect(1500 - inPlain.found).toBeGreaterThan(0);
  expect(1500 - inPlain.found).toBeLessThan(200);
});

test('damage in it is named by section and block as in the segment itself', async () => {
  const { transport } = await Container.open(new BufferTransport(clustered));
  const { sections } = await Container.open(new BufferTransport(plain));
  for (const { id, offset, storedLength } of sampleOf(sections, 8, sections.length)) {
    const at = offset + Math.floor(storedLength / 2);
    // Each copy of the byte.
    const [probe] = await transport.readRanges([{ offset: at, length: Math.min(16, offset + storedLength - at) }]);
    const damagedPlain = Buffer.from(plain);
    damagedPlain[at] ^= 1;
    const damaged = Buffer.from(clustered);
    for (let from = clustered.indexOf(probe); from >= 0; from = clustered.indexOf(probe, from + 1)) damaged[from] ^= 1;
    expect(await faultsOf(damaged), `section ${id}`).toEqual(await faultsOf(damagedPlain));
  }
});

const faultsOf = async (bytes: Buffer): Promise<unknown[]> => {
  const placeOf = (error: unknown): unknown[] => {
    const { code } = error as GraphError;
    return error instanceof CorruptError ? [code, error.section, error.block] : [code];
  };
  try {
    return (await (await Segment.open(bytes)).faults()).map(placeOf);
  } catch (error) {
    return [placeOf(error)];
  }
};

test('what checks graph files checks it', async () => {
  const path = join(newDirectory(), 'object');
  writeFileSync(path, clustered);
  expect(await salvage(path)).toMatchObject({ isUndamaged: true, bytes: clustered.length });
  // Of a byte that is there twice only one copy is read.
  const container = await Container.open(new BufferTransport(plain));
  const { offset, storedLength } = container.need(SegmentSection.traceRows);
  const probe = plain.subarray(offset + storedLength - 40, offset + storedLength);
  for (const at of [clustered.indexOf(probe), clustered.lastIndexOf(probe)]) {
    const damaged = Buffer.from(clustered);
    damaged[at] ^= 1;
    writeFileSync(path, damaged);
    expect((await salvage(path)).damage.map(({ section }) => section)).toContain('clusters');
  }
  expect(clustered.indexOf(probe)).toBeLessThan(clustered.lastIndexOf(probe));
});

test('one that came out of a bucket goes up as it is', async () => {
  expect((await clusteredSegment(clustered)) === clustered).toBe(true);
});

test('an unsorted segment goes up as it is, and a trace of it costs one request', async () => {
  const bytes = await unsortedBytes(spans, 120);
  expect(await clusteredSegment(bytes)).toBe(bytes);
  const { segment, transport } = await openCounted(bytes);
  for (const id of [...tracesOf(spans).keys()].filter((_, i) => i % 20 === 0)) {
    const before = transport.stats().requests;
    expect((await segment.traces([id])).get(id)).toHaveLength(12);
    expect(transport.stats().requests - before).toBe(1);
  }
  await segment.close();
});
