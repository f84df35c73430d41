// Keys are sorted by their bytes, unsigned, a shorter key before a longer one that begins with it, however much they have in common.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { seeded } from '../../../../test/support/random.js';
import { samples } from '../../../../test/support/samples.js';
import { ChunkPool } from '../../src/builder/chunk-pool.js';
import { KeyInterner, sortKeys } from '../../src/builder/key-interner.js';

const sorted = (keys: readonly Buffer[]): Buffer[] => {
  const table = new KeyInterner(new ChunkPool());
  for (const key of keys) table.intern(key);
  return [...sortKeys(table)].map((id) => Buffer.from(table.bytesOf.get(table.positions.get(id))));
};

const expected = (keys: readonly Buffer[]): Buffer[] =>
  [...new Map(keys.map((key) => [key.toString('latin1'), key])).values()].sort(Buffer.compare);

const inHex = (keys: readonly Buffer[]): string[] => keys.map((key) => key.toString('hex'));

describe('keys', () => {
  test('of any bytes are sorted, each once', () => {
    const anyByte = fc.constantFrom(0, 1, 127, 128, 255);
    const anyKey = fc
      .tuple(fc.constantFrom(0, 7, 8, 9, 40), fc.array(anyByte, { minLength: 1, maxLength: 20 }))
      .map(([shared, bytes]) => Buffer.concat([Buffer.alloc(shared, 'p'), Buffer.from(bytes)]));
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 120 }), (keys) => {
        expect(inHex(sorted(keys))).toEqual(inHex(expected(keys)));
      }),
      { numRuns: samples(80, 300) },
    );
  });

  test.each([
    ['random', (random: () => number) => Buffer.from(Array.from({ length: 20 }, () => Math.floor(random() * 256)))],
    [
      'names',
      (random: () => number) => Buffer.from(`someone@example.com-${Math.floor(random() * 1e9)}-${'z'.repeat(8)}`),
    ],
    ['zeros', (random: () => number) => Buffer.alloc(1 + Math.floor(random() * 4000))],
    ['few bytes', (random: () => number) => Buffer.from([random() * 256, random() * 256, random() * 4])],
  ])('by the thousand are sorted: %s', (_, key) => {
    const random = seeded(7);
    const keys = Array.from({ length: samples(4000, 40_000) }, () => key(random));
    expect(inHex(sorted(keys)).join() === inHex(expected(keys)).join()).toBe(true);
  });
});
