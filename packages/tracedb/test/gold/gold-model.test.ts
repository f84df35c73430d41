// Whatever is put, in whatever order and by whatever process, tiles and dense tiles are those of a plain model in memory.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { GoldEntry } from '../../src/gold/gold-entry.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { GoldModel, md5, plain } from './support/gold-model.js';

const NAMES = ['circle', 'square', 'text', 'path'];
const CONFIGS = ['8888', '565', 'gpu'];
const OSES = ['linux', 'mac', 'win'];

/** `arbitrary` in so many of `of` cases, else undefined. */
const sometimes = <T>(count: number, of: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: count, arbitrary }, { weight: of - count, arbitrary: fc.constant(undefined) });

const anyEntry: fc.Arbitrary<GoldEntry> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    config: fc.constantFrom(...CONFIGS),
    // Not every trace has every key, and some bring a value of their own.
    os: sometimes(7, 10, fc.constantFrom(...OSES)),
    extra: sometimes(
      1,
      20,
      fc.nat(99).map((n) => `x${n}`),
    ),
    options: sometimes(
      4,
      10,
      fc.record({ ext: fc.constantFrom('png', 'a b,c=d', 'ü'), n: fc.constantFrom('0', '1', '2') }),
    ),
    digest: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 9, arbitrary: fc.nat(59).map(md5) }),
  })
  .map(({ name, config, os, extra, options, digest }) => ({
    params: { name, config, ...(os !== undefined && { os }), ...(extra !== undefined && { extra }) },
    ...(options !== undefined && { options }),
    digest,
  }));

const anyPut = fc.record({
  kind: fc.constant('put' as const),
  writer: fc.nat(1),
  commit: fc.nat(49),
  time: fc.nat(19).map((n) => 1_000_000 + n * 1000),
  entries: fc.array(anyEntry, { maxLength: 7 }),
});
const anyRead = fc.record({ kind: fc.constant('read' as const), n: fc.integer({ min: 1, max: 60 }), last: fc.nat(59) });
const anySteps = fc.array(fc.oneof({ weight: 4, arbitrary: anyPut }, { weight: 1, arbitrary: anyRead }), {
  size: 'max',
  maxLength: 40,
});

onBothEngines('a Gold store', (engine) => {
  test('gives the tiles of the model after any puts', { timeout: samples(240_000, 240_000, 2_400_000) }, async () => {
    let evicted = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(4, 7, 16), anySteps, async (tileSize, steps) => {
        const table = await engine.table(GOLD_SCHEMA);
        // Two writers and a reader that shares nothing with them, with a cache so small that it always forgets.
        const writers = [await GoldStore.open(table, { tileSize, idBatch: 3 }), await GoldStore.open(table)];
        const reader = await GoldStore.open(table, { cachedDigests: 4, shardReads: 3 });
        const model = new GoldModel(tileSize);
        const compare = async (n: number, last: number): Promise<void> => {
          expect(plain(await reader.getTile(n))).toEqual(model.tile(n));
          expect(plain(await reader.getDenseTile(n))).toEqual(model.denseTile(n));
          expect(plain(await reader.getTile(n, { last }))).toEqual(model.tile(n, last));
          expect(plain(await reader.getDenseTile(n, { last }))).toEqual(model.denseTile(n, last));
        };
        for (const step of steps) {
          if (step.kind === 'read') await compare(step.n, step.last);
          else {
            model.put(step.commit, step.entries, step.time);
            await writers[step.writer]?.put(step.commit, step.entries, step.time);
          }
        }
        await compare(60, 30);
        evicted += reader.stats().digests.evicted;
        await table.close();
      }),
      { numRuns: samples(3, 2, 100) },
    );
    // Else the cache was never too small.
    expect(evicted).toBeGreaterThan(0);
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
