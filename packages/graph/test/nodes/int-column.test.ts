// A column of whole numbers comes back as it was in the shorter of its forms; damaged bytes give a typed error, at the cost of no memory
// that was not asked for.

import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CorruptError } from '../../src/container/graph-error.js';
import { sectionReader } from '../../src/container/layout.js';
import { readIntColumn, writeIntColumn } from '../../src/nodes/node-blocks.js';

const encode = (values: ArrayLike<number>, start = 0, end = values.length): Buffer => {
  const writer = new ByteWriter();
  writeIntColumn(writer, values, start, end);
  return Buffer.from(writer.view());
};

const decode = (bytes: Uint8Array, count: number): number[] => {
  const reader = sectionReader(bytes, 'a column', 'backPointers', 3);
  const into = new Float64Array(count);
  readIntColumn(reader, into, count);
  reader.end();
  return [...into];
};

const anyNumber = fc.oneof(
  fc.nat(3),
  fc.nat(1000),
  fc.nat(2 ** 31 - 1),
  fc.maxSafeNat().map((n) => n % 2 ** 47),
);

describe('a column of whole numbers', () => {
  test('comes back', () => {
    fc.assert(
      fc.property(fc.array(anyNumber, { maxLength: 600 }), (values) => {
        expect(decode(encode(values), values.length)).toEqual(values);
      }),
      { numRuns: samples(100, 500) },
    );
  });

  test('is a stretch of a longer list', () => {
    fc.assert(
      fc.property(fc.array(anyNumber, { minLength: 1, maxLength: 50 }), fc.nat(), fc.nat(), (values, a, b) => {
        const [start, end] = [a % values.length, b % values.length].sort((x, y) => x - y);
        expect(decode(encode(values, start, end), end - start)).toEqual(values.slice(start, end));
      }),
    );
  });

  test('takes a bit a number more than a permutation needs at most, and a byte where numbers follow each other', () => {
    const permutation = Array.from({ length: 512 }, (_, i) => (i * 7919 * 131) % 512);
    expect(encode(permutation).length).toBeLessThanOrEqual((512 * 9) / 8 + 8);
    const rising = Array.from({ length: 512 }, (_, i) => 1_000_000 + 3 * i);
    expect(encode(rising).length).toBeLessThanOrEqual(512 + 8);
    expect(encode(new Array(512).fill(7)).length).toBeLessThanOrEqual(8);
  });

  test('is packed, where it has no order, whatever the size of its numbers', () => {
    for (const bits of [1, 31, 32, 33, 40, 46]) {
      const highest = 2 ** bits - 1;
      const values = Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? highest - i / 2 : (highest % 1009) - (i % 2)));
      const spread = values.map((value) => Math.max(0, value));
      const bytes = encode(spread);
      expect(bytes.length).toBeLessThanOrEqual(Math.ceil((64 * bits) / 8) + 16);
      expect(decode(bytes, 64)).toEqual(spread);
    }
  });

  test('damaged bytes are refused or give the number of numbers asked for', () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(fc.array(anyNumber, { maxLength: 20 }), fc.nat(), fc.nat(255)).map(([values, at, bits]) => {
        const bytes = encode(values);
        bytes[at % bytes.length] ^= bits;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(anyBytes, fc.nat(40), (bytes, count) => {
        const reader = sectionReader(bytes, 'a column', 'backPointers', 3);
        const into = new Float64Array(count);
        try {
          readIntColumn(reader, into, count);
          expect([...into].every((value) => Number.isSafeInteger(value) && value >= 0)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptError);
          expect(error).toMatchObject({ section: 'backPointers', block: 3 });
        }
      }),
      { numRuns: samples(400, 3000) },
    );
  });

  test.each([
    ['an unknown form', [9], 1],
    ['numbers of 49 bits', [1, 0, 49, 0, 0, 0, 0, 0, 0, 0], 1],
    ['packed numbers that end too early', [1, 0, 32, 1, 2], 2],
    ['differences that end too early', [0, 2], 2],
    ['differences below zero', [0, 1], 1],
    ['nothing', [], 1],
  ])('%s is refused', (_, bytes, count) => {
    expect(() => decode(Uint8Array.from(bytes), count)).toThrow(CorruptError);
  });
});
