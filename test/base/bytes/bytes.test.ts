// The writer and the reader of bytes: what goes in comes out, and nothing runs past an end or a limit.

import { describe, expect, test } from 'vitest';
import { ByteReader } from '../../../src/base/bytes/byte-reader.js';
import { ByteWriter, varintLength, WRITER_FULL } from '../../../src/base/bytes/byte-writer.js';
import fc from '../../support/fast-check.js';

const written = (write: (writer: ByteWriter) => void): Buffer => {
  const writer = new ByteWriter(1);
  write(writer);
  return writer.copy();
};

const reading = (bytes: Iterable<number>): ByteReader =>
  new ByteReader(Uint8Array.from(bytes), (reason) => new Error(`it ${reason}`));

describe('varints', () => {
  test('any safe integer comes back, in as many bytes as are said', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.nat(0xffff_ffff)), (value) => {
        const bytes = written((writer) => writer.varint(value));
        expect(bytes).toHaveLength(varintLength(value));
        expect(reading(bytes).varint()).toBe(value);
        expect(reading(bytes).shortestVarint()).toBe(value);
      }),
    );
  });

  test.each([0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 35 - 1, 2 ** 35, 2 ** 42, 2 ** 49, 2 ** 53 - 1])(
    '%d has a length',
    (value) => {
      expect(varintLength(value)).toBe(written((writer) => writer.varint(value)).length);
    },
  );

  test('a number of 64 bits is written as its two words say', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const bytes = written((writer) => writer.varint64(Number(value >> 32n), Number(value & 0xffff_ffffn)));
        expect(bytes.reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n)).toBe(value);
      }),
    );
    expect(written((writer) => writer.varint64(-1, -1))).toHaveLength(10);
  });

  test('signed numbers come back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 }), (value) => {
        expect(reading(written((writer) => writer.zigzag(value))).zigzag()).toBe(value);
      }),
    );
  });

  test('what no writer makes is an error', () => {
    expect(() => reading([0x80, 0x80]).varint()).toThrow('it ends in the middle of a number');
    expect(() => reading(new Array(9).fill(0xff)).varint()).toThrow('it has a number beyond 53 bits');
    expect(() => reading([...new Array(7).fill(0xff), 0x1f]).varint()).toThrow('it has a number beyond 53 bits');
    expect(() => reading([0x80, 0]).shortestVarint()).toThrow('not in its shortest form');
    expect(reading([0x80, 0]).varint()).toBe(0);
  });
});

describe('the writer', () => {
  test('grows, and goes on in the same buffer after clear', () => {
    const writer = new ByteWriter(2);
    for (let i = 0; i < 5000; i++) writer.byte(i);
    writer.raw(Buffer.from('end'));
    writer.uint32(0xdead_beef);
    expect(writer.view().subarray(5000)).toEqual(Buffer.from('656e64efbeadde', 'hex'));
    const { bytes } = writer;
    writer.clear();
    writer.byte(7);
    expect(writer.bytes).toBe(bytes);
    expect(writer.view()).toEqual(Buffer.from([7]));
  });

  test('writes any text as UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const bytes = written((writer) => {
          writer.reserveText(text);
          writer.text(text);
        });
        expect(bytes).toEqual(Buffer.from(text));
      }),
    );
    const long = 'ü'.repeat(5000);
    const writer = new ByteWriter();
    writer.reserveText(long, 3);
    writer.text(long);
    expect(writer.copy().toString()).toBe(long);
  });

  test('refuses what is beyond its limit, and keeps what it has', () => {
    const writer = new ByteWriter(4, 16);
    writer.raw(Buffer.alloc(16, 1));
    expect(() => writer.byte(2)).toThrow(WRITER_FULL);
    expect(writer.view()).toEqual(Buffer.alloc(16, 1));
  });

  test('gives memory back that one large write took', () => {
    const writer = new ByteWriter(16);
    writer.raw(Buffer.alloc(10_000));
    writer.trim(20_000);
    expect(writer.bytes.length).toBeGreaterThanOrEqual(10_000);
    writer.trim(5000, 16);
    expect([writer.bytes.length, writer.length]).toEqual([16, 0]);
  });
});

describe('the reader', () => {
  test('does not leave its bytes', () => {
    const reader = reading([1, 2, 3]);
    expect(reader.raw(2)).toEqual(Uint8Array.from([1, 2]));
    expect(() => reader.raw(2)).toThrow('it ends too early');
    expect(() => reader.uint32()).toThrow('it ends too early');
    expect(() => reading([]).byte()).toThrow('it ends too early');
  });

  test('says when something is left', () => {
    const reader = reading([1, 2, 3]);
    expect(() => reader.end()).toThrow('it has 3 bytes too many');
    reader.raw(3);
    reader.end();
    expect(reader.left).toBe(0);
  });
});
