// What changed at which commit: the digests that traces took on, newest commit first, with what they had before and what people said of both.
import { expect, test } from 'vitest';
import { type ChangeSearch, digestChanges } from '../../src/gold/digest-changes.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore, type TileOptions } from '../../src/gold/gold-store.js';
import { onBothEngines } from '../support/on-both-engines.js';

const digestOf = (letter: string): string => letter.repeat(32);

/** A history as rows of letters, a commit each: `.` has no result. */
type History = Readonly<Record<string, string>>;

onBothEngines('changes by commit', (engine) => {
  const open = async (history: History): Promise<GoldStore> => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA), { tileSize: 4 });
    const length = Math.max(...Object.values(history).map((row) => row.length));
    for (let commit = 0; commit < length; commit++) {
      const entries = Object.entries(history).flatMap(([name, row]) => {
        const [test, os] = name.split(' ');
        const letter = row[commit] ?? '.';
        return letter === '.' ? [] : [{ params: { name: test, os }, digest: digestOf(letter) }];
      });
      await store.put(commit, entries, 1000 + commit);
    }
    return store;
  };
  const drawn = async (
    store: GoldStore,
    search: ChangeSearch = {},
    commits = 100,
    options: TileOptions = {},
  ): Promise<string[]> => {
    const found = await digestChanges(store, commits, search, options);
    return found.commits.flatMap(({ commit, changes }) =>
      changes.map(({ test: name, digest, status, before, traces, firstSuspect }) => {
        const was = before === undefined ? 'nothing' : `${before.digest[0]} ${before.status}`;
        return `${commit}: ${name} ${was} -> ${digest[0]} ${status}, ${traces} since ${firstSuspect}`;
      }),
    );
  };
  const HISTORY: History = { 'circle linux': 'aab.ba', 'circle mac': 'aa.bba', 'square linux': '..cccd' };

  test('each commit has what traces took on there, and what they had before', async () => {
    const store = await open(HISTORY);
    await store.expectations.triage(
      [
        { test: 'circle', digest: digestOf('a'), status: 'positive' },
        { test: 'circle', digest: digestOf('b'), status: 'negative' },
      ],
      { by: 'ada' },
    );
    expect(await drawn(store)).toEqual([
      '5: circle b negative -> a positive, 2 since 5',
      '5: square c untriaged -> d untriaged, 1 since 5',
      '3: circle a positive -> b negative, 1 since 2',
      '2: circle a positive -> b negative, 1 since 2',
      '2: square nothing -> c untriaged, 1 since 2',
      '0: circle nothing -> a positive, 2 since 0',
    ]);
  });

  test('a commit at which a trace has no result is a suspect of what shows later, and no change of its own', async () => {
    expect(await drawn(await open({ 'circle linux': 'a..b', 'circle mac': 'aaab' }))).toEqual([
      '3: circle a untriaged -> b untriaged, 2 since 1',
      '0: circle nothing -> a untriaged, 2 since 0',
    ]);
    expect(await drawn(await open({ 'circle linux': 'a..a' }))).toEqual([
      '0: circle nothing -> a untriaged, 1 since 0',
    ]);
  });

  test('the first result in the tile is not a change where there may be earlier ones', async () => {
    const store = await open({ 'circle linux': 'aaaaaaaabbb', 'circle mac': '.........cc' });
    // Six commits reach back to a stored tile whose forerunner is not read.
    expect(await drawn(store, {}, 6)).toEqual(['8: circle a untriaged -> b untriaged, 1 since 8']);
    expect(await drawn(store, {}, 6, { last: 8 })).toEqual(['8: circle a untriaged -> b untriaged, 1 since 8']);
    expect(await drawn(store)).toContain('9: circle nothing -> c untriaged, 1 since 9');
  });

  test('query, ignore rules and statuses say which changes are told, and the answer says what they left out', async () => {
    const store = await open(HISTORY);
    await store.expectations.triage([{ test: 'circle', digest: digestOf('b'), status: 'negative' }], { by: 'ada' });
    expect(await drawn(store, { query: 'name=square' })).toHaveLength(2);
    expect(await drawn(store, { statuses: ['negative'], query: 'os=mac' })).toEqual([
      '3: circle a untriaged -> b negative, 1 since 2',
    ]);
    await store.ignores.create({ query: 'os=linux', expires: Date.now() + 1e6, by: 'ada' });
    const found = await digestChanges(store, 100);
    expect(found).toMatchObject({ total: 3, totals: { untriaged: 2, positive: 0, negative: 1 }, ignoredTraces: 2 });
    expect((await digestChanges(store, 100, { ignored: 'include' })).total).toBe(6);
    expect((await digestChanges(store, 100, { query: 'name=triangle' })).reason).toContain('triangle');
  });

  test('a limit leaves whole commits out, but never the newest', async () => {
    const store = await open(HISTORY);
    const reported = async (limit: number) =>
      (await digestChanges(store, 100, { limit })).commits.map((one) => one.commit);
    expect(await reported(6)).toEqual([5, 3, 2, 0]);
    expect(await reported(4)).toEqual([5, 3]);
    expect(await reported(1)).toEqual([5]);
    expect((await digestChanges(store, 100, { limit: 1 })).total).toBe(6);
    expect(await drawn(await open({ 'circle linux': '' }))).toEqual([]);
  });

  test('older changes are told from where an answer ends, none twice and none left out', async () => {
    const store = await open({ 'circle linux': 'aabbbcccdaab', 'circle mac': 'abbbcccddaab' });
    const all = await drawn(store);
    for (const [commits, limit] of [
      [3, 1000],
      [5, 1000],
      [100, 1],
      [4, 1],
    ]) {
      const reported: string[] = [];
      let last: number | undefined;
      do {
        const call = last === undefined ? {} : { last };
        reported.push(...(await drawn(store, { limit }, commits, call)));
        last = (await digestChanges(store, commits, { limit }, call)).older;
      } while (last !== undefined);
      expect(reported).toEqual(all);
    }
  });

  test('what is wrong is refused with its name', async () => {
    const store = await open({ 'circle linux': 'a' });
    const code = 'ERR_SPANLINE_INVALID_INPUT';
    await expect(digestChanges(store, 0)).rejects.toMatchObject({ code });
    await expect(digestChanges(store, 5, { limit: 0 })).rejects.toMatchObject({ code });
    await expect(digestChanges(store, 5, { statuses: ['fine' as 'positive'] })).rejects.toMatchObject({ code });
    await expect(digestChanges(store, 5, { query: 'a=%' })).rejects.toMatchObject({ code });
    await expect(digestChanges(store, 5, { ignored: 'no' as 'only' })).rejects.toMatchObject({ code });
  });
});
