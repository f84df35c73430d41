// Several indices answer as one plain map in which the first that has a key stands.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CombinedGraphIndex } from '../../src/index/combined-graph-index.js';
import { GraphIndex } from '../../src/index/graph-index.js';
import type { IndexEntry, ReadableIndex } from '../../src/index/readable-index.js';
import { type TupleKey, TupleMap, TupleSet } from '../../src/index/tuple-key.js';
import { failureOf, thrownBy } from '../container/support/errors.js';
import {
  anyIndex,
  anyKey,
  buildBytes,
  buildIndex,
  collect,
  combined,
  LISTS,
  type ModelIndex,
  modelAncestry,
  modelExternal,
  named,
  restricted,
  shownAncestry,
} from './support/model-index.js';

const RUNS = { numRuns: samples(10, 16, 40) };
const anyModels = fc.array(anyIndex, { maxLength: 4 });
const anyKeys = fc.array(anyKey, { maxLength: 6 });

const open = async (models: readonly ModelIndex[]): Promise<CombinedGraphIndex> =>
  new CombinedGraphIndex(await Promise.all(models.map(buildIndex)));

/** An index of entries without references. */
const flat = async (...names: string[]): Promise<GraphIndex> => {
  const entries = names.map((name) => ({ key: [name], value: Buffer.from(name), references: [[]] }));
  return GraphIndex.open(await buildBytes(entries, { referenceLists: 1, keyElements: 1 }));
};

/** An index in which each key refers to the next, the last to none. */
const line = async (...names: string[]): Promise<GraphIndex> => {
  const entries = names.slice(0, -1).map((name, i) => ({
    key: [name],
    value: Buffer.from(name),
    references: [[[names[i + 1]]]],
  }));
  return GraphIndex.open(await buildBytes(entries, { referenceLists: 1, keyElements: 1 }));
};

const keysOf = async (entries: AsyncIterable<IndexEntry>): Promise<string[]> => {
  const keys = [];
  for await (const { key } of entries) keys.push(key.join(' '));
  return keys;
};

describe('against plain maps', () => {
  test('entries: all, some, by prefix; the first child that has a key wins', async () => {
    await fc.assert(
      fc.asyncProperty(anyModels, anyKeys, async (models, keys) => {
        const whole = combined(models);
        expect(await collect((await open(models)).iterAllEntries())).toEqual(whole);
        const asked = new Set(keys.map(named));
        expect(await collect((await open(models)).iterEntries(keys))).toEqual(
          restricted(whole, (key) => asked.has(named(key))),
        );
        const prefixed = (await open(models)).iterEntriesPrefix([
          ['a', null],
          ['b', null],
        ]);
        expect(await collect(prefixed)).toEqual(restricted(whole, ([first]) => first === 'a' || first === 'b'));
        expect(await (await open(models)).keyCount()).toBe(models.reduce((sum, { size }) => sum + size, 0));
      }),
      RUNS,
    );
  });

  test('ancestries that go back and forth between children', async () => {
    await fc.assert(
      fc.asyncProperty(anyModels, anyKeys, fc.nat(LISTS - 1), async (models, keys, list) => {
        const expected = modelAncestry(combined(models), keys, list);
        expect(shownAncestry(await (await open(models)).findAncestry(keys, list))).toEqual(expected);
      }),
      { numRuns: samples(30, 60, 150) },
    );
  });

  test('searches by steps, parents, and what is referred to outside of all', async () => {
    await fc.assert(
      // Without keys that two children have: hits change the order of children, and so who answers for those.
      fc.asyncProperty(anyIndex, fc.nat(3), anyKeys, fc.nat(LISTS - 1), async (whole, parts, keys, list) => {
        const models = Array.from({ length: parts + 1 }, (_, part) => {
          return new Map([...whole].filter((_entry, i) => i % (parts + 1) === part));
        });
        const index = await open(models);
        const found = { parentMap: new TupleMap<readonly TupleKey[]>(), missing: new TupleSet() };
        for (let next = new TupleSet(keys); next.size > 0; )
          next = await index.findAncestors(next, list, found.parentMap, found.missing);
        expect(shownAncestry(found)).toEqual(modelAncestry(whole, keys, list));
        expect([...(await index.externalReferences(list))].map(named).sort()).toEqual(modelExternal(whole, list));
        const parents = await index.getParentMap(keys);
        expect(new Map(Array.from(parents, ([key, of]) => [named(key), of.map(named)]))).toEqual(
          new Map(
            [...restricted(whole, (key) => keys.map(named).includes(named(key)))].map(([name, { references }]) => [
              name,
              references[0],
            ]),
          ),
        );
      }),
      RUNS,
    );
  });
});

describe('children', () => {
  const order = (index: CombinedGraphIndex, children: readonly ReadableIndex[]): number[] =>
    index.indices().map((child) => children.indexOf(child.index));

  test('that were hit move to the front, in the order they had', async () => {
    const children = [await flat('a'), await flat('b'), await flat('c'), await flat('d')];
    const index = new CombinedGraphIndex(children);
    await keysOf(index.iterEntries([['d'], ['b'], ['nowhere']]));
    expect(order(index, children)).toEqual([1, 3, 0, 2]);
    await keysOf(index.iterEntriesPrefix([['c']]));
    expect(order(index, children)).toEqual([2, 1, 3, 0]);
    await keysOf(index.iterAllEntries());
    await keysOf(index.iterEntries([['nowhere']]));
    expect(order(index, children)).toEqual([2, 1, 3, 0]);
  });

  test('behind the last that is needed are not read', async () => {
    const children = [await flat('a'), await flat('b')];
    const index = new CombinedGraphIndex(children);
    const { ranges } = children[1].file.stats().transport;
    const { misses } = children[1].file.stats().cache;
    expect(await keysOf(index.iterEntries([['a']]))).toEqual(['a']);
    expect(children[1].file.stats()).toMatchObject({ transport: { ranges }, cache: { misses } });
  });

  test('can be put anywhere, with a name', async () => {
    const [first, second, third] = [await flat('a', 'b'), await flat('b'), await flat('c')];
    const index = new CombinedGraphIndex([first]);
    index.insertIndex(1, third, 'third');
    index.insertIndex(0, second, 'second');
    expect(index.indices()).toEqual([
      { index: second, name: 'second' },
      { index: first, name: undefined },
      { index: third, name: 'third' },
    ]);
    expect((await keysOf(index.iterAllEntries())).sort()).toEqual(['a', 'b', 'c']);
    for (const place of [-1, 4, 0.5])
      expect(thrownBy(() => index.insertIndex(place, first))).toMatchObject({ name: 'BadOptionsError' });
  });

  test('none: nothing is there', async () => {
    const index = new CombinedGraphIndex([]);
    expect(await keysOf(index.iterAllEntries())).toEqual([]);
    expect(shownAncestry(await index.findAncestry([['a']], 0))).toEqual({ parentMap: [], missing: ['["a"]'] });
    await index.validate();
    index.clearCache();
    await index.close();
  });

  test('are asked for a long history in rounds, not step by step', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `commit-${i}`);
    const [newer, older] = [await line(...names.slice(0, 1500), 'commit-1500'), await line(...names.slice(1500))];
    const index = new CombinedGraphIndex([newer, older]);
    const { parentMap, missing } = await index.findAncestry([['commit-0']], 0);
    expect([parentMap.size, [...missing]]).toEqual([2999, [['commit-2999']]]);
    // Each step would have looked at the cache for itself.
    expect(newer.file.stats().cache.hits + older.file.stats().cache.hits).toBeLessThan(600);
  });

  test('with fewer reference lists than asked for are an error', async () => {
    const index = new CombinedGraphIndex([await flat('a')]);
    const bad = { name: 'BadOptionsError' };
    expect(await failureOf(index.findAncestry([['a']], 1))).toMatchObject(bad);
    expect(await failureOf(index.findAncestors([['a']], 1, new TupleMap(), new TupleSet()))).toMatchObject(bad);
    expect(await failureOf(index.externalReferences(1))).toMatchObject(bad);
  });
});
