// A dictionary answers everything as a sorted list of its keys does, whatever the codec, the size of blocks, the number of graphs, the
// size of the cache, and however the file is read.

import { beforeAll, describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import {
  BadKeyError,
  BadOptionsError,
  CorruptError,
  LimitError,
  NotFoundError,
} from '../../src/container/graph-error.js';
import { buildDictionary, openDictionary } from './support/build.js';
import { expectSame, Model, shown } from './support/model.js';
import { below, hashKeys, nameKeys, randomBytes, seeded, shuffled, spanKeys } from './support/random-keys.js';

const distinct = (keys: readonly Buffer[]): Buffer[] =>
  [...new Map(keys.map((key) => [key.toString('latin1'), key])).values()].sort(Buffer.compare);

const byte = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 0x30, 0x61, 0xfe, 0xff) },
  fc.integer({ min: 0, max: 255 }),
);
const stringOf = (minLength: number, maxLength: number): fc.Arbitrary<Buffer> =>
  fc.array(byte, { minLength, maxLength }).map((bytes) => Buffer.from(bytes));

const keySets = fc.oneof(
  fc.array(stringOf(1, 10), { maxLength: 300, size: 'max' }),
  fc.integer({ min: 1, max: 24 }).chain((width) => fc.array(stringOf(width, width), { maxLength: 300, size: 'max' })),
  // Long ones, with more in common than a block has keys.
  fc
    .tuple(fc.integer({ min: 100, max: 4090 }), fc.array(stringOf(0, 6), { maxLength: 100, size: 'max' }))
    .map(([length, ends]) => ends.map((end) => Buffer.concat([Buffer.alloc(length, 0xff), end]))),
);

const options = fc.record({
  graphs: fc.integer({ min: 1, max: 3 }),
  blockKeys: fc.constantFrom(64, 65, 100, 128, 1024),
  keyCodec: fc.constantFrom('auto', 'fixed', 'front', 'grouped' as const),
  groupBytes: fc.integer({ min: 1, max: 8 }),
  filter: fc.boolean(),
  compression: fc.constantFrom('deflate', 'none' as const),
});

test('any keys, any options', async () => {
  await fc.assert(
    fc.asyncProperty(
      keySets,
      options,
      fc.array(stringOf(1, 6), { minLength: 2, maxLength: 10 }),
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.constantFrom(0, 2000, 1_000_000),
      async (set, { groupBytes, ...rest }, asked, seed, cacheBytes) => {
        const keys = distinct(set);
        const random = seeded(seed);
        const ordinals = keys.map(() =>
          Array.from({ length: rest.graphs }, () => (random() < 0.4 ? -1 : below(random, 2 ** below(random, 32)))),
        );
        const given = { ...rest, groupBytes: rest.keyCodec === 'grouped' ? groupBytes : undefined };
        const { bytes } = buildDictionary(keys, given, (rank) => ordinals[rank]);
        const { dictionary } = openDictionary(bytes, { graphs: rest.graphs, filter: rest.filter, cacheBytes });
        const near = keys
          .slice(0, 3)
          .flatMap((key) => [key.subarray(0, 1), Buffer.concat([key.subarray(0, 4000), asked[0]])]);
        await expectSame(dictionary, new Model(keys, (rank) => ordinals[rank]), [...asked, ...near], (items) =>
          shuffled(items, random),
        );
      },
    ),
    // Making a counterexample smaller may take long; it is none the better for it.
    { numRuns: samples(3, 9, 60), interruptAfterTimeLimit: 45_000 },
  );
});

describe.each([
  ['hashes', hashKeys(1000), {}],
  ['names', nameKeys(1000), {}],
  ['spans', spanKeys(100, 10), { groupBytes: 16, filter: true }],
  ['hashes as names', hashKeys(500), { keyCodec: 'front' }],
  ['hashes as groups', hashKeys(500), { keyCodec: 'grouped', groupBytes: 3 }],
  ['keys of all lengths', Array.from({ length: 300 }, (_, i) => Buffer.alloc(1 + i, 0xff)), {}],
  ['a single key', [Buffer.from('k')], { filter: true }],
  ['none', [], { filter: true }],
] as const)('%s', (_, keys, given) => {
  test('all questions', async () => {
    const { bytes } = buildDictionary(keys, given);
    const { dictionary } = openDictionary(bytes, { filter: true });
    const random = seeded(11);
    const asked = [
      Buffer.from([0xff]),
      Buffer.from([0xff, 0xff]),
      Buffer.from([0]),
      Buffer.from('a'),
      ...keys.slice(0, 2).map((key) => key.subarray(0, 16)),
    ];
    await expectSame(dictionary, new Model([...keys]), asked, (items) => shuffled(items, random));
  });
});

describe('an index of two levels', () => {
  // Neighbouring blocks are told apart by four thousand random bytes.
  const random = seeded(12);
  const keys: Buffer[] = [];
  let bytes: Buffer;

  beforeAll(() => {
    const firsts = hashKeys(25, 4000, random);
    for (const first of firsts) for (let i = 0; i < 64; i++) keys.push(Buffer.concat([first, Buffer.from([i])]));
    // One more in front, so that blocks end in the middle of those that share.
    keys.unshift(Buffer.from([0]));
    bytes = buildDictionary(keys, { blockKeys: 64 }).bytes;
  });

  test.each(sampleOf([0, 1_000_000], 1, 2))('answers the same with a cache of %i bytes', async (cacheBytes) => {
    const { dictionary } = openDictionary(bytes, { cacheBytes });
    const asked = [
      keys[100].subarray(0, 3900),
      keys[100],
      randomBytes(random, 30),
      keys[1500].subarray(0, 1),
      Buffer.from([1]),
    ];
    // A question takes a block of a quarter of a megabyte. A key in a hundred that is not found escapes 400 once in fifty times.
    const some = samples(25, 400, keys.length);
    await expectSame(dictionary, new Model(keys), asked, (items) => shuffled(items, random).slice(0, some));
  });

  test('needs one read more', () => {
    const { dictionary, transport } = openDictionary(bytes, { tailBytes: 1024 });
    const before = transport.stats().requests;
    expect(dictionary.lookupSync(keys[700])?.rank).toBe(700);
    expect(transport.stats().requests - before).toBe(2);
  });
});

test('what cannot be asked', async () => {
  const { bytes } = buildDictionary(hashKeys(100));
  const { dictionary } = openDictionary(bytes);
  expect(() => dictionary.lookupSync(Buffer.alloc(0))).toThrow(BadKeyError);
  expect(() => dictionary.lookupSync(Buffer.alloc(4097))).toThrow(BadKeyError);
  expect(() => dictionary.lookupSync('text' as never)).toThrow(BadKeyError);
  await expect(dictionary.lookupMany([Buffer.from('a'), Buffer.alloc(0)])).rejects.toThrow(BadKeyError);
  for (const rank of [-1, 100, 0.5, Number.NaN]) expect(() => dictionary.keyAtSync(rank)).toThrow(NotFoundError);
  expect(() => [...dictionary.rangeSync({ prefix: Buffer.from('a'), end: Buffer.from('b') } as never)]).toThrow(
    BadOptionsError,
  );
  expect(() => dictionary.allKeysSync({ maxBytes: 2000 })).toThrow(LimitError);
  expect(() => openDictionary(bytes, { graphs: 2 })).toThrow(CorruptError);
});

test('what is answered is not the reader’s own', () => {
  const keys = nameKeys(10);
  const { dictionary } = openDictionary(buildDictionary(keys).bytes);
  dictionary.keyAtSync(3).fill(0);
  dictionary.lookupSync(keys[3])?.key.fill(0);
  expect(shown(dictionary.lookupSync(keys[3]))).toBe(`${keys[3].toString('hex')} 3 3`);
});

test('one cache for several files', () => {
  const [first, second] = [hashKeys(500), hashKeys(500, 20, seeded(77))];
  const one = openDictionary(buildDictionary(first).bytes);
  const other = openDictionary(buildDictionary(second).bytes, { cache: one.cache });
  for (let i = 0; i < 500; i++) {
    expect(one.dictionary.lookupSync(first[i])?.rank).toBe(i);
    expect(other.dictionary.lookupSync(second[i])?.rank).toBe(i);
  }
});
