// The part of an index below a prefix answers as an index of its own that never heard of the prefix.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BufferSink } from '../../src/container/container-writer.js';
import { GraphIndex, GraphIndexBuilder } from '../../src/index/graph-index.js';
import { PrefixAdapter } from '../../src/index/prefix-adapter.js';
import type { IndexEntry } from '../../src/index/readable-index.js';
import { type TupleKey, TupleMap, TupleSet } from '../../src/index/tuple-key.js';
import { failureOf, thrownBy } from '../container/support/errors.js';
import {
  anyIndex,
  anyKey,
  buildBytes,
  collect,
  entriesOf,
  LISTS,
  type ModelIndex,
  modelAncestry,
  modelExternal,
  named,
  restricted,
  shownAncestry,
} from './support/model-index.js';

const PREFIX = ['file', 'one'];
const below = (prefix: TupleKey, { key, value, references }: IndexEntry): IndexEntry => ({
  key: [...prefix, ...key],
  value,
  references: references.map((list) => list.map((target) => [...prefix, ...target])),
});

/** The model below the prefix, among others that are below prefixes like it. */
const adapted = async (model: ModelIndex): Promise<PrefixAdapter> => {
  const entries = entriesOf(model).flatMap((entry) =>
    [PREFIX, ['file', 'on'], ['file', 'one\x01'], ['file2', 'one']].map((prefix) => below(prefix, entry)),
  );
  return new PrefixAdapter(await GraphIndex.open(await buildBytes(entries, { keyElements: 4 })), PREFIX, 2);
};

const keysOf = (keys: Iterable<TupleKey>): string[] => Array.from(keys, named).sort();

describe('against plain maps', () => {
  const anyKeys = fc.array(anyKey, { maxLength: 6 });

  test('entries, ancestries, what is referred to outside', async () => {
    await fc.assert(
      fc.asyncProperty(anyIndex, anyKeys, fc.nat(LISTS - 1), async (model, keys, list) => {
        const index = await adapted(model);
        expect(await index.keyCount()).toBe(model.size);
        expect(await collect(index.iterAllEntries())).toEqual(model);
        const asked = keys.map(named);
        expect(await collect(index.iterEntries(keys))).toEqual(restricted(model, (key) => asked.includes(named(key))));
        expect(await collect(index.iterEntriesPrefix([['a', null]]))).toEqual(
          restricted(model, ([first]) => first === 'a'),
        );
        const expected = modelAncestry(model, keys, list);
        expect(shownAncestry(await index.findAncestry(keys, list))).toEqual(expected);
        const found = { parentMap: new TupleMap<readonly TupleKey[]>(), missing: new TupleSet() };
        for (let next = new TupleSet(keys); next.size > 0; )
          next = await index.findAncestors(next, list, found.parentMap, found.missing);
        expect(shownAncestry(found)).toEqual(expected);
        expect(keysOf(await index.externalReferences(list))).toEqual(modelExternal(model, list));
        await index.validate();
        index.clearCache();
        await index.close();
      }),
      { numRuns: samples(8, 30) },
    );
  });
});

test('checks and forgets what the index below it does', async () => {
  const entries = [{ key: ['file', 'a'], value: Buffer.from('1'), references: [[]] }];
  const bytes = await buildBytes(entries, { referenceLists: 1 });
  const whole = await GraphIndex.open(bytes);
  const part = new PrefixAdapter(whole, ['file'], 1);
  await collect(part.iterAllEntries());
  expect(whole.file.stats().cache.bytes).toBeGreaterThan(0);
  part.clearCache();
  expect(whole.file.stats().cache.bytes).toBe(0);
  await part.close();
  expect(await failureOf(part.validate())).toMatchObject({ name: 'ClosedError' });
});

describe('adding', () => {
  test('goes to the builder with the prefix in front', async () => {
    const sink = new BufferSink();
    const builder = new GraphIndexBuilder(sink, { referenceLists: 1, keyElements: 2 });
    const empty = await GraphIndex.open(await buildBytes([], { referenceLists: 1, keyElements: 2 }));
    const part = new PrefixAdapter(empty, ['file'], 1, { addNodes: (entries) => builder.addNodes(entries) });
    part.addNode(['a'], Buffer.from('1'), [[['b']]]);
    part.addNodes([{ key: ['b'], value: Buffer.from('2'), references: [[]] }]);
    expect(thrownBy(() => part.addNode(['b', 'c'], Buffer.from('3'), [[]]))).toMatchObject({ name: 'BadKeyError' });
    await builder.finish();
    expect(await collect((await GraphIndex.open(sink.toBuffer())).iterAllEntries())).toEqual(
      new Map([
        ['["file","a"]', { value: '1', references: [['["file","b"]']] }],
        ['["file","b"]', { value: '2', references: [[]] }],
      ]),
    );
    expect(thrownBy(() => new PrefixAdapter(empty, ['file'], 1).addNode(['a'], Buffer.from('')))).toMatchObject({
      name: 'BadOptionsError',
    });
  });
});

describe('what cannot be', () => {
  const entries = [
    { key: ['file', 'a'], value: Buffer.from(''), references: [[['file', 'b']]] },
    { key: ['file', 'b'], value: Buffer.from(''), references: [[['other', 'x']]] },
  ];
  const open = async () =>
    new PrefixAdapter(await GraphIndex.open(await buildBytes(entries, { referenceLists: 1 })), ['file'], 1);

  test('a reference out of the part is an error where it is met, and only there', async () => {
    const index = await open();
    const outside = { name: 'CorruptError', message: expect.stringContaining('outside') };
    expect(await failureOf(collect(index.iterAllEntries()))).toMatchObject(outside);
    expect(await failureOf(index.findAncestry([['a']], 0))).toMatchObject(outside);
    expect(await failureOf(index.externalReferences(0))).toMatchObject(outside);
    expect((await collect(index.iterEntries([['a']]))).size).toBe(1);
  });

  test('keys and prefixes of another length', async () => {
    const index = await open();
    for (const key of [['a', 'b'], []]) {
      expect((await collect(index.iterEntries([key]))).size).toBe(0);
      expect((await index.findAncestry([key], 0)).missing.has(key)).toBe(true);
    }
    for (const key of ['a' as never, undefined as never]) {
      expect(await failureOf(collect(index.iterEntries([key])))).toMatchObject({ name: 'BadKeyError' });
      expect(await failureOf(collect(index.iterEntriesPrefix([key])))).toMatchObject({ name: 'BadKeyError' });
      expect(await failureOf(index.findAncestry([key], 0))).toMatchObject({ name: 'BadKeyError' });
    }
  });

  test('a prefix that no key has', async () => {
    const index = await GraphIndex.open(await buildBytes([]));
    for (const [prefix, missing] of [
      [[], 1],
      [['a'], 0],
      [['a'], 1.5],
      [[''], 1],
      [['a\0'], 1],
      ['a', 1],
    ] as const)
      expect(thrownBy(() => new PrefixAdapter(index, prefix as TupleKey, missing))).toMatchObject({
        name: 'BadKeyError',
      });
    // Too long for the index below it: found out by the first question.
    const tooLong = new PrefixAdapter(index, ['a', 'b'], 1);
    expect(await failureOf(collect(tooLong.iterEntriesPrefix([['c']])))).toMatchObject({ name: 'BadKeyError' });
  });
});
