// Maintainers fold, merge, retire and delete, and at each moment every span is found exactly once: whoever of them is paused or killed at whatever request,
// and whenever copies of an upload come; and no object goes that a reader may still be reading.
import { expect, test } from 'vitest';
import { BucketMaintainer } from '../../src/bucket/bucket-maintenance.js';
import { BucketPlace } from '../../src/bucket/bucket-place.js';
import { Catalogue } from '../../src/bucket/catalogue.js';
import { openCatalogue } from '../../src/bucket/catalogue-reader.js';
import type { CatalogueState } from '../../src/bucket/catalogue-state.js';
import { CATALOGUE_KEY, freshKey, hourOf, timelineKey } from '../../src/bucket/keys.js';
import { Segment } from '../../src/segment/segment.js';
import { MemoryStore } from './support/memory-store.js';
import { expectExactly, makeUpload, putUpload, readAll, type Upload } from './support/shop.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const keysOf = (store: MemoryStore, prefix: string): string[] =>
  [...store.objects.keys()].filter((key) => key.startsWith(prefix)).sort();

const newest = (store: MemoryStore): Promise<CatalogueState> => new Catalogue(store).read();

/** A store with some uploads of this hour. */
const storeWith = async (count: number, isSorted = (_: number): boolean => true) => {
  const store = new MemoryStore();
  const uploads: Upload[] = [];
  for (let i = 0; i < count; i++) {
    uploads.push(await makeUpload(100 * i, 3, store.now + 1000 * i, isSorted(i)));
    await putUpload(store, uploads[i]);
  }
  return { store, uploads };
};

test('uploads are folded where they are, and merged when there are enough', async () => {
  const { store, uploads } = await storeWith(3);
  const maintainer = new BucketMaintainer(store);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ passes: 1, folded: 3, merged: 0, deleted: 0, failures: 0, commits: 1 });
  expect([...(await newest(store)).live.values()].map(({ key }) => key).sort()).toEqual(keysOf(store, 'fresh/'));
  expectExactly(await readAll(store), uploads);

  uploads.push(await makeUpload(900, 3, store.now, false));
  await putUpload(store, uploads[3]);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 4, merged: 4, written: 1, deleted: 0 });
  const [merged] = (await newest(store)).live.values();
  expect(merged.key).toMatch(/^segments\/seg-.*\.spans$/);
  expect(merged.info).toMatchObject({ spanCount: 12, traceCount: 4 });
  expectExactly(await readAll(store), uploads);
  // What was merged is there until the grace is over.
  expect(keysOf(store, 'fresh/')).toHaveLength(4);
});

test('an archive that another makes between two looks of one is not taken for one that lost its catalogue', async () => {
  const { store, uploads } = await storeWith(4);
  store.before = async (call, key) => {
    if (call !== 'list' || key !== 'generations/') return;
    store.before = () => {};
    const other = new BucketMaintainer(store);
    await other.pass();
    await other.pass();
  };
  await new BucketMaintainer(store).pass();
  expectExactly(await readAll(store), uploads);
  // One that did lose it is damaged, for every reader.
  store.objects.delete(CATALOGUE_KEY);
  await expect(newest(store)).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_DAMAGED' });
});

test('what is dead is deleted after the grace, and nothing is written any more when nothing happens', async () => {
  const { store, uploads } = await storeWith(4);
  const maintainer = new BucketMaintainer(store, { graceMs: 10 * MINUTE });
  await maintainer.pass();
  // Since when they are dead is known by the next generation.
  await maintainer.pass();
  store.now += 10 * MINUTE;
  await maintainer.pass();
  expect(keysOf(store, 'fresh/')).toHaveLength(4);
  store.now += 2000;
  await maintainer.pass();
  expect(keysOf(store, 'fresh/')).toEqual([]);
  expectExactly(await readAll(store), uploads);
  const { commits } = maintainer.stats();
  for (let i = 0; i < 20; i++) {
    store.now += 20 * MINUTE;
    await maintainer.pass();
  }
  // One closes the hour of the uploads, and one packs their names.
  expect(maintainer.stats().commits).toBe(commits + 2);
  expect(maintainer.stats()).toMatchObject({ failures: 0, orphans: 0 });
  expectExactly(await readAll(store), uploads);
});

test('an upload that is copied, late, or late and copied is found once', async () => {
  const { store, uploads } = await storeWith(1);
  const maintainer = new BucketMaintainer(store);
  const [first] = uploads;
  const [ten, eleven] = [hourOf(store.now), hourOf(store.now + HOUR)];
  // A ghost in another hour before anything is folded.
  await putUpload(store, first, eleven);
  expectExactly(await readAll(store), uploads);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 1, copies: 1, stragglers: 0 });
  expectExactly(await readAll(store), uploads);
  // The hour is over, and an upload comes under it all the same: the next look finds it.
  store.now += 2 * HOUR;
  await maintainer.pass();
  expect((await newest(store)).listFrom).toBe(hourOf(store.now - 10 * MINUTE));
  const late = await makeUpload(500, 3, store.now);
  await putUpload(store, late, ten);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 2, stragglers: 1 });
  expectExactly(await readAll(store), [...uploads, late]);
  // A copy of what was folded long ago, under an hour that nobody lists.
  await putUpload(store, first, '2026-11-27T09');
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 2, copies: 2 });
  // One of this hour, by a maintainer that has seen nothing of all that.
  store.now += DAY;
  await putUpload(store, first);
  await new BucketMaintainer(store).pass();
  expectExactly(await readAll(store), [...uploads, late]);
  for (let i = 0; i < 3; i++) {
    await maintainer.pass();
    store.now += HOUR;
  }
  expectExactly(await readAll(store), [...uploads, late]);
  expect(keysOf(store, 'fresh/')).toEqual([freshKey(ten, first.name), freshKey(ten, late.name)].sort());
});

test('a clock of the store that was ahead hides no upload', async () => {
  const { store, uploads } = await storeWith(1);
  const maintainer = new BucketMaintainer(store);
  const add = async (n: number): Promise<void> => {
    const upload = await makeUpload(n, 3, store.now);
    await putUpload(store, upload);
    uploads.push(upload);
  };
  const place = new BucketPlace(store, openCatalogue(store, new Catalogue(store), undefined), undefined);
  const listed = async (): Promise<string[]> => (await place.list()).segments.map(({ name }) => name).sort();
  const names = (): string[] => uploads.map(({ name }) => name).sort();
  store.now += 5 * HOUR;
  await maintainer.pass();
  expect((await newest(store)).listFrom).toBe(hourOf(store.now - 10 * MINUTE));
  store.now -= 5 * HOUR;
  // Before any maintainer looks again.
  await add(500);
  expect(await listed()).toEqual(names());
  await maintainer.pass();
  expect((await newest(store)).listFrom).toBe(hourOf(store.now - 10 * MINUTE));
  const { commits } = maintainer.stats();
  await maintainer.pass();
  expect(maintainer.stats().commits).toBe(commits);
  // Nor when none looks for hours.
  store.now += HOUR;
  await add(600);
  store.now += 3 * HOUR;
  expect(await listed()).toEqual(names());
  expectExactly(await readAll(store), uploads);
});

test('a copy is kept while the other cannot be read', async () => {
  const { store, uploads } = await storeWith(1);
  const [first] = uploads;
  const [here, copy] = [freshKey(hourOf(store.now), first.name), freshKey(hourOf(store.now + HOUR), first.name)];
  await putUpload(store, first, hourOf(store.now + HOUR));
  const { transport } = store;
  store.transport = (key) => {
    if (key === here) throw new Error('no answer');
    return transport.call(store, key);
  };
  const maintainer = new BucketMaintainer(store);
  await expect(maintainer.pass()).rejects.toThrow('no answer');
  expect((await newest(store)).isDead(copy)).toBe(false);
  store.transport = transport;
  await maintainer.pass();
  expectExactly(await readAll(store), uploads);
});

test('uploads that are damaged are told, stay where they are, and keep nothing else back', async () => {
  const { store, uploads } = await storeWith(6);
  const damaged = freshKey(hourOf(store.now), uploads[2].name);
  const bytes = store.objects.get(damaged) as Buffer;
  bytes.fill(0, bytes.length - 20);
  const maintainer = new BucketMaintainer(store);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({
    folded: 5,
    merged: 5,
    damaged: [{ file: `s3://memory/archive/${damaged}` }],
  });
  store.now += DAY;
  for (let i = 0; i < 4; i++) {
    await maintainer.pass({ all: true });
    store.now += HOUR;
  }
  expect(keysOf(store, 'fresh/')).toEqual([damaged]);
  expectExactly(
    await readAll(store),
    uploads.filter((_, i) => i !== 2),
  );
});

test('a segment that turns out to be damaged when it is merged stays, and so does what would be merged with it', async () => {
  const { store, uploads } = await storeWith(3);
  const maintainer = new BucketMaintainer(store);
  await maintainer.pass();
  const bytes = store.objects.get(freshKey(hourOf(store.now), uploads[1].name)) as Buffer;
  bytes.fill(0xff, 100, 140);
  uploads.push(await makeUpload(900, 3, store.now));
  await putUpload(store, uploads[3]);
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 4, merged: 0, damaged: [{ code: 'ERR_SPANLINE_GRAPH_CORRUPT' }] });
  expect((await newest(store)).live.size).toBe(4);
  await maintainer.pass({ all: true });
  expect(maintainer.stats()).toMatchObject({ merged: 3, written: 1 });
  expect((await newest(store)).live.size).toBe(2);
});

test('what is too old or too much goes by the time of the store, with the timelines of that time', async () => {
  const store = new MemoryStore();
  const uploads: Upload[] = [];
  const start = store.now;
  for (let i = 0; i < 6; i++) {
    store.now = start + i * 10 * HOUR;
    // Whatever its writer took for the time.
    uploads.push(await makeUpload(100 * i, 3, (9 - i) * DAY));
    await putUpload(store, uploads[i]);
    await store.put(timelineKey(hourOf(store.now), uploads[i].name, 1, 2), Buffer.from('{}'));
  }
  const maintainer = new BucketMaintainer(store, { maxAgeMs: 35 * HOUR });
  await maintainer.pass();
  expect(maintainer.stats()).toMatchObject({ folded: 6, retired: 2 });
  expectExactly(await readAll(store), uploads.slice(2));
  expect(keysOf(store, 'timelines/')).toHaveLength(4);
  // The newest of as many bytes.
  const [, , , , before, last] = uploads;
  await maintainer.retain({ maxBytes: before.bytes.length + last.bytes.length });
  expectExactly(await readAll(store), [before, last]);
  expect(keysOf(store, 'timelines/')).toHaveLength(2);
  await maintainer.pass();
  store.now += HOUR;
  await maintainer.pass();
  expect(keysOf(store, 'fresh/')).toHaveLength(2);
  expect(maintainer.stats()).toMatchObject({ folded: 6, retired: 4, copies: 0 });
});

test('what was put by one that died is deleted when nobody can name it any more', async () => {
  const { store, uploads } = await storeWith(4);
  const killed = new BucketMaintainer(store);
  store.before = (call, key) => {
    if (call === 'put' && key === 'catalogue.json') throw new Error('killed');
  };
  await expect(killed.pass()).rejects.toThrow('killed');
  store.before = () => {};
  const once = new BucketMaintainer(store);
  await once.pass();
  store.before = (call, key) => {
    if (call === 'put' && key === 'catalogue.json') throw new Error('killed');
  };
  uploads.push(await makeUpload(800, 3, store.now));
  await putUpload(store, uploads[4]);
  await expect(new BucketMaintainer(store).pass({ all: true })).rejects.toThrow('killed');
  store.before = () => {};
  const left = [...store.objects.keys()].length;
  for (let i = 0; i < 60; i++) {
    await once.pass({ all: true });
    store.now += HOUR;
  }
  expect(once.stats().orphans).toBeGreaterThan(0);
  expect(keysOf(store, 'segments/')).toHaveLength(1);
  expect(keysOf(store, 'probe/')).toEqual([]);
  expect([...store.objects.keys()].length).toBeLessThan(left);
  expectExactly(await readAll(store), uploads);
});

test('what others keep under the same prefix is never taken for an orphan', async () => {
  const { store, uploads } = await storeWith(2);
  const foreign = [
    'segments/catalogue.json',
    'cards/2026/card.pdf',
    'generations/one.txt',
    'folded/x',
    'probe/data/seg',
  ];
  for (const key of foreign) await store.put(key, Buffer.from('of others'));
  const maintainer = new BucketMaintainer(store);
  for (let i = 0; i < 60; i++) {
    await maintainer.pass({ all: true });
    store.now += HOUR;
  }
  expect([...store.objects.keys()].filter((key) => foreign.includes(key))).toEqual(foreign);
  expectExactly(await readAll(store), uploads);
});

test('a merge that was paused until its file was taken for an orphan is not named', async () => {
  const { store, uploads } = await storeWith(4);
  const paused = new BucketMaintainer(store);
  await new BucketMaintainer(store, { mergedSpans: 1 }).pass();
  let isFirst = true;
  store.before = async (call, key) => {
    // Its merged segment is there, and the packs of its generation.
    if (!(isFirst && call === 'put' && key.startsWith('generations/'))) return;
    isFirst = false;
    const other = new BucketMaintainer(store, { mergedSpans: 1 });
    for (let i = 0; i < 60; i++) {
      store.now += HOUR;
      await other.pass({ all: true });
    }
    expect(keysOf(store, 'segments/')).toEqual([]);
  };
  await paused.pass({ all: true });
  store.before = () => {};
  expect(isFirst).toBe(false);
  expect(paused.stats().lostMerges).toBeGreaterThan(0);
  expectExactly(await readAll(store), uploads);
});

test('of two that merge the same segments one has done it', async () => {
  const { store, uploads } = await storeWith(4);
  const [one, other] = [new BucketMaintainer(store), new BucketMaintainer(store)];
  store.before = async (call, key) => {
    if (call !== 'put' || !key.startsWith('segments/')) return;
    store.before = () => {};
    await other.pass({ all: true });
  };
  await one.pass();
  expect(other.stats()).toMatchObject({ merged: 4, lostMerges: 0 });
  expect(one.stats()).toMatchObject({ merged: 0, lostMerges: 1, failures: 0 });
  expectExactly(await readAll(store), uploads);
});

test('while one merges the others leave it to that one, until it has been silent for long', async () => {
  const { store, uploads } = await storeWith(4);
  const [one, other] = [new BucketMaintainer(store), new BucketMaintainer(store)];
  store.before = async (call, key) => {
    if (call !== 'put' || !key.startsWith('segments/')) return;
    store.before = () => {};
    await other.pass();
  };
  await one.pass();
  expect(other.stats()).toMatchObject({ merged: 0, lostMerges: 0 });
  expect(one.stats()).toMatchObject({ merged: 4, lostMerges: 0 });

  // It dies in the middle of the next.
  for (let i = 10; i < 14; i++) {
    const upload = await makeUpload(100 * i, 3, store.now + 1000 * i);
    await putUpload(store, upload);
    uploads.push(upload);
  }
  store.before = (call, key) => {
    if (call === 'put' && key.startsWith('segments/')) throw new Error('killed');
  };
  await expect(one.pass()).rejects.toThrow('killed');
  store.before = () => {};
  await other.pass();
  expect(other.stats().merged).toBe(0);
  store.now += 130_000;
  await other.pass();
  expect(other.stats().merged).toBeGreaterThan(0);
  expectExactly(await readAll(store), uploads);
});

test('a turn that was taken while the clock was wrong keeps nobody from merging', async () => {
  const { store, uploads } = await storeWith(4);
  const rightMs = store.now;
  store.before = (call, key) => {
    if (call === 'put' && key.startsWith('segments/')) throw new Error('killed');
  };
  store.now += 365 * DAY;
  await expect(new BucketMaintainer(store).pass()).rejects.toThrow('killed');
  store.before = () => {};
  store.now = rightMs;
  const maintainer = new BucketMaintainer(store);
  await maintainer.pass();
  expect(maintainer.stats().merged).toBe(4);
  expectExactly(await readAll(store), uploads);
});

test('a store that passes over conditions is not maintained', async () => {
  for (const option of ['ifAbsent', 'ifMatch'] as const) {
    const { store } = await storeWith(1);
    const { put } = store;
    store.put = (key, bytes, options) => put.call(store, key, bytes, { ...options, [option]: undefined });
    const maintainer = new BucketMaintainer(store);
    await expect(maintainer.pass()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_NOT_CONDITIONAL' });
    expect(keysOf(store, '')).toEqual(keysOf(store, 'fresh/'));
  }
});

test('in the background it goes on after a failure, and ends when it is told', async () => {
  const { store, uploads } = await storeWith(4);
  let fails = 2;
  store.before = (call) => {
    if (call === 'list' && fails-- > 0) throw new Error('no answer');
  };
  const maintainer = new BucketMaintainer(store);
  maintainer.start(1);
  await expect.poll(() => maintainer.stats().merged).toBe(4);
  await maintainer.stop();
  const { passes, failures } = maintainer.stats();
  expect(failures).toBe(2);
  expectExactly(await readAll(store), uploads);
  await maintainer.pass().catch(() => {});
  expect(maintainer.stats().passes).toBe(passes);
});

test('a segment that was read before it was merged goes on being read by whoever has it open', async () => {
  const { store, uploads } = await storeWith(4);
  await new BucketMaintainer(store, { mergedSpans: 1 }).pass();
  const state = await newest(store);
  const [card] = state.live.values();
  const segment = await Segment.open(store.transport(card.key));
  await new BucketMaintainer(store).pass({ all: true });
  expect((await newest(store)).live.size).toBe(1);
  expect(uploads.some(({ name }) => name === card.name)).toBe(true);
  expect(segment.info.spanCount).toBe(3);
  await segment.close();
});
