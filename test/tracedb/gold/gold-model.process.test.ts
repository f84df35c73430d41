// Whatever is put, in whatever order and by whatever process, tiles and dense tiles are those of a plain model in memory.
import { describe, expect, test } from 'vitest';
import type { GoldEntry } from '../../../src/tracedb/gold/gold-entry.js';
import { GOLD_SCHEMA } from '../../../src/tracedb/gold/gold-keys.js';
import { GoldStore } from '../../../src/tracedb/gold/gold-store.js';
import { someOf } from '../../support/rounds.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { pick, seeded } from '../support/random.js';
import { GoldModel, md5, plain } from './support/gold-model.js';

const NAMES = ['circle', 'square', 'text', 'path'];
const CONFIGS = ['8888', '565', 'gpu'];
const OSES = ['linux', 'mac', 'win'];

const randomEntry = (random: () => number): GoldEntry => ({
  params: {
    name: pick(random, NAMES),
    config: pick(random, CONFIGS),
    // Not every trace has every key, and some bring a value of their own.
    ...(random() < 0.7 && { os: pick(random, OSES) }),
    ...(random() < 0.05 && { extra: `x${Math.floor(random() * 100)}` }),
  },
  ...(random() < 0.4 && { options: { ext: pick(random, ['png', 'a b,c=d', 'ü']), n: `${Math.floor(random() * 3)}` } }),
  digest: random() < 0.1 ? '' : md5(Math.floor(random() * 60)),
});

onBothEngines('a Gold store', (engine) => {
  describe.each(someOf([1, 2, 3]))('seed %i', (seed) => {
    test('gives the tiles of the model after random puts', async () => {
      const random = seeded(seed);
      const table = await engine.table(GOLD_SCHEMA);
      const tileSize = pick(random, [4, 7, 16]);
      // Two writers and a reader that shares nothing with them, with a cache so small that it always forgets.
      const writers = [await GoldStore.open(table, { tileSize, idBatch: 3 }), await GoldStore.open(table)];
      const reader = await GoldStore.open(table, { cachedDigests: 4, shardReads: 3 });
      const model = new GoldModel(tileSize);
      expect(plain(await reader.getTile(5))).toEqual(model.tile(5));
      for (let round = 0; round < 40; round++) {
        const commit = Math.floor(random() * 50);
        const time = 1_000_000 + Math.floor(random() * 20) * 1000;
        const entries = Array.from({ length: Math.floor(random() * 8) }, () => randomEntry(random));
        model.put(commit, entries, time);
        await pick(random, writers).put(commit, entries, time);
        if (round % 4 !== 0) continue;
        const n = 1 + Math.floor(random() * 60);
        expect(plain(await reader.getTile(n))).toEqual(model.tile(n));
        expect(plain(await reader.getDenseTile(n))).toEqual(model.denseTile(n));
        const last = Math.floor(random() * 60);
        expect(plain(await reader.getTile(n, { last }))).toEqual(model.tile(n, last));
        expect(plain(await reader.getDenseTile(n, { last }))).toEqual(model.denseTile(n, last));
      }
      expect(reader.stats().digests.evicted).toBeGreaterThan(0);
    });
  });

  test('lists each digest once, each tile newest first, and every cell of a tile', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table, { tileSize: 10 });
    for (let commit = 0; commit < 30; commit += 5) {
      const entries = NAMES.map((name) => ({ params: { name }, digest: md5(`${name}${commit % 10}`) }));
      await store.put(commit, entries, 1000);
    }
    const tiles: number[] = [];
    for await (const tile of store.tiles()) tiles.push(tile);
    expect(tiles).toEqual([2, 1, 0]);
    const digests: string[] = [];
    for await (const batch of store.digests()) digests.push(...batch);
    expect(digests.sort()).toEqual(NAMES.flatMap((name) => [md5(`${name}0`), md5(`${name}5`)]).sort());
    const cells: string[] = [];
    for await (const batch of store.traces(1)) {
      for (const { id, commits, digests: found } of batch) {
        for (const [i, commit] of commits.entries()) cells.push(`${id} ${commit} ${found[i]}`);
      }
    }
    const expected = NAMES.flatMap((name) => [10, 15].map((at) => `,name=${name}, ${at} ${md5(`${name}${at % 10}`)}`));
    expect(cells.sort()).toEqual(expected.sort());
  });

  test('two names for one thing: params in another order are the same trace, in all tiles', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table, { tileSize: 2 });
    await store.put(0, [{ params: { z: '1' }, digest: md5(0) }], 1);
    await store.put(1, [{ params: { b: '2', a: '1' }, digest: md5(1) }], 1);
    await store.put(2, [{ params: { a: '1', b: '2' }, digest: md5(2) }], 1);
    const { traces, commits, paramSet } = await store.getTile(3);
    expect(commits).toEqual([0, 1, 2]);
    expect(traces.map(({ id, digests }) => [id, ...digests])).toEqual([
      [',a=1,b=2,', '', md5(1), md5(2)],
      [',z=1,', md5(0), '', ''],
    ]);
    expect(paramSet.toJSON()).toEqual({ a: ['1'], b: ['2'], z: ['1'] });
  });
});
