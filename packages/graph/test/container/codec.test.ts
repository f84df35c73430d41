// What is stored comes back as it was or not at all, and a length that lies takes no memory.
import * as zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { seeded } from '../../../../test/support/random.js';
import { samples } from '../../../../test/support/samples.js';
import {
  Codec,
  type Compression,
  hasZstd,
  restore,
  type Stored,
  type StoredForm,
  store,
} from '../../src/container/codec.js';
import { CorruptError, GraphError, LimitError, UnsupportedVersionError } from '../../src/container/graph-error.js';
import { allocationsOf } from './support/allocations.js';
import { thrownBy } from './support/errors.js';

const PLACE = { file: 'some.graph', section: 'values', block: 3 };
const MiB = 1024 * 1024;

const formOf = ({ bytes, codec, inflatedLength, crc }: Stored): StoredForm => ({
  codec,
  storedLength: bytes.length,
  inflatedLength,
  crc,
});
const back = (stored: Stored): Buffer => restore(stored.bytes, formOf(stored), PLACE);

/** What somebody wrote who knows the format and means harm: the checksum is right. */
const forged = (bytes: Buffer, codec: number, inflatedLength: number): Stored => ({
  bytes,
  codec,
  inflatedLength,
  crc: zlib.crc32(bytes),
});

const noise = (length: number): Buffer => {
  const random = seeded(length);
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
};

const content = fc.oneof(
  fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.string(), fc.nat(500)).map(([text, times]) => Buffer.from(text.repeat(times))),
);

describe('store', () => {
  test.each(['deflate', 'zstd', 'none'] as const)('by %s keeps every byte', (compression) => {
    fc.assert(
      fc.property(content, (bytes) => {
        expect(back(store(bytes, compression)).equals(bytes)).toBe(true);
      }),
      { numRuns: samples(80, 200, 2000) },
    );
  });

  test('compresses only where it saves a twentieth', () => {
    const codecs = (bytes: Buffer): number[] =>
      (['deflate', 'none'] as Compression[]).map((compression) => store(bytes, compression).codec);
    expect(codecs(Buffer.alloc(1_000))).toEqual([Codec.deflate, Codec.stored]);
    expect(codecs(noise(1_000))).toEqual([Codec.stored, Codec.stored]);
    expect(codecs(Buffer.concat([noise(1_000), Buffer.alloc(40)]))).toEqual([Codec.stored, Codec.stored]);
    expect(codecs(Buffer.concat([noise(1_000), Buffer.alloc(120)]))).toEqual([Codec.deflate, Codec.stored]);
    expect(store(Buffer.alloc(0)).codec).toBe(Codec.stored);
  });

  test.runIf(hasZstd())('uses zstd where the runtime has it', () => {
    expect(store(Buffer.alloc(1_000), 'zstd').codec).toBe(Codec.zstd);
  });
});

describe('what does not fit is damage', () => {
  const good = store(Buffer.from('some text, some text, some text, some text'));
  const form = formOf(good);

  test.each([
    ['a wrong checksum', good.bytes, { ...form, crc: form.crc ^ 1 }],
    ['fewer bytes', good.bytes.subarray(1), form],
    ['more bytes', Buffer.concat([good.bytes, good.bytes]), form],
    ['a shorter claim', good.bytes, { ...form, inflatedLength: form.inflatedLength - 1 }],
    ['a longer claim', good.bytes, { ...form, inflatedLength: form.inflatedLength + 1 }],
    ['a claim of nothing', good.bytes, { ...form, inflatedLength: 0 }],
    ['stored bytes with another length', good.bytes, { ...form, codec: Codec.stored }],
  ])('%s', (_, bytes, claimed) => {
    const failure = thrownBy(() => restore(bytes, claimed, PLACE));
    expect(failure).toBeInstanceOf(CorruptError);
    expect(failure).toMatchObject({ section: 'values', block: 3 });
    expect(failure.message).toContain('block 3 of values of some.graph');
  });

  test('a stream that is none, or ends too early, under a right checksum', () => {
    const deflated = zlib.deflateRawSync(noise(500));
    for (const bytes of [noise(100), deflated.subarray(0, 300), Buffer.alloc(0)]) {
      expect(thrownBy(() => back(forged(bytes, Codec.deflate, 500)))).toBeInstanceOf(CorruptError);
    }
  });

  test('any change of the stored bytes or of what is said of them', () => {
    const original = Buffer.from('some text, some text, some text, some text');
    fc.assert(
      fc.property(fc.nat(good.bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const bytes = Buffer.from(good.bytes);
        bytes[at] ^= mask;
        expect(thrownBy(() => restore(bytes, form, PLACE))).toBeInstanceOf(CorruptError);
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom('codec', 'storedLength', 'inflatedLength', 'crc'), fc.nat(), (field, value) => {
        let bytes: Buffer;
        try {
          bytes = restore(good.bytes, { ...form, [field]: value }, PLACE);
        } catch (error) {
          expect(error).toBeInstanceOf(GraphError);
          return;
        }
        expect(bytes.equals(original)).toBe(true);
      }),
    );
  });

  test('a codec of the future asks for a newer reader', () => {
    const failure = thrownBy(() => back(forged(Buffer.from('x'), 9, 1)));
    expect(failure).toBeInstanceOf(UnsupportedVersionError);
    expect(failure.message).toContain('newer version');
  });
});

/** A zstd frame of ten bytes: 1,000 times one byte, in a window of 2^`windowLog`. */
const zstdFrame = (windowLog: number): Buffer => {
  const frame = Buffer.from('28b52ffd0000000000', 'hex');
  frame[5] = (windowLog - 10) << 3;
  frame.writeUIntLE(1 | (1 << 1) | (1_000 << 3), 6, 3);
  return Buffer.concat([frame, Buffer.from('A')]);
};

describe('zstd', () => {
  test.runIf(!hasZstd())('is refused by name where the runtime lacks it', () => {
    const failure = thrownBy(() => back(forged(zstdFrame(17), Codec.zstd, 1_000)));
    expect(failure).toBeInstanceOf(UnsupportedVersionError);
    expect(failure.message).toContain('Node 22.15');
    expect(store(Buffer.alloc(1_000), 'zstd').codec).toBe(Codec.deflate);
  });

  test.runIf(hasZstd())('is read, but not with a window greater than any of this format', () => {
    expect(back(forged(zstdFrame(23), Codec.zstd, 1_000))).toEqual(Buffer.alloc(1_000, 'A'));
    expect(thrownBy(() => back(forged(zstdFrame(27), Codec.zstd, 1_000)))).toBeInstanceOf(CorruptError);
  });

  test.runIf(hasZstd())('that is damaged gives an error of this package', () => {
    const { bytes } = store(Buffer.alloc(5_000, 'text'), 'zstd');
    for (let at = 0; at < bytes.length; at++) {
      const broken = Buffer.from(bytes);
      broken[at] ^= 0xff;
      try {
        back(forged(broken, Codec.zstd, 5_000));
      } catch (error) {
        expect(error).toBeInstanceOf(GraphError);
      }
    }
  });
});

describe('memory', () => {
  test('the watch sees what zlib takes', () => {
    const bytes = zlib.deflateRawSync(Buffer.alloc(100_000));
    expect(allocationsOf(() => zlib.inflateRawSync(bytes)).total).toBeGreaterThanOrEqual(100_000);
  });

  test('is not taken beyond the limit, whatever the claim', () => {
    for (const claim of [MiB + 1, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      for (const codec of [Codec.stored, Codec.deflate, Codec.zstd]) {
        const { bytes, ...form } = forged(Buffer.from('abc'), codec, claim);
        const { total } = allocationsOf(() => {
          const failure = thrownBy(() => restore(bytes, { ...form, storedLength: bytes.length }, PLACE, MiB));
          expect(failure).toBeInstanceOf(LimitError);
          expect(failure.message).toContain('maxBlockBytes');
        });
        expect(total).toBeLessThan(100_000);
      }
    }
  });

  test('is not taken for a claim below the limit that the bytes cannot keep', () => {
    const bytes = zlib.deflateRawSync(Buffer.from('abc'));
    const { total } = allocationsOf(() => {
      expect(thrownBy(() => back(forged(bytes, Codec.deflate, 60 * MiB)))).toBeInstanceOf(CorruptError);
    });
    expect(total).toBeLessThan(100_000);
  });

  test('is not taken by a bomb beyond what it admits to', () => {
    const bombs: [Buffer, number][] = [[zlib.deflateRawSync(Buffer.alloc(40 * MiB)), Codec.deflate]];
    const zstdCompress = (zlib as unknown as { zstdCompressSync?: (bytes: Buffer) => Buffer }).zstdCompressSync;
    if (zstdCompress !== undefined) bombs.push([zstdCompress(Buffer.alloc(40 * MiB)), Codec.zstd]);
    for (const [bytes, codec] of bombs) {
      for (const claim of [0, 1, 1_000, 100_000]) {
        const { total } = allocationsOf(() => {
          expect(thrownBy(() => back(forged(bytes, codec, claim)))).toBeInstanceOf(CorruptError);
        });
        expect(total).toBeLessThan(2 * claim + 300_000);
      }
    }
  });

  test('that is kept is what was inflated, not what it was cut from', () => {
    // A cache that counts a hundred bytes must not keep the 16 MiB of a merged read.
    const read = Buffer.concat([noise(100), Buffer.alloc(MiB)]);
    const kept = back(store(read.subarray(0, 100)));
    expect(kept.equals(noise(100))).toBe(true);
    expect(kept.buffer).not.toBe(read.buffer);
    const inflated = back(store(Buffer.alloc(50_000, 'text')));
    expect(inflated.buffer.byteLength).toBeLessThan(50_100);
  });
});
