// Bits come back as they were written, whatever their widths, and a reader that runs out of them says so.

import { expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BitReader, BitWriter } from '../../src/container/bits.js';
import { CorruptError } from '../../src/container/graph-error.js';
import { sectionReader } from '../../src/container/layout.js';

const item = fc.oneof(
  fc.record({ zeros: fc.integer({ min: 0, max: 100 }) }),
  fc
    .integer({ min: 0, max: 32 })
    .chain((bits) => fc.record({ bits: fc.constant(bits), value: fc.integer({ min: 0, max: 2 ** bits - 1 }) })),
);

test('what is written is read', () => {
  fc.assert(
    fc.property(fc.array(item), fc.uint8Array({ maxLength: 3 }), (items, behind) => {
      const writer = new ByteWriter(1);
      const bits = new BitWriter(writer);
      for (const it of items) {
        if ('zeros' in it) bits.unary(it.zeros);
        else bits.put(it.value, it.bits);
      }
      bits.flush();
      writer.raw(behind);
      const reader = sectionReader(Buffer.from(writer.view()), 'it', 'test');
      const read = new BitReader(reader);
      for (const it of items) {
        if ('zeros' in it) expect(read.unary()).toBe(it.zeros);
        else expect(read.take(it.bits)).toBe(it.value);
      }
      read.end();
      expect(Buffer.from(reader.raw(reader.left))).toEqual(Buffer.from(behind));
    }),
    { numRuns: samples(300, 2000) },
  );
});

test('missing bits are damage', () => {
  const reader = () => new BitReader(sectionReader(Buffer.from([0, 0]), 'it', 'test'));
  expect(reader().take(16)).toBe(0);
  expect(() => reader().take(17)).toThrow(CorruptError);
  expect(() => reader().unary()).toThrow(CorruptError);
});
