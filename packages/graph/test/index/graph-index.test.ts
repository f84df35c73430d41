// An index file answers as a plain map of its entries would, and refuses what is not a question with a typed error.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CompactGraphBuilder } from '../../src/builder/graph-builder.js';
import { BufferSink } from '../../src/container/container-writer.js';
import { FileTransport } from '../../src/container/transport/file-transport.js';
import { GraphIndex, GraphIndexBuilder } from '../../src/index/graph-index.js';
import { type TupleKey, TupleMap, type TuplePrefix, TupleSet } from '../../src/index/tuple-key.js';
import { failureOf, thrownBy } from '../container/support/errors.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';
import { makeHistory } from '../support/synthetic-history.js';
import {
  anyIndex,
  anyKey,
  buildBytes,
  buildIndex,
  collect,
  entriesOf,
  LISTS,
  modelAncestry,
  modelExternal,
  named,
  restricted,
  shownAncestry,
  startsWith,
} from './support/model-index.js';

const directory = temporaryDirectory();
const RUNS = { numRuns: samples(12, 20, 50) };
const anyKeys = fc.array(anyKey, { maxLength: 6 });
const anyPrefix: fc.Arbitrary<TuplePrefix> = anyKey.chain(([first, second]) =>
  fc.constantFrom<TuplePrefix>([first, second], [first, null]),
);

/** A small index: `c` refers to `b`, `b` to `a` and to `ghost`, which is not there. */
const small = async (): Promise<GraphIndex> =>
  GraphIndex.open(
    await buildBytes(
      [
        { key: ['a'], value: Buffer.from('1'), references: [[]] },
        { key: ['b'], value: Buffer.from('2'), references: [[['a'], ['ghost']]] },
        { key: ['c'], value: Buffer.from('3'), references: [[['b']]] },
      ],
      { referenceLists: 1, keyElements: 1 },
    ),
  );

describe('against plain maps', () => {
  test('all entries, some entries, and how many', async () => {
    await fc.assert(
      fc.asyncProperty(anyIndex, anyKeys, async (model, keys) => {
        const index = await buildIndex(model);
        expect(await index.keyCount()).toBe(model.size);
        expect(await collect(index.iterAllEntries())).toEqual(model);
        const asked = new Set(keys.map(named));
        expect(await collect(index.iterEntries(keys))).toEqual(restricted(model, (key) => asked.has(named(key))));
      }),
      RUNS,
    );
  });

  test('entries by prefixes, which may lie inside each other', async () => {
    await fc.assert(
      fc.asyncProperty(anyIndex, fc.array(anyPrefix, { maxLength: 3 }), async (model, prefixes) => {
        const index = await buildIndex(model);
        const isIn = (key: TupleKey): boolean => prefixes.some((prefix) => startsWith(key, prefix));
        expect(await collect(index.iterEntriesPrefix(prefixes))).toEqual(restricted(model, isIn));
      }),
      RUNS,
    );
  });

  test('ancestries at once and by steps, and what is referred to outside', async () => {
    await fc.assert(
      fc.asyncProperty(anyIndex, anyKeys, fc.nat(LISTS - 1), async (model, keys, list) => {
        const index = await buildIndex(model);
        const expected = modelAncestry(model, keys, list);
        expect(shownAncestry(await index.findAncestry(keys, list))).toEqual(expected);
        const found = { parentMap: new TupleMap<readonly TupleKey[]>(), missing: new TupleSet() };
        for (let next = new TupleSet(keys); next.size > 0; )
          next = await index.findAncestors(next, list, found.parentMap, found.missing);
        expect(shownAncestry(found)).toEqual(expected);
        expect([...(await index.externalReferences(list))].map(named).sort()).toEqual(modelExternal(model, list));
      }),
      RUNS,
    );
  });
});

describe('a search by steps', () => {
  test('says what it found, what is missing and what to ask next', async () => {
    const index = await small();
    const parentMap = new TupleMap<readonly TupleKey[]>();
    const missing = new TupleSet();
    const step = async (keys: Iterable<TupleKey>) => [...(await index.findAncestors(keys, 0, parentMap, missing))];
    expect(await step([['c'], ['absent']])).toEqual([['b']]);
    expect([...missing]).toEqual([['absent']]);
    expect(await step([['b']])).toEqual([['a'], ['ghost']]);
    expect(await step([['a'], ['ghost']])).toEqual([]);
    expect(shownAncestry({ parentMap, missing })).toEqual({
      parentMap: [
        ['["a"]', []],
        ['["b"]', ['["a"]', '["ghost"]']],
        ['["c"]', ['["b"]']],
      ],
      missing: ['["absent"]', '["ghost"]'],
    });
  });

  test('goes on from what another search left', async () => {
    const index = await small();
    const parentMap = new TupleMap<readonly TupleKey[]>().set(['c'], [['b']]);
    const missing = new TupleSet([['ghost']]);
    const { requests } = index.file.stats().transport;
    expect([...(await index.findAncestors([['c'], ['ghost']], 0, parentMap, missing))]).toEqual([['b']]);
    expect(index.file.stats().transport.requests).toBe(requests);
    expect([...(await index.findAncestors([['b']], 0, parentMap, missing))]).toEqual([['a']]);
  });

  test('and one at once read no byte of the file twice', async () => {
    const history = makeHistory(6000);
    const name = (commit: number): TupleKey => [history.keys[commit].toString('hex')];
    const entries = history.keys.map((_, commit) => ({
      key: name(commit),
      value: Buffer.from('v'),
      references: [history.parents[commit].map(name)],
    }));
    const bytes = await buildBytes(entries, { referenceLists: 1, keyElements: 1 });
    // A cache that holds next to nothing.
    const index = await GraphIndex.open(bytes, { cache: 1024 });
    const { bytes: read } = index.file.stats().transport;
    const { parentMap } = await index.findAncestry(history.heads.map(name), 0);
    expect(parentMap.size).toBe(6000);
    // The keys of the heads are looked up first: a block of keys for each.
    expect(index.file.stats().transport.bytes - read).toBeLessThan(bytes.length * 1.2);
  });

  test('ends on a circle', async () => {
    const entries = ['a', 'b', 'c'].map((key, i) => ({
      key: [key],
      value: Buffer.from(''),
      references: [[['b', 'c', 'a'].slice(i, i + 1)]],
    }));
    const index = await GraphIndex.open(await buildBytes(entries, { referenceLists: 1, keyElements: 1 }));
    const { parentMap, missing } = await index.findAncestry([['a']], 0);
    expect([parentMap.size, missing.size]).toEqual([3, 0]);
  });
});

describe('where the file is', () => {
  test('inside a bigger file', async () => {
    const model = new Map([['["a","b"]', { value: 'v', references: [[], []] }]]);
    const bytes = await buildBytes(entriesOf(model));
    const path = join(directory, 'bigger');
    writeFileSync(path, Buffer.concat([Buffer.alloc(100), bytes, Buffer.alloc(50)]));
    const index = await GraphIndex.open(await FileTransport.open(path, { offset: 100, length: bytes.length }));
    expect(await collect(index.iterAllEntries())).toEqual(model);
    await index.close();
  });
});

describe('validate', () => {
  test('is content with a whole file, and reads all of it anew', async () => {
    const index = await small();
    await index.validate();
    index.clearCache();
    expect(index.file.stats().cache.bytes).toBe(0);
    await index.validate();
  });

  test('names the section of a damaged block', async () => {
    // Noise, so that it is stored as it is.
    const value = createHash('shake256', { outputLength: 3000 }).update('noise').digest();
    const entries = [{ key: ['a', 'b'], value, references: [[], []] }];
    const bytes = await buildBytes(entries);
    const at = bytes.indexOf(value.subarray(1000, 1016));
    expect(at).toBeGreaterThan(0);
    bytes[at] ^= 1;
    const index = await GraphIndex.open(bytes);
    expect(await failureOf(index.validate())).toMatchObject({ name: 'CorruptError', section: 'values', block: 0 });
  });

  test('refuses keys with another number of elements', async () => {
    const sink = new BufferSink();
    const graphs = [{ referenceLists: 0, order: 'child-first' } as const];
    const builder = new CompactGraphBuilder(sink, { graphs, notes: { keyElements: '2' } });
    builder.add(0, Buffer.from('one'), Buffer.from(''), []);
    await builder.finish();
    const index = await GraphIndex.open(sink.toBuffer());
    expect(await failureOf(index.validate())).toMatchObject({ name: 'CorruptError', section: 'dictionaryBlocks' });
  });
});

describe('wrong questions', () => {
  const BAD_KEYS: [string, TupleKey][] = [
    ['no list', 'a' as never],
    ['nothing', undefined as never],
    ['NUL', ['a\0b']],
    ['too many bytes', ['a'.repeat(4097)]],
  ];

  test.each(BAD_KEYS)('a key with %s', async (_, key) => {
    const index = await small();
    const bad = { name: 'BadKeyError' };
    expect(await failureOf(collect(index.iterEntries([['a'], key])))).toMatchObject(bad);
    expect(await failureOf(index.findAncestry([key], 0))).toMatchObject(bad);
    const step = index.findAncestors([key], 0, new TupleMap(), new TupleSet());
    expect(await failureOf(step)).toMatchObject(bad);
  });

  test('a key of another length is absent, as every key is that is not there', async () => {
    const index = await small();
    for (const key of [['a', 'b'], []]) {
      expect((await collect(index.iterEntries([key]))).size).toBe(0);
      const { parentMap, missing } = await index.findAncestry([['a'], key], 0);
      expect([parentMap.has(['a']), missing.has(key)]).toEqual([true, true]);
      const known = new TupleSet();
      await index.findAncestors([key], 0, new TupleMap(), known);
      expect(known.has(key)).toBe(true);
    }
  });

  test('a prefix that is none', async () => {
    const index = await small();
    for (const prefix of [[null], ['a', 'b'], [''], ['a', null], 'a'])
      expect(await failureOf(collect(index.iterEntriesPrefix([prefix as TuplePrefix])))).toMatchObject({
        name: 'BadKeyError',
      });
  });

  test('a reference list that is not there', async () => {
    const index = await small();
    for (const list of [1, -1, Number.NaN]) {
      const bad = { name: 'BadOptionsError' };
      expect(await failureOf(index.findAncestry([['a']], list))).toMatchObject(bad);
      expect(await failureOf(index.findAncestors([['a']], list, new TupleMap(), new TupleSet()))).toMatchObject(bad);
      expect(await failureOf(index.externalReferences(list))).toMatchObject(bad);
    }
  });

  test('a graph file that is not an index', async () => {
    const sink = new BufferSink();
    const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] });
    await builder.finish();
    expect(await failureOf(GraphIndex.open(sink.toBuffer()))).toMatchObject({ name: 'CorruptError', section: 'meta' });
  });
});

describe('the builder refuses', () => {
  const NONE = Buffer.alloc(0);
  const builder = () => new GraphIndexBuilder(new BufferSink(), { referenceLists: 1 });

  test.each<[string, unknown[], string]>([
    ['a key of two elements', [['a', 'b'], NONE, [[]]], 'BadKeyError'],
    ['a key that is not a list', ['a', NONE, [[]]], 'BadKeyError'],
    ['a reference that is not a key', [['a'], NONE, [['b']]], 'BadKeyError'],
    ['no reference lists', [['a'], NONE], 'BadValueError'],
    ['too many of them', [['a'], NONE, [[], []]], 'BadValueError'],
    ['a list that is none', [['a'], NONE, [1]], 'BadValueError'],
    ['lists that are none', [['a'], NONE, null], 'BadValueError'],
    ['a value that is text', [['a'], 'text', [[]]], 'BadValueError'],
  ])('%s', (_, args, name) => {
    expect(thrownBy(() => builder().addNode(...(args as Parameters<GraphIndexBuilder['addNode']>)))).toMatchObject({
      name,
    });
  });

  test('a wrong number of reference lists is named beside the right one', () => {
    expect(() => builder().addNode(['a'], NONE, [[], []])).toThrow('has 2 reference lists; this index has 1');
    expect(() => builder().addNode(['a'], NONE, 7 as never)).toThrow('has no reference lists; this index has 1');
  });

  test('a key added twice', async () => {
    const twice = builder();
    twice.addNode(['a'], NONE, [[]]);
    expect(thrownBy(() => twice.addNode(['a'], NONE, [[]]))).toMatchObject({ name: 'DuplicateKeyError' });
  });

  test('numbers out of range', () => {
    const sink = new BufferSink();
    for (const referenceLists of [-1, 17, 0.5])
      expect(thrownBy(() => new GraphIndexBuilder(sink, { referenceLists }))).toMatchObject({
        name: 'BadOptionsError',
      });
    expect(thrownBy(() => new GraphIndexBuilder(sink, { keyElements: 0 }))).toMatchObject({ name: 'BadKeyError' });
  });

  test('whatever comes behind abort', () => {
    const aborted = builder();
    aborted.abort();
    expect(thrownBy(() => aborted.addNode(['a'], NONE, [[]]))).toMatchObject({ name: 'ClosedError' });
  });
});
