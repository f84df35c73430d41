// The builder takes keys in order and nothing else, the same keys give the same bytes, and files are as small as they should be.
import { describe, expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { Container } from '../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../src/container/container-writer.js';
import { BadKeyError, BadOptionsError, BadValueError, DuplicateKeyError } from '../../src/container/graph-error.js';
import { SectionId } from '../../src/container/layout.js';
import { BufferTransport } from '../../src/container/transport/file-transport.js';
import { Dictionary } from '../../src/dictionary/dictionary.js';
import { DictionaryBuilder, type DictionaryOptions } from '../../src/dictionary/dictionary-builder.js';
import { buildDictionary, bytesPerKey, openDictionary } from './support/build.js';
import { hashKeys, nameKeys, permutation, seeded, spanKeys } from './support/random-keys.js';

const newBuilder = (options: Partial<DictionaryOptions> = {}): DictionaryBuilder =>
  new DictionaryBuilder(new ContainerWriter(new BufferSink()), { graphs: 1, ...options });

describe('order', () => {
  test.each([0, 1, 63, 64, 65, 128])('is checked behind %i keys', (count) => {
    const builder = newBuilder({ blockKeys: 64 });
    for (let i = 0; i < count; i++) builder.add(Buffer.from([1, i]), [0]);
    builder.add(Buffer.from('b'), [0]);
    expect(() => builder.add(Buffer.from('b'), [0])).toThrow(DuplicateKeyError);
    expect(() => builder.add(Buffer.from('a'), [0])).toThrow(BadKeyError);
    expect(() => builder.add(Buffer.from('az'), [0])).toThrow(BadKeyError);
    // What was refused left nothing behind.
    builder.add(Buffer.from('ba'), [0]);
    builder.add(Buffer.from([0xff]), [0]);
    expect(builder.finish().keys).toBe(count + 3);
  });
});

test('keys and ordinals that cannot be', () => {
  const builder = newBuilder({ graphs: 2 });
  expect(() => builder.add(Buffer.alloc(0), [0, 0])).toThrow(BadKeyError);
  expect(() => builder.add(Buffer.alloc(4097), [0, 0])).toThrow(BadKeyError);
  expect(() => builder.add('text' as never, [0, 0])).toThrow(BadKeyError);
  const key = Buffer.from('k');
  for (const ordinals of [[], [0], [0, 0, 0], [0, -2], [0, 0.5], [0, Number.NaN], [2 ** 32 - 2, 0]]) {
    expect(() => builder.add(key, ordinals)).toThrow(BadValueError);
  }
  builder.add(key, [-1, 2 ** 32 - 3]);
  expect(builder.finish().keys).toBe(1);
});

test.each([
  { graphs: 0 },
  { graphs: 65 },
  { blockKeys: 63 },
  { blockKeys: 1025 },
  { blockKeys: 64.5 },
  { groupBytes: -1 },
  { groupBytes: 4096 },
  { keyCodec: 'grouped' as const },
  { keyCodec: 'best' as never },
  { filter: true, filterBytes: 5000 },
])('options that cannot be: %j', (options) => {
  expect(() => newBuilder(options)).toThrow(BadOptionsError);
});

test('the largest options', () => {
  const ordinals = Array.from({ length: 64 }, (_, graph) => (graph % 2 === 0 ? -1 : 2 ** 32 - 3 - graph));
  const keys = Array.from({ length: 20 }, (_, i) => Buffer.concat([Buffer.alloc(4095, 7), Buffer.from([i])]));
  const { bytes } = buildDictionary(keys, { graphs: 64, blockKeys: 1024 }, () => ordinals);
  const { dictionary } = openDictionary(bytes);
  expect(dictionary.lookupSync(keys[19])).toEqual({ key: keys[19], rank: 19, ordinals });
});

test('nothing comes behind the end', () => {
  const builder = newBuilder();
  builder.add(Buffer.from('a'), [0]);
  builder.finish();
  expect(() => builder.add(Buffer.from('b'), [1])).toThrow(BadOptionsError);
  expect(() => builder.finish()).toThrow(BadOptionsError);
});

test('keys are copied: a caller may reuse its buffer', () => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink);
  const builder = new DictionaryBuilder(writer, { graphs: 1 });
  const key = Buffer.alloc(2);
  const ordinals = [0];
  for (let i = 0; i < 300; i++) {
    key.writeUInt16BE(i);
    ordinals[0] = 300 - i;
    builder.add(key, ordinals);
  }
  builder.finish();
  writer.finish();
  const { dictionary } = openDictionary(sink.toBuffer());
  for (let i = 0; i < 300; i++) {
    key.writeUInt16BE(i);
    expect(dictionary.lookupSync(key)).toMatchObject({ rank: i, ordinals: [300 - i] });
  }
});

test('other sections may stand between the blocks, the filter and the index', () => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink);
  writer.section({ id: 1000 }, Buffer.from('before'));
  const builder = new DictionaryBuilder(writer, { graphs: 1, filter: true });
  const keys = hashKeys(1000);
  keys.forEach((key, rank) => {
    builder.add(key, [rank]);
  });
  builder.finishBlocks();
  writer.section({ id: 1001 }, Buffer.from('nodes'));
  builder.finishFilter();
  writer.section({ id: 1002 }, Buffer.from('tables'));
  builder.finish();
  writer.finish();
  const container = Container.openSync(new BufferTransport(sink.toBuffer()));
  expect(container.sections.map(({ id }) => id)).toEqual([
    1000,
    SectionId.dictionaryBlocks,
    1001,
    SectionId.filter,
    1002,
    SectionId.dictionaryIndex,
  ]);
  const dictionary = Dictionary.openSync(container, { filter: true });
  expect(dictionary.lookupManySync(keys).every((entry, i) => entry?.rank === i)).toBe(true);
});

const COUNT = samples(10_000, 81_966);
const scattered = permutation(COUNT, seeded(21));

describe('sizes', () => {
  test('hashes: of 81,966 of them 18.2 of 20 bytes, and 17 bits of an ordinal', () => {
    expect(bytesPerKey(hashKeys(COUNT), {}, scattered)).toBeLessThan(20.5);
  });

  test('the codec that is chosen is no worse than any other', () => {
    const sets: [string, Buffer[], Partial<DictionaryOptions>][] = [
      ['hashes', hashKeys(2000), {}],
      ['names', nameKeys(2000), {}],
      ['spans', spanKeys(200, 10), { groupBytes: 16 }],
      ['one span a trace', spanKeys(2000, 1), { groupBytes: 16 }],
      [
        'text of one length',
        Array.from({ length: 2000 }, (_, i) => Buffer.from(`key-${String(i).padStart(9, '0')}`)),
        {},
      ],
      ['numbers', Array.from({ length: 2000 }, (_, i) => Buffer.from([0, 0, i >> 8, i & 255])), {}],
      ['hexadecimal hashes', hashKeys(2000).map((key) => Buffer.from(key.toString('hex'))), {}],
    ];
    for (const [name, keys, options] of sets) {
      const size = (keyCodec: DictionaryOptions['keyCodec']): number =>
        buildDictionary(keys, { ...options, keyCodec }).stats.blockBytes;
      const others = [size('fixed'), size('front'), ...(options.groupBytes === undefined ? [] : [size('grouped')])];
      expect(size('auto'), name).toBeLessThanOrEqual(Math.min(...others) * 1.01);
    }
  });
});

test('the same keys give the same bytes', () => {
  for (const options of [{}, { filter: true }, { keyCodec: 'front' as const }]) {
    const [first, second] = [0, 1].map(() => buildDictionary(nameKeys(3000), options).bytes);
    expect(first.equals(second)).toBe(true);
  }
});
