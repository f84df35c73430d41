// What a trace by its id costs in a bucket of a real server: a request for each part of it and 8 at most, for an open archive, for one with the cards on disk, and
// for one with nothing; sorted segments, unsorted ones, and both.
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { describeBucket } from '../../../../test/support/versitygw.js';
import { Archive } from '../../src/archive.js';
import { BucketMaintainer } from '../../src/bucket/bucket-maintenance.js';
import { freshKey, hourOf } from '../../src/bucket/keys.js';
import { type ObjectStore, openObjectStore } from '../../src/bucket/object-store.js';
import { newId, segmentName } from '../../src/directory.js';
import { clusteredSegment } from '../../src/segment/cluster-segment.js';
import { newDirectory } from '../archive/support/directory.js';
import { byId, segmentBytes, tracesOf } from '../segment/support/segments.js';
import { syntheticSpans } from '../segment/support/synthetic-spans.js';
import { unsortedBytes } from '../segment/support/unsorted-bytes.js';

const SERVICES = 12;
const SPANS_OF_PART = 5;
/** Requests beside one for each part. */
const MORE = 8;

const spans = syntheticSpans({ traces: 1200, spansPerTrace: SERVICES * SPANS_OF_PART, seed: 93 });
const traces = tracesOf(spans);
const ids = [...traces.keys()];
/** What each service has of all traces. */
const parts = Array.from({ length: SERVICES }, (_, service) =>
  spans.filter((_span, i) => Math.floor((i % (SERVICES * SPANS_OF_PART)) / SPANS_OF_PART) === service),
);

const objectOf = (own: readonly ArchivedSpan[], isSorted: boolean): Promise<Buffer> =>
  isSorted ? clusteredSegment(segmentBytes(own)) : unsortedBytes(own, 100);

describeBucket('a trace by its id', (server) => {
  let archives = 0;
  const s3 = () => {
    const { endpoint, accessKeyId, secretAccessKey } = server();
    return { endpoint, credentials: async () => ({ accessKeyId, secretAccessKey }) };
  };

  /** An archive with a segment for each service, and its store. */
  const newArchive = async (isSorted: (service: number) => boolean): Promise<{ place: string; store: ObjectStore }> => {
    const place = `s3://traces/requests-${archives++}`;
    const store = openObjectStore(place, s3());
    onTestFinished(() => store.close());
    await store.get('catalogue.json');
    for (const [service, own] of parts.entries()) {
      const [first] = own;
      const name = segmentName(first.startUnixNs, first.endUnixNs, newId(), isSorted(service));
      await store.put(freshKey(hourOf(store.clockMs()), name), await objectOf(own, isSorted(service)));
    }
    return { place, store };
  };

  const openReader = async (place: string, cacheDirectory: string): Promise<Archive> => {
    const archive = await Archive.open(place, { readOnly: true, cacheDirectory, s3: s3() });
    onTestFinished(() => archive.close());
    return archive;
  };

  /** Requests for a trace, which must be whole. */
  const requestsFor = async (archive: Archive, id: string): Promise<number> => {
    const before = archive.traffic()?.requests ?? 0;
    const found = await archive.trace(id);
    expect(isDeepStrictEqual(byId(found), byId(traces.get(id) ?? []))).toBe(true);
    return (archive.traffic()?.requests ?? 0) - before;
  };

  test.each([
    ['sorted segments', () => true],
    ['unsorted segments', () => false],
    ['both', (service: number) => service % 3 > 0],
  ])('of %s, with cards in packs', { timeout: 60_000 }, async (_, isSorted) => {
    const { place, store } = await newArchive(isSorted);
    await new BucketMaintainer(store, { mergedSpans: 1 }).pass();
    const cacheDirectory = newDirectory();
    const first = await openReader(place, cacheDirectory);
    const costs = { first: [await requestsFor(first, ids[7])], warm: [] as number[], cold: [] as number[] };
    for (const n of [100, 400, 900]) costs.warm.push(await requestsFor(first, ids[n]));
    for (const n of [50, 1100]) costs.cold.push(await requestsFor(await openReader(place, cacheDirectory), ids[n]));
    expect((await first.stats()).segments).toBe(SERVICES);
    for (const [kind, requests] of Object.entries(costs))
      for (const one of requests) expect(one, kind).toBeLessThanOrEqual(SERVICES + MORE);
    // The catalogue, and the list of fresh uploads.
    expect(Math.max(...costs.warm)).toBeLessThanOrEqual(SERVICES + 2);
  });

  test('of fresh uploads, whose cards were made when they were first listed', { timeout: 60_000 }, async () => {
    const { place } = await newArchive((service) => service % 2 === 0);
    const cacheDirectory = newDirectory();
    const first = await openReader(place, cacheDirectory);
    await first.services();
    expect(await requestsFor(first, ids[70])).toBeLessThanOrEqual(SERVICES + MORE);
    expect(await requestsFor(await openReader(place, cacheDirectory), ids[71])).toBeLessThanOrEqual(SERVICES + MORE);
  });

  test('of what a maintainer has merged', { timeout: 60_000 }, async () => {
    const { place, store } = await newArchive(() => true);
    await new BucketMaintainer(store).pass({ all: true });
    const reader = await openReader(place, newDirectory());
    expect(await requestsFor(reader, ids[3])).toBeLessThanOrEqual(1 + MORE);
    expect(await requestsFor(reader, ids[4])).toBeLessThanOrEqual(1 + 2);
    expect((await reader.stats()).segments).toBe(1);
  });
});
