// What a reader makes of a bucket that changes under it: each segment once while it goes from a spool to the bucket, whatever a list lags; one that was
// merged meanwhile is found where it is now; one that is gone is damage, and the rest answers.

import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlockCache, NotFoundError, type Transport } from '@spanline/graph';
import { expect, test } from 'vitest';
import { BucketMaintainer } from '../../src/bucket/bucket-maintenance.js';
import { BucketPlace } from '../../src/bucket/bucket-place.js';
import { Catalogue } from '../../src/bucket/catalogue.js';
import { openCatalogue } from '../../src/bucket/catalogue-reader.js';
import { DiskCache } from '../../src/bucket/disk-cache.js';
import { newId, segmentName, VanishedError } from '../../src/directory.js';
import { writeSpansTo } from '../../src/make-segments.js';
import { SpanRows } from '../../src/rows/span-rows.js';
import { DirectoryPlace } from '../../src/segment-place.js';
import { SegmentSet } from '../../src/segment-set.js';
import { filesOf, newDirectory, SEGMENT } from '../archive/support/directory.js';
import { syntheticSpans } from '../segment/support/synthetic-spans.js';
import { unsortedBytes } from '../segment/support/unsorted-bytes.js';
import { MemoryStore } from './support/memory-store.js';

const HOUR = '2026-11-27T10';

/** A spool with a segment. */
const newSpool = (seed: number): { readonly directory: string; readonly name: string; readonly bytes: Buffer } => {
  const directory = newDirectory();
  const rows = new SpanRows();
  for (const span of syntheticSpans({ traces: 3, spansPerTrace: 2, seed })) rows.add(span);
  writeSpansTo(directory, rows, []);
  const [name] = filesOf(directory, SEGMENT);
  return { directory, name, bytes: readFileSync(join(directory, name)) };
};

const placeOf = (store: MemoryStore, spool?: string, cache?: DiskCache): BucketPlace =>
  new BucketPlace(
    store,
    openCatalogue(store, new Catalogue(store), cache),
    spool === undefined ? undefined : new DirectoryPlace(spool),
  );

const namesIn = async (place: BucketPlace): Promise<string[]> => (await place.list()).segments.map(({ name }) => name);

test('once, from the spool to the bucket, though its list lags', async () => {
  const store = new MemoryStore();
  const { directory, name, bytes } = newSpool(1);
  const place = placeOf(store, directory);
  const set = new SegmentSet(place, 10, 1_000_000);
  store.stale = new Map();
  expect(await namesIn(place)).toEqual([name]);
  const key = `fresh/${HOUR}/${name}`;
  store.objects.set(key, bytes);
  place.uploaded(name, key, bytes.length);
  expect(await namesIn(place)).toEqual([name]);
  rmSync(join(directory, name));
  expect(await namesIn(place)).toEqual([name]);
  expect((await set.card(name))?.info.spanCount).toBe(6);
  store.stale = undefined;
  expect(await namesIn(place)).toEqual([name]);
  await set.close();
});

test('an object that is gone is looked for again, and is damage then', async () => {
  const store = new MemoryStore();
  const { name, bytes } = newSpool(2);
  const key = `fresh/${HOUR}/${name}`;
  store.objects.set(key, bytes);
  const set = new SegmentSet(placeOf(store), 10, 1_000_000);
  await set.list();
  store.stale = new Map(store.objects);
  store.objects.delete(key);
  const work = async (): Promise<never> => {
    throw new NotFoundError(`${key} is not there`);
  };
  await expect(set.use(name, work)).rejects.toBeInstanceOf(VanishedError);
  await set.list();
  expect(await set.use(name, work)).toBeUndefined();
  expect(set.damaged()).toMatchObject([{ file: name, code: 'ERR_SPANLINE_GRAPH_NOT_FOUND' }]);
  await set.close();
});

test('what this process put is forgotten once nobody looks for it there, though nobody asked for hours', async () => {
  const store = new MemoryStore();
  const place = placeOf(store);
  expect(await namesIn(place)).toEqual([]);
  const { name, bytes } = newSpool(5);
  const key = `fresh/${HOUR}/${name}`;
  await store.put(key, bytes);
  place.uploaded(name, key, bytes.length);
  // It is taken in; then its segment is too old, and deleted, and its name is of an hour that is over.
  for (let i = 0; i < 5; i++) {
    await new BucketMaintainer(store, { maxAgeMs: 1 }).pass({ all: true });
    store.now += 3_600_000;
  }
  expect([...store.objects.keys()].filter((one) => one.startsWith('fresh/'))).toEqual([]);
  expect(await namesIn(place)).toEqual([]);
});

test('the hour of another archive in the same cache hides no upload', async () => {
  const cache = new DiskCache(newDirectory(), 1_000_000);
  const other = new MemoryStore();
  await other.put('fresh/2026-11-27T10/seg-junk', Buffer.from('x'));
  const { name, bytes } = newSpool(6);
  await other.put(`fresh/${HOUR}/${name}`, bytes);
  await new BucketMaintainer(other).pass();
  await placeOf(other, undefined, cache).list();
  const store = new MemoryStore();
  await store.put(`fresh/2026-11-27T08/${name}`, bytes);
  expect(await namesIn(placeOf(store, undefined, cache))).toEqual([name]);
});

test('the card of a fresh upload is made once for a machine', async () => {
  const store = new MemoryStore();
  const { name, bytes } = newSpool(3);
  store.objects.set(`fresh/${HOUR}/${name}`, bytes);
  const cache = new DiskCache(newDirectory(), 1_000_000);
  await placeOf(store, undefined, cache).list();
  const { transport } = store;
  store.transport = () => {
    throw new Error('it was asked for again');
  };
  const place = placeOf(store, undefined, cache);
  await place.list();
  expect(place.card(name)?.info.spanCount).toBe(6);
  store.transport = transport;
  await (await place.open(name, new BlockCache(1000))).close();
});

test('what opening a long upload reads is still there when it has been folded in', async () => {
  const store = new MemoryStore();
  const spans = syntheticSpans({ traces: 18_000, spansPerTrace: 1, seed: 7 });
  const name = segmentName(spans[0].startUnixNs, spans[0].endUnixNs, newId(), false);
  await store.put(`fresh/${HOUR}/${name}`, await unsortedBytes(spans, 100));
  const cache = new DiskCache(newDirectory(), 10_000_000);
  expect(await namesIn(placeOf(store, undefined, cache))).toEqual([name]);
  await new BucketMaintainer(store).pass();
  const opened: Transport[] = [];
  const transportOf = store.transport.bind(store);
  store.transport = (key) => {
    opened.push(transportOf(key));
    return opened[opened.length - 1];
  };
  const place = placeOf(store, undefined, cache);
  expect(await namesIn(place)).toEqual([name]);
  expect(place.generation.live.get(name)).toBeDefined();
  await (await place.open(name, new BlockCache(1000))).close();
  expect(opened.map((transport) => transport.stats().requests)).toEqual([0]);
});

test('what is kept and is not as it was written is fetched again', async () => {
  const directory = newDirectory();
  const cache = new DiskCache(directory, 1_000_000);
  await cache.write('cards/1', Buffer.from('a card'));
  expect((await cache.read('cards/1'))?.toString()).toBe('a card');
  const [file] = filesOf(directory, /./);
  const bytes = readFileSync(join(directory, file));
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(join(directory, file), bytes);
  expect(await cache.read('cards/1')).toBeUndefined();
});

test('what is kept is bounded', async () => {
  const directory = newDirectory();
  const cache = new DiskCache(directory, 20 * 1024 * 1024);
  for (let i = 0; i < 12; i++) await cache.write(`cards/${i}`, Buffer.alloc(4 * 1024 * 1024, i));
  expect(filesOf(directory, /./).length).toBeLessThanOrEqual(6);
});

test('what many processes keep that write little is bounded', async () => {
  const directory = newDirectory();
  for (let i = 0; i < 12; i++) {
    // An hour later.
    for (const file of filesOf(directory, /^pruned$/)) utimesSync(join(directory, file), 1, 1);
    await new DiskCache(directory, 1_000_000).write(`cards/${i}`, Buffer.alloc(400_000, i));
  }
  expect(filesOf(directory, /^[0-9a-f]{32}$/).length).toBeLessThanOrEqual(3);
});
