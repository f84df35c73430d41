// A catalogue has exactly the segments that were added and not removed, whoever changes it at the same time, whatever is lost on the way; and names what is
// dead as long as it may be there.
import { createHash } from 'node:crypto';
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { BucketCard } from '../../src/bucket/card.js';
import { decodePack, encodePack } from '../../src/bucket/card-pack.js';
import { Catalogue } from '../../src/bucket/catalogue.js';
import type { CatalogueState } from '../../src/bucket/catalogue-state.js';
import { decodeGeneration, encodeGeneration, encodePointer, NO_GENERATION } from '../../src/bucket/generation.js';
import { Heads } from '../../src/bucket/heads.js';
import { CATALOGUE_KEY, freshKey, hourOf } from '../../src/bucket/keys.js';
import { unzipText } from '../../src/bucket/zipped-text.js';
import { cardOf, nameOf, wordsOf } from './support/cards.js';
import { MemoryStore } from './support/memory-store.js';

const HOUR = 3_600_000;

const bytesOfWord = (word: number): Uint8Array => {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(word, 12);
  return id;
};

const numbers = (state: CatalogueState): number[] =>
  [...state.live.values()].map(({ info }) => info.spanCount).sort((a, b) => a - b);

/** Throws unless the state is whole: each live card as it was made, each object that is named there. */
const expectWhole = (store: MemoryStore, state: CatalogueState, expected: Iterable<number>): void => {
  expect(numbers(state)).toEqual([...expected].sort((a, b) => a - b));
  expect(state.damaged).toEqual([]);
  for (const { pack } of state.packs) expect(store.objects.has(pack.key)).toBe(true);
  for (const card of state.live.values()) {
    const { filter, ...rest } = card;
    const made = cardOf(card.info.spanCount, /^fresh\/([^/]+)/.exec(card.key)?.[1]);
    expect({ ...rest, filter: undefined }).toEqual({ ...made, filter: undefined });
    for (const word of wordsOf(card.info.spanCount)) expect(filter?.mayHave(bytesOfWord(word)) ?? true).toBe(true);
  }
};

test('an archive that nobody has made yet has nothing', async () => {
  const state = await new Catalogue(new MemoryStore()).read();
  expect([state.number, state.live.size, state.listFrom, state.knows(nameOf(1))]).toEqual([0, 0, '', false]);
});

test('what is committed is read by another, and only once', async () => {
  const store = new MemoryStore();
  const [one, other] = [new Catalogue(store), new Catalogue(store)];
  const cards = Array.from({ length: 250 }, (_, n) => cardOf(n));
  await one.update(() => ({ add: cards }));
  const state = await other.read();
  expectWhole(store, state, cards.keys());
  expect(await other.read()).toBe(state);
  // Packs have a hundred each.
  expect(state.packs).toHaveLength(3);
  const { requests } = store.stats();
  await one.update(() => ({ add: [cardOf(1000)] }));
  await other.read();
  // A pack, a generation, the catalogue; then the catalogue, the generation and the new pack.
  expect(store.stats().requests - requests).toBe(1 + 3 + 3);
});

test('of writers at the same time each gets its change in, made of what was there', async () => {
  const store = new MemoryStore();
  const catalogues = Array.from({ length: 5 }, () => new Catalogue(store));
  await Promise.all(
    catalogues.map(async (catalogue, i) => {
      for (let n = 0; n < 6; n++) await catalogue.update((state) => ({ add: [cardOf(100 * state.live.size + i)] }));
    }),
  );
  const state = await catalogues[0].read();
  expect(state.live.size).toBe(30);
  // Each was made of another number of live ones.
  expect(new Set(numbers(state).map((n) => Math.floor(n / 100))).size).toBe(30);
  expect(state.number).toBe(30);
});

test('a commit whose answer was lost is known for done', async () => {
  const store = new MemoryStore();
  const catalogue = new Catalogue(store);
  // A store gives no tag here: what was committed is read back.
  const { put } = store;
  store.put = async (...given) => {
    const done = await put.apply(store, given);
    return given[0] === CATALOGUE_KEY ? undefined : done;
  };
  await catalogue.update(() => ({ add: [cardOf(1)] }));
  expect(catalogue.stats()).toEqual({ commits: 1, conflicts: 0 });
  expectWhole(store, await new Catalogue(store).read(), [1]);
});

test('a generation that is gone was replaced, and the newest is read; where it is the newest that is damage', async () => {
  const store = new MemoryStore();
  const writer = new Catalogue(store);
  await writer.update(() => ({ add: [cardOf(1)] }));
  const reader = new Catalogue(store);
  let isFirst = true;
  store.before = async (call, key) => {
    if (!isFirst || call !== 'get' || !key.startsWith('generations/')) return;
    isFirst = false;
    const first = key;
    await writer.update(() => ({ add: [cardOf(2)] }));
    store.objects.delete(first);
  };
  expectWhole(store, await reader.read(), [1, 2]);
  store.before = () => {};
  for (const key of store.objects.keys()) if (key.startsWith('generations/')) store.objects.delete(key);
  await expect(new Catalogue(store).read()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_DAMAGED' });
});

test('a pack that is damaged is told, the others answer, and nothing is changed', async () => {
  const store = new MemoryStore();
  const writer = new Catalogue(store);
  await writer.update(() => ({ add: Array.from({ length: 120 }, (_, n) => cardOf(n)) }));
  const [{ pack }] = (await writer.read()).packs.filter((one) => one.pack.cards === 20);
  const bytes = store.objects.get(pack.key) as Buffer;
  bytes[bytes.length - 1] ^= 1;
  const reader = new Catalogue(store);
  const state = await reader.read();
  expect(state.live.size).toBe(100);
  expect(state.damaged).toMatchObject([
    { code: 'ERR_SPANLINE_BUCKET_DAMAGED', file: `s3://memory/archive/${pack.key}` },
  ]);
  await expect(reader.update(() => ({ remove: [nameOf(3)] }))).rejects.toMatchObject({
    code: 'ERR_SPANLINE_BUCKET_DAMAGED',
  });
});

test('what is dead is so since the next generation, and until it is deleted', async () => {
  const store = new MemoryStore();
  const catalogue = new Catalogue(store);
  await catalogue.update(() => ({ add: [cardOf(1), cardOf(2)] }));
  const [before] = (await catalogue.read()).packs;
  store.now += 1000;
  const died = await catalogue.update(() => ({ remove: [nameOf(1)], dead: ['fresh/2026-11-27T09/copy'] }));
  const deadOf = (state: CatalogueState): Map<string, number | undefined> =>
    new Map(state.generation.dead.map(({ key, sinceMs }) => [key, sinceMs]));
  // One that is paused before its commit must not count its pause.
  expect(deadOf(died).get(cardOf(1).key)).toBeUndefined();
  expect(deadOf(died).has('fresh/2026-11-27T09/copy')).toBe(true);
  expect(died.knows(nameOf(1)) && died.isDead(cardOf(1).key)).toBe(true);
  expect(numbers(died)).toEqual([2]);
  store.now += 1000;
  const stamped = await catalogue.update(() => ({ add: [cardOf(3)] }));
  // The store tells whole seconds: it may be later by one.
  expect(deadOf(stamped).get(cardOf(1).key)).toBe(store.now + 1000);
  expect(deadOf(stamped).has(before.pack.key)).toBe(true);
  const deleted = await catalogue.update(() => ({ forget: new Set([cardOf(1).key]) }));
  expect(deadOf(deleted).has(cardOf(1).key)).toBe(false);
  expect(deadOf(deleted).has(died.key as string)).toBe(true);
});

test('an archive that lost its catalogue is not taken for a new one', async () => {
  const store = new MemoryStore();
  await new Catalogue(store).update(() => ({ add: [cardOf(1)] }));
  await new Catalogue(store).update(() => ({ add: [cardOf(2)] }));
  store.objects.delete(CATALOGUE_KEY);
  const change = new Catalogue(store).update(() => ({ add: [cardOf(3)] }));
  await expect(change).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_DAMAGED' });
  await expect(new Catalogue(store).read()).rejects.toThrow('put back one');
});

test('uploads that were folded are known as long as they may come again', async () => {
  const store = new MemoryStore();
  const catalogue = new Catalogue(store);
  const [ten, eleven, twelve] = [0, 1, 2].map((hours) => hourOf(store.now + hours * HOUR));
  const fold = (n: number, hour: string, listFrom = '') =>
    catalogue.update(() => ({ add: [cardOf(n, hour)], folded: [{ hour, name: nameOf(n) }], listFrom }));
  await fold(1, ten);
  const both = await fold(2, eleven);
  const listed = (n: number, hour: string) => ({
    key: freshKey(hour, nameOf(n)),
    size: 1,
    etag: '',
    lastModifiedMs: 0,
  });
  const fresh = both.freshOf([
    listed(1, ten),
    listed(1, eleven),
    listed(3, ten),
    listed(3, eleven),
    { ...listed(4, ten), key: 'fresh/x' },
  ]);
  expect([...fresh.values()].map(({ key }) => key)).toEqual([freshKey(ten, nameOf(3))]);
  // The hour is over: readers do not list it any more, and the name goes into a pack when a copy would have come.
  const closed = await catalogue.update(() => ({ remove: [nameOf(1)], listFrom: eleven }));
  expect(closed.generation.foldedPacks).toEqual([]);
  const state = await catalogue.update(() => ({ listFrom: twelve }));
  expect(state.listFrom).toBe(twelve);
  expect([...state.generation.folded.keys()]).toEqual([eleven]);
  const asked = new Set([nameOf(1), nameOf(2), nameOf(3)]);
  expect(await catalogue.foldedOf(state, asked)).toEqual(new Set([nameOf(1)]));
  // A pack is read once, and again only for a name that has the number of another.
  const { requests } = store.stats();
  expect(await catalogue.foldedOf(state, new Set([nameOf(2), nameOf(3)]))).toEqual(new Set());
  expect(store.stats().requests).toBe(requests);
  const sameNumber = nameOf(1).replace(/^seg-\d+/, 'seg-7');
  expect(await catalogue.foldedOf(state, new Set([sameNumber]))).toEqual(new Set());
  expect(store.stats().requests).toBe(requests + 1);
  // It never goes back.
  expect((await catalogue.update(() => ({ listFrom: ten, add: [cardOf(9)] }))).listFrom).toBe(twelve);
  store.now += 9 * 24 * HOUR;
  const late = await catalogue.update(() => ({ add: [cardOf(10)] }));
  expect(await catalogue.foldedOf(late, asked)).toEqual(new Set());
  expect(late.generation.dead.filter(({ key }) => key.startsWith('folded/'))).toHaveLength(1);
});

test('what another version or nobody has written is not taken for an archive', async () => {
  const store = new MemoryStore();
  const read = () => new Catalogue(store).read();
  store.objects.set(CATALOGUE_KEY, Buffer.from('{"version":2}'));
  await expect(read()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_VERSION' });
  for (const wrong of ['', '{', '{"version":1}', '{"version":1,"generation":-1,"key":"x"}', 'null']) {
    store.objects.set(CATALOGUE_KEY, Buffer.from(wrong));
    await expect(read(), wrong).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_DAMAGED' });
  }
  store.objects.set(CATALOGUE_KEY, encodePointer({ number: 3, key: 'generations/3-x' }));
  store.objects.set('generations/3-x', await encodeGeneration(NO_GENERATION));
  await expect(read()).rejects.toThrow('has another number than the catalogue says');
  store.objects.set('generations/3-x', Buffer.from('no'));
  await expect(read()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_DAMAGED' });
});

test('generations and packs come back as they were', async () => {
  const generation = {
    number: 7,
    listFrom: '2026-11-27T10',
    packs: [{ key: 'cards/a', cards: 3, gone: [1], bytes: 9, headsBytes: 0 }],
    dead: [
      { key: 'a', sinceMs: 5.5 },
      { key: 'b', sinceMs: undefined },
    ],
    folded: new Map([['2026-11-27T10', ['x', 'y']]]),
    foldedPacks: [{ key: 'folded/a', names: 2, lastMs: 4 }],
  };
  expect(await decodeGeneration(await encodeGeneration(generation), 'x')).toEqual(generation);
  const cards = Array.from({ length: 30 }, (_, n) => cardOf(n));
  const { pack: bytes } = await encodePack(cards);
  expect(await decodePack(bytes, 'x', '')).toEqual(cards);
  for (let at = 0; at < bytes.length; at += 7) {
    const damaged = Buffer.from(bytes);
    damaged[at] ^= 0x10;
    const read = await decodePack(damaged, 'x', '').catch((error: { code: string }) => error.code);
    // The head of gzip has bytes that mean nothing.
    if (read !== 'ERR_SPANLINE_BUCKET_DAMAGED') expect(read).toEqual(cards);
  }
});

test('what inflates to more than it may is refused before it is in memory', async () => {
  const MIB = 1024 * 1024;
  const zipped = gzipSync(Buffer.alloc(2 * MIB, ' '));
  expect(await unzipText(zipped, 2 * MIB)).toHaveLength(2 * MIB);
  await expect(unzipText(zipped, MIB)).rejects.toThrow('it has more than 1 MiB');
});

test('long heads lie beside the cards, come along when packs are written again, and die with them', async () => {
  const store = new MemoryStore();
  const catalogue = new Catalogue(store);
  const cardWith = (n: number): BucketCard => {
    const head = Buffer.alloc(9000 + n, n);
    return { ...cardOf(n), head, headBytes: head.length };
  };
  const keys = (prefix: string): string[] => [...store.objects.keys()].filter((key) => key.startsWith(prefix));
  const headsIn = async (state: CatalogueState): Promise<unknown> => {
    const heads = new Heads(store);
    const found = [...state.live.values()].map(
      async ({ head, headIn }) => head ?? (headIn && (await heads.get(headIn))),
    );
    return Promise.all(found);
  };
  const written = await catalogue.update(() => ({ add: [1, 2, 3].map(cardWith) }));
  const [first] = keys('heads/');
  const asked: string[] = [];
  store.before = (_, key) => void asked.push(key);
  expect(await headsIn(written)).toEqual([1, 2, 3].map((n) => cardWith(n).head));
  expect(asked).toEqual([first]);
  // Joined with new cards, by a maintainer that has read the cards alone.
  const joined = await new Catalogue(store).update(() => ({ add: [4, 5, 6].map(cardWith), remove: [nameOf(2)] }));
  expect(joined.packs).toHaveLength(1);
  expect(await headsIn(await new Catalogue(store).read())).toEqual([1, 3, 4, 5, 6].map((n) => cardWith(n).head));
  expect(joined.isDead(first)).toBe(true);
  expect(keys('heads/').filter((key) => !joined.isDead(key))).toEqual(
    keys('cards/')
      .filter((key) => !joined.isDead(key))
      .map((key) => key.replace('cards/', 'heads/')),
  );
  // One that is not what was written, or gone, is none.
  const [key] = keys('heads/').filter((one) => !joined.isDead(one));
  const object = store.objects.get(key) as Buffer;
  object[0] ^= 1;
  expect(await headsIn(joined)).toEqual([undefined, ...[3, 4, 5, 6].map((n) => cardWith(n).head)]);
  store.objects.delete(key);
  expect(await headsIn(joined)).toEqual([1, 3, 4, 5, 6].map(() => undefined));
  const last = await catalogue.update(() => ({ add: [cardWith(7)] }));
  expect(last.live.size).toBe(6);
});

test('objects are what docs/formats.md says of their bytes', async () => {
  const store = new MemoryStore();
  const cards = Array.from({ length: 12 }, (_, n) => cardOf(n));
  const long = Buffer.alloc(9000, 6);
  cards[6] = { ...cards[6], headBytes: long.length, head: long };
  await new Catalogue(store).update(() => ({ add: cards, folded: [{ hour: '2026-11-27T10', name: nameOf(3) }] }));
  const { version, generation, key } = JSON.parse(String(store.objects.get('catalogue.json')));
  expect([version, generation]).toEqual([1, 1]);
  const text = JSON.parse(String(gunzipSync(store.objects.get(key) as Buffer)));
  expect(text).toMatchObject({
    version: 1,
    number: 1,
    listFrom: '',
    dead: [],
    folded: { '2026-11-27T10': [nameOf(3)] },
  });
  const bytes = store.objects.get(text.packs[0].key) as Buffer;
  const heads = store.objects.get(text.packs[0].key.replace('cards/', 'heads/')) as Buffer;
  expect(text.packs).toEqual([
    { key: text.packs[0].key, cards: 12, gone: [], bytes: bytes.length, headsBytes: heads.length },
  ]);
  expect(bytes.toString('latin1', 0, 8)).toBe('SPLNCRD1');
  const blobsAt = 12 + bytes.readUInt32LE(8);
  const pack = JSON.parse(String(gunzipSync(bytes.subarray(12, blobsAt))));
  expect(createHash('sha256').update(bytes.subarray(blobsAt)).digest('hex')).toMatch(new RegExp(`^${pack.digest}`));
  let at = blobsAt;
  for (const [i, { name, spans, filterBytes, headBytes, headCrc, head: place, services }] of pack.cards.entries()) {
    const { filter, head } = cards[i];
    expect([name, spans]).toEqual([nameOf(i), i]);
    expect(services[1]).toEqual([`service ${i % 5}`, [[`GET /${i % 7}`, 2]]]);
    expect(bytes.subarray(at, at + filterBytes)).toEqual(filter?.encode() ?? Buffer.alloc(0));
    at += filterBytes;
    expect(place).toBe(head === undefined ? 'none' : i === 6 ? 'heads' : 'card');
    if (place === 'card') expect(bytes.subarray(at, at + headBytes)).toEqual(head);
    if (place === 'card') at += headBytes;
    expect(headCrc).toBe(place === 'heads' ? crc32(heads) : 0);
    if (place === 'heads') expect(heads).toEqual(head);
  }
  expect(at).toBe(bytes.length);
});

interface Step {
  readonly who: number;
  readonly add: number;
  readonly remove: number;
  /** The commit fails after so many puts of this change. */
  readonly dies: number;
}

test('a model of plain lists: what is live is what was added and not removed', async () => {
  const step: fc.Arbitrary<Step> = fc.record({
    who: fc.nat(2),
    add: fc.oneof({ weight: 5, arbitrary: fc.nat(8) }, { weight: 1, arbitrary: fc.integer({ min: 90, max: 220 }) }),
    remove: fc.nat(100),
    dies: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const store = new MemoryStore();
      const catalogues = Array.from({ length: 3 }, () => new Catalogue(store));
      const live = new Set<number>();
      const dead = new Set<number>();
      let next = 0;
      for (const { who, add, remove, dies } of steps) {
        const added = Array.from({ length: add }, () => next++);
        const removed = [...live].filter((n) => (n * 2_654_435_761) % 100 < remove);
        let puts = 0;
        store.before = (call) => {
          if (call === 'put' && ++puts === dies) throw new Error('killed');
        };
        const change = { add: added.map((n) => cardOf(n)), remove: removed.map((n) => nameOf(n)) };
        const isDone = await catalogues[who]
          .update(() => change)
          .then(
            () => true,
            () => false,
          );
        store.before = () => {};
        if (isDone) {
          for (const n of added) live.add(n);
          for (const n of removed) {
            live.delete(n);
            dead.add(n);
          }
        } else next = Math.max(next, ...added.map((n) => n + 1));
        const state = await catalogues[(who + 1) % 3].read();
        expectWhole(store, state, live);
        for (const n of dead) expect(state.isDead(cardOf(n).key)).toBe(true);
        const named = new Set(state.packs.map(({ pack }) => pack.key));
        for (const { key } of state.generation.dead) expect(named.has(key)).toBe(false);
      }
      expectWhole(store, await new Catalogue(store).read(), live);
    }),
    { numRuns: samples(15, 100, 500) },
  );
});
