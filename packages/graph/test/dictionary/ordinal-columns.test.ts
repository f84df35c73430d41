// Ordinals come back with their blanks, take no more than a random permutation must, nearly nothing when they follow the keys, and
// bytes that no encoder wrote are damage.

import { expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { CorruptError } from '../../src/container/graph-error.js';
import { BLANK, decodeOrdinals, OrdinalEncoder } from '../../src/dictionary/ordinal-columns.js';
import { anyBelow, anyEnd } from '../support/damage.js';
import { permutation, seeded } from './support/random-keys.js';

const written = (columns: readonly (readonly number[])[]): Buffer => {
  const writer = new ByteWriter();
  const encoder = new OrdinalEncoder(1024);
  for (const column of columns) {
    // Not at the start of its array, as in a block of several graphs.
    encoder.write(writer, Uint32Array.from([7, 7, ...column]), 2, column.length);
  }
  return Buffer.from(writer.view());
};

const ordinal = fc.oneof(fc.constant(BLANK), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 2 ** 32 - 3 }));

test('what is written is read', () => {
  const columns = fc
    .integer({ min: 1, max: 100 })
    .chain((count) =>
      fc.array(fc.array(ordinal, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 3 }),
    );
  fc.assert(
    fc.property(columns, (values) => {
      const read = decodeOrdinals(written(values), values.length, values[0].length, 0, 'a file');
      expect(read.map((column) => [...column])).toEqual(values);
    }),
    { numRuns: samples(200, 1000) },
  );
});

test('sizes of a block of 128', () => {
  const random = seeded(6);
  const scattered = permutation(81_966, random).slice(0, 128);
  const rising = Array.from({ length: 128 }, (_, i) => 50_000 + i);
  const half = scattered.map((value, i) => (i % 2 === 0 ? value : BLANK));
  // Seventeen bits each, and what says so.
  expect(written([scattered]).length).toBeLessThanOrEqual((128 * 17) / 8 + 5);
  expect(written([half]).length).toBeLessThanOrEqual((64 * 17) / 8 + 16 + 5);
  // All differences the same: what is deflated afterwards is nearly nothing.
  expect(new Set(written([rising]).subarray(4)).size).toBe(1);
  expect(written([new Array<number>(128).fill(BLANK)]).length).toBe(1);
});

test('numbers that no ordinal can be', () => {
  // Differences, then packed: the number that means a blank, and one beyond 32 bits.
  for (const value of [BLANK, 2 ** 33]) {
    const deltas = new ByteWriter();
    deltas.byte(2);
    deltas.zigzag(value);
    const packed = new ByteWriter();
    packed.byte(1);
    packed.varint(value);
    packed.byte(0);
    for (const writer of [deltas, packed]) {
      expect(() => decodeOrdinals(Buffer.from(writer.view()), 1, 1, 0, 'a file')).toThrow(CorruptError);
    }
  }
});

test('bytes that no encoder wrote', () => {
  const random = seeded(7);
  const scattered = permutation(81_966, random).slice(0, 128);
  const good = written([
    scattered,
    scattered.map((value, i) => (i % 3 === 0 ? BLANK : value)),
    scattered.map((_, i) => i),
  ]);
  fc.assert(
    fc.property(anyBelow(good.length), anyBelow(256), anyEnd(good.length), (at, byte, end) => {
      const bytes = Buffer.from(good);
      bytes[at] = byte;
      try {
        expect(decodeOrdinals(bytes.subarray(0, end), 3, 128, 9, 'a file')).toHaveLength(3);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
        expect(error).toMatchObject({ section: 'dictionaryBlocks', block: 9 });
      }
    }),
    { numRuns: samples(500, 5000) },
  );
});
