// A search gives the digests people must look at: by query, status, ignore rules and head, each once a test, in one order, in pages.
import { expect, test } from 'vitest';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import type { DigestSearch } from '../../src/gold/search-digests.js';
import { onBothEngines } from '../support/on-both-engines.js';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(32));

onBothEngines('a search', (engine) => {
  const open = async (): Promise<GoldStore> => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const put = (commit: number, name: string, os: string, digest: string, ext = 'png') =>
      store.put(commit, [{ params: { name, os }, options: { ext }, digest }], 1000 + commit);
    await put(3, 'circle', 'linux', A);
    await put(5, 'circle', 'linux', B);
    await put(3, 'circle', 'mac', A);
    await put(4, 'circle', 'mac', A);
    await put(5, 'square', 'linux', A, 'pdf');
    await put(5, 'square', 'mac', C);
    await put(5, 'square', 'win', D);
    return store;
  };
  const found = async (store: GoldStore, search: DigestSearch): Promise<string[]> => {
    const { results } = await store.search(10, search);
    return results.map(({ test, digest, status, traces }) => `${test} ${digest[0]} ${status} ${traces.length}`);
  };

  test('gives what is untriaged, at head and not ignored', async () => {
    const store = await open();
    expect(await found(store, {})).toEqual([
      'circle a untriaged 1',
      'circle b untriaged 1',
      'square a untriaged 1',
      'square c untriaged 1',
      'square d untriaged 1',
    ]);
    await store.expectations.triage(
      [
        { test: 'circle', digest: A, status: 'positive' },
        { test: 'square', digest: C, status: 'negative' },
      ],
      { by: 'ada' },
    );
    expect(await found(store, {})).toEqual(['circle b untriaged 1', 'square a untriaged 1', 'square d untriaged 1']);
    expect(await found(store, { statuses: ['positive', 'negative'] })).toEqual([
      'circle a positive 1',
      'square c negative 1',
    ]);
    expect(await found(store, { statuses: ['positive'], head: false })).toEqual(['circle a positive 2']);
    expect(await found(store, { statuses: [] })).toEqual([]);
    expect(await found(store, { query: 'os=mac&os=win' })).toEqual(['square d untriaged 1']);
    // Options are searched like params.
    expect(await found(store, { query: 'ext=pdf' })).toEqual(['square a untriaged 1']);
    await store.ignores.create({ query: 'os=linux', expires: Date.now() + 3_600_000, by: 'ada' });
    await store.ignores.create({ query: 'os=win', expires: 1000, by: 'ada' });
    expect(await found(store, {})).toEqual(['square d untriaged 1']);
    expect((await store.search(10)).ignoredTraces).toBe(2);
    expect(await found(store, { ignored: 'only' })).toEqual(['circle b untriaged 1', 'square a untriaged 1']);
    expect(await found(store, { ignored: 'include' })).toHaveLength(3);
  });

  test('says where a digest is, and pages through all', async () => {
    const store = await open();
    const all = await store.search(10, { head: false, query: 'name=circle' });
    expect(
      all.results.map(({ digest, traces, firstCommit, lastCommit }) => [digest, traces, firstCommit, lastCommit]),
    ).toEqual([
      [A, [',name=circle,os=linux,', ',name=circle,os=mac,'], 3, 4],
      [B, [',name=circle,os=linux,'], 5, 5],
    ]);
    expect(all.results[0].paramSet.toJSON()).toEqual({ ext: ['png'], name: ['circle'], os: ['linux', 'mac'] });
    const pages: string[] = [];
    for (let offset = 0; ; offset += 2) {
      const { results, total, totals } = await store.search(10, { offset, limit: 2 });
      expect([total, totals]).toEqual([5, { untriaged: 5, positive: 0, negative: 0 }]);
      if (results.length === 0) break;
      pages.push(...results.map(({ test, digest }) => test + digest));
    }
    expect(pages).toEqual((await store.search(10)).results.map(({ test, digest }) => test + digest));
    // Only what the commits of the tile have.
    expect(await found(store, { query: 'name=circle' })).toHaveLength(2);
    expect((await store.search(1, { head: false })).results.map(({ test, digest }) => test + digest[0])).toEqual([
      'circleb',
      'squarea',
      'squarec',
      'squared',
    ]);
  });

  test('names the closest triaged digests by the distance it is given', async () => {
    const store = await open();
    await store.expectations.triage(
      [
        { test: 'square', digest: A, status: 'positive' },
        { test: 'square', digest: C, status: 'positive' },
      ],
      { by: 'ada' },
    );
    const distance = async (a: string, b: string) => Math.abs(a.charCodeAt(0) - b.charCodeAt(0));
    const { results } = await store.search(10, { query: 'name=square', distance });
    expect(results.map(({ digest, closest }) => [digest, closest])).toEqual([
      [D, { positive: { digest: C, distance: 1 }, negative: undefined, unmeasured: 0 }],
    ]);
    const unknown = await store.search(10, { query: 'name=square', distance: () => undefined });
    expect(unknown.results[0].closest).toEqual({ positive: undefined, negative: undefined, unmeasured: 0 });
    const search = store.search(10, { query: 'name=square', distance: () => Number.NaN });
    await expect(search).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test('blame by the store is that of its tile and expectations', async () => {
    const store = await open();
    await store.expectations.triage([{ test: 'square', digest: A, status: 'positive' }], { by: 'ada' });
    const blames = (await store.blame(10)).map(
      ({ test, digest, suspects }) => `${test} ${digest[0]} ${suspects.map(({ commit }) => commit)}`,
    );
    // All commits with data are in the tile, so what its first one has began there.
    expect(blames).toEqual(['circle a 3', 'circle b 4,5', 'square c 5', 'square d 5']);
    expect((await store.blame(2)).find(({ test, digest }) => test === 'circle' && digest === A)?.mayBeOlder).toBe(true);
  });

  test('wrong searches are refused', async () => {
    const store = await open();
    for (const bad of [
      { query: 'os' },
      { statuses: ['good'] },
      { ignored: 'yes' },
      { offset: -1 },
      { limit: 0 },
      { limit: 10_001 },
    ] as unknown as DigestSearch[]) {
      await expect(store.search(10, bad)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    }
    expect((await store.search(10, { testKey: 'nothing' })).total).toBe(0);
  });
});
