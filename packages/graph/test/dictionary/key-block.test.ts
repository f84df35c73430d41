// Every key codec gives back its keys and finds each of them, and bytes that no encoder wrote are damage: never a crash, never more
// memory than a block can need.

import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CorruptError } from '../../src/container/graph-error.js';
import { decodeKeys, encodeKeys, isPossible, type KeyCodec } from '../../src/dictionary/key-block.js';
import type { KeyBlock, KeysToEncode } from '../../src/dictionary/key-bytes.js';
import { anyBelow, anyEnd } from '../support/damage.js';
import { hashKeys, nameKeys, spanKeys } from './support/random-keys.js';

const CODECS: readonly KeyCodec[] = ['fixed', 'front', 'grouped'];

const tableOf = (keys: readonly Uint8Array[], groupBytes = 0): KeysToEncode => {
  const offsets = new Uint32Array(keys.length + 1);
  keys.forEach((key, i) => {
    offsets[i + 1] = offsets[i] + key.length;
  });
  const width = keys.every(({ length }) => length === keys[0].length) ? keys[0].length : 0;
  return { bytes: Buffer.concat(keys), offsets, count: keys.length, width, groupBytes };
};

const encoded = (codec: KeyCodec, keys: KeysToEncode): { readonly bytes: Buffer; readonly tails: Buffer } => {
  const writer = new ByteWriter();
  const tails = new ByteWriter();
  encodeKeys(writer, tails, codec, keys);
  return { bytes: Buffer.from(writer.view()), tails: Buffer.from(tails.view()) };
};

/** Decoded, and the bytes gone: what is cached may not be a view of what was read. */
const decodedOnly = (bytes: Buffer, tails: Buffer, count: number): KeyBlock => {
  const keys = decodeKeys(bytes, tails, count, 0, 'a file');
  bytes.fill(0);
  tails.fill(0);
  return keys;
};

const expectSame = (block: KeyBlock, keys: readonly Uint8Array[], strangers: readonly Uint8Array[]): void => {
  keys.forEach((key, i) => {
    expect(block.search(key)).toBe(i);
    expect(block.key(i).equals(key)).toBe(true);
  });
  for (const stranger of strangers) {
    const behind = keys.findIndex((key) => Buffer.compare(key, stranger) >= 0);
    const place = behind < 0 ? keys.length : behind;
    const isThere = place < keys.length && Buffer.compare(keys[place], stranger) === 0;
    expect(block.search(stranger)).toBe(isThere ? place : ~place);
  }
  const whole = Buffer.concat([Buffer.from('..'), ...keys]);
  const copy = Buffer.from(whole.fill(0x2e, 0));
  const ends = new Uint32Array(keys.length + 1);
  expect(block.totalBytes).toBe(whole.length - 2);
  block.copyAll(copy, 2, ends, 1);
  expect(copy.equals(Buffer.concat([Buffer.from('..'), ...keys]))).toBe(true);
  expect(ends[keys.length]).toBe(whole.length);
};

/** Few different bytes, so that keys share much; the extremes of all. */
const byte = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 0x30, 0x61, 0xfe, 0xff) },
  fc.integer({ min: 0, max: 255 }),
);
const stringOf = (minLength: number, maxLength: number) =>
  fc.array(byte, { minLength, maxLength }).map((bytes) => Buffer.from(bytes));
const distinct = (keys: readonly Buffer[]): Buffer[] =>
  [...new Map(keys.map((key) => [key.toString('latin1'), key])).values()].sort(Buffer.compare);

const keySets = fc.oneof(
  fc.array(stringOf(1, 12), { minLength: 1, maxLength: 80 }),
  fc.integer({ min: 1, max: 24 }).chain((width) => fc.array(stringOf(width, width), { minLength: 1, maxLength: 80 })),
  fc.array(
    fc
      .tuple(stringOf(0, 6), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
      .map(([name, id]) => Buffer.concat([name, Buffer.from(id.toString(16).padStart(8, '0'))])),
    { minLength: 1, maxLength: 80 },
  ),
  fc
    .array(stringOf(1, 3), { minLength: 1, maxLength: 20 })
    .map((keys) => keys.map((key) => Buffer.concat([Buffer.alloc(4093, 0xff), key]))),
);

describe.each(CODECS)('%s', (codec) => {
  test('gives back and finds its keys', () => {
    fc.assert(
      fc.property(
        keySets,
        fc.integer({ min: 1, max: 8 }),
        fc.array(stringOf(1, 12), { maxLength: 20 }),
        (set, groupBytes, others) => {
          const keys = distinct(set);
          const table = tableOf(keys, groupBytes);
          fc.pre(isPossible(codec, table));
          const { bytes, tails } = encoded(codec, table);
          // Neighbours of keys: cut, prolonged, one off.
          const near = keys.slice(0, 20).flatMap((key) => {
            const off = Buffer.from(key);
            off[off.length - 1] += 1;
            return [key.subarray(0, -1), Buffer.concat([key, Buffer.alloc(1)]), off];
          });
          const strangers = [...others, ...near.filter(({ length }) => length > 0)];
          expectSame(decodedOnly(bytes, tails, keys.length), keys, strangers);
        },
      ),
      { numRuns: samples(60, 160, 400) },
    );
  });
});

test.each([
  ['hashes', hashKeys(1024), 0],
  ['names', nameKeys(1024), 0],
  ['spans', spanKeys(100, 10), 16],
] as const)('%s in all codecs that can', (_, keys, groupBytes) => {
  const table = tableOf(keys, groupBytes);
  for (const codec of CODECS.filter((one) => isPossible(one, table))) {
    const { bytes, tails } = encoded(codec, table);
    expectSame(decodedOnly(bytes, tails, keys.length), keys, []);
  }
});

test('sorted random strings take less than their bytes', () => {
  // log2(128!) is 716 bits; a Rice code comes near.
  const { bytes } = encoded('fixed', tableOf(hashKeys(128)));
  expect(bytes.length).toBeLessThan(128 * 20 - 80);
});

test('random hexadecimal digits take half a byte each, patterns stay with the letters', () => {
  const random = encoded('front', tableOf(nameKeys(128)));
  expect(random.tails.length).toBe(128 * 8);
  const counted = Array.from({ length: 128 }, (_, i) => Buffer.from(`key-${i.toString(16).padStart(16, '0')}`));
  expect(encoded('front', tableOf(counted)).tails.length).toBe(0);
});

// Codec, pairs of digits, what the second key shares, lengths of both, letters.
test.each([
  ['shares more than there was', [1, 0, 3, 2, 4, 97, 97, 97]],
  ['shares more than it has', [1, 0, 2, 2, 1, 97, 97]],
  ['no length', [1, 0, 0, 1, 0, 97]],
  ['too few letters', [1, 0, 0, 1, 3, 97, 97, 97]],
  ['too many letters', [1, 0, 0, 1, 1, 97, 98, 99]],
  ['digits that are not there', [1, 1, 0, 1, 1, 97, 98]],
  ['another codec', [3, 0, 0, 1, 1, 97, 98]],
])('a key with %s', (_, bytes) => {
  expect(() => decodeKeys(Buffer.from(bytes), Buffer.alloc(0), 2, 0, 'a file')).toThrow(CorruptError);
});

const [hashes, names, spans] = [tableOf(hashKeys(128)), tableOf(nameKeys(128)), tableOf(spanKeys(13, 10), 16)];
test.each([
  ['hashes', 'fixed', hashes],
  ['hashes', 'front', hashes],
  ['names', 'front', names],
  ['spans', 'fixed', spans],
  ['spans', 'front', spans],
  ['spans', 'grouped', spans],
] as const)('bytes that no encoder wrote: %s, %s', (_, codec, table) => {
  const good = encoded(codec, table);
  const { length } = good.bytes;
  // Mostly where numbers are that others depend on.
  const at = fc.oneof(
    { weight: 7, arbitrary: anyBelow(Math.min(length, 300)) },
    { weight: 3, arbitrary: anyBelow(length) },
  );
  const numRuns = samples(150, 800, 2000);
  let refused = 0;
  fc.assert(
    fc.property(at, anyBelow(256), anyEnd(length), anyBelow(table.count), (place, byte, end, i) => {
      const bytes = Buffer.from(good.bytes);
      bytes[place] = byte;
      try {
        const keys = decodeKeys(bytes.subarray(0, end), good.tails, table.count, 3, 'a file');
        expect(keys.memoryBytes).toBeLessThan(table.count * 4200 + 1000);
        keys.search(Buffer.from('any'));
        keys.key(i);
        keys.copyAll(Buffer.alloc(keys.totalBytes), 0, new Uint32Array(table.count), 0);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
        expect(error).toMatchObject({ section: 'dictionaryBlocks', block: 3 });
        refused++;
      }
    }),
    { numRuns },
  );
  expect(refused).toBeGreaterThan(numRuns / 20);
});
