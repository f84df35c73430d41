// Bit flips, cuts and worse over containers of four kinds: never wrong bytes, never an error without a type, never more memory
// than the bound, never a hang; and what was not hit stays readable.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { seeded } from '../../../../test/support/random.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import type { Compression } from '../../src/container/codec.js';
import { type BlockRef, Container } from '../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../src/container/container-writer.js';
import { CorruptError, GraphError } from '../../src/container/graph-error.js';
import { FOOTER_BYTES, TOC_ENTRY_BYTES } from '../../src/container/layout.js';
import { BufferTransport, FileTransport } from '../../src/container/transport/file-transport.js';
import type { SyncTransport } from '../../src/container/transport/transport.js';
import { allocationsOf } from './support/allocations.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const MAX_BLOCK_BYTES = 20_000;
const BLOCKED = 2_000;

const directory = temporaryDirectory();

interface Sample {
  readonly file: Buffer;
  readonly sections: readonly Buffer[];
  readonly blocks: readonly Buffer[];
  readonly refs: readonly BlockRef[];
  readonly tailBytes: number;
}

const build = (
  sections: readonly Buffer[],
  blocks: readonly Buffer[],
  compression: Compression,
  tailBytes: number,
): Sample => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, compression);
  const refs = blocks.map((bytes, block) => ({ ...writer.block(bytes), section: BLOCKED, block }));
  writer.blockedSection({ id: BLOCKED }, refs[0].offset);
  for (const [i, body] of sections.entries()) writer.section({ id: 1_000 + i }, body);
  writer.finish();
  return { file: sink.toBuffer(), sections, blocks, refs, tailBytes };
};

const words = (seed: number, length: number): Buffer => {
  const random = seeded(seed);
  return Buffer.from(Array.from({ length }, () => 97 + Math.floor(random() ** 3 * 20)));
};

/** Small and in its tail as a whole; many compressed blocks before a short tail; stored as they are, by zstd where there is one. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  small: build([words(1, 300), Buffer.alloc(0)], [words(2, 500), words(3, 20)], 'deflate', 65_536),
  blocks: build(
    [words(4, 3_000), words(5, 10)],
    Array.from({ length: 16 }, (_, i) => words(10 + i, 700 + 100 * i)),
    'deflate',
    300,
  ),
  'as they are': build(
    [words(6, 2_000)],
    Array.from({ length: 6 }, (_, i) => words(30 + i, 1_000)),
    'none',
    1_000,
  ),
  zstd: build(
    [words(7, 2_000)],
    Array.from({ length: 6 }, (_, i) => words(40 + i, 1_500)),
    'zstd',
    1_000,
  ),
};

interface Outcome {
  /** Blocks that came back right. */
  readonly good: ReadonlySet<number>;
  readonly isOpen: boolean;
}

/** The bytes of `read`, which are right, or undefined where it ends with an error of the right type. */
const rightOrTyped = (read: () => Buffer, right: Buffer | undefined): boolean => {
  let bytes: Buffer;
  try {
    bytes = read();
  } catch (error) {
    if (error instanceof GraphError) return false;
    throw error;
  }
  if (right !== undefined && !bytes.equals(right)) throw new Error('wrong bytes');
  return true;
};

/** Reads everything a damaged file may still hold. `isForged`: the table of contents lies, so that sections may be others. */
const readAll = (sample: Sample, transport: SyncTransport, isForged: boolean): Outcome => {
  const good = new Set<number>();
  let container: Container;
  try {
    container = Container.openSync(transport, { tailBytes: sample.tailBytes, maxBlockBytes: MAX_BLOCK_BYTES });
  } catch (error) {
    if (error instanceof GraphError) return { good, isOpen: false };
    throw error;
  }
  sample.sections.forEach((body, i) => {
    const entry = container.find(1_000 + i);
    if (entry !== undefined) rightOrTyped(() => container.readSync([entry])[0], isForged ? undefined : body);
  });
  for (const entry of container.sections) rightOrTyped(() => container.readSync([entry])[0], undefined);
  sample.refs.forEach((ref, i) => {
    if (rightOrTyped(() => container.readBlocksSync([ref])[0], sample.blocks[i])) good.add(i);
  });
  return { good, isOpen: true };
};

/** The same, with the memory it took: what is read and inflated, but no multiple of what a damaged number says. */
const readWatched = (sample: Sample, file: Buffer, isForged: boolean): Outcome => {
  let outcome: Outcome | undefined;
  const { largest } = allocationsOf(() => {
    outcome = readAll(sample, new BufferTransport(file), isForged);
  });
  expect(largest).toBeLessThanOrEqual(Math.max(MAX_BLOCK_BYTES + 1, file.length));
  return outcome as Outcome;
};

type Damage = (before: Buffer, stretch: Buffer, after: Buffer, more: number) => Buffer;
const DAMAGES: readonly Damage[] = [
  (before) => Buffer.from(before),
  (_before, _stretch, after) => Buffer.from(after),
  (before, _stretch, after) => Buffer.concat([before, after]),
  (before, stretch, after) => Buffer.concat([before, Buffer.alloc(stretch.length), after]),
  (before, stretch, after) => Buffer.concat([before, after, stretch]),
  (before, stretch, after) => Buffer.concat([before, stretch, stretch, after]),
  (before, stretch, after, more) => Buffer.concat([before, stretch, after, Buffer.alloc(more, 'x')]),
];

const someNumber = fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n);
/** What is wrong with an entry of the table of contents. */
const lie = fc
  .tuple(
    fc.record({ at: fc.nat(1000), field: fc.constantFrom(8, 16, 24) }),
    fc.oneof(
      fc.record({ kind: fc.constant('number' as const), value: someNumber }),
      fc.record({ kind: fc.constant('length' as const), share: fc.nat() }),
      fc.record({ kind: fc.constant('byte' as const), offset: fc.nat(TOC_ENTRY_BYTES - 1), byte: fc.nat(255) }),
      fc.record({ kind: fc.constant('garbage' as const), codec: fc.constantFrom(1, 2) }),
    ),
  )
  .map(([place, what]) => ({ ...place, ...what }));

describe.each(Object.entries(SAMPLES))('a container: %s', (name, sample) => {
  const { file, refs } = sample;
  const place = fc.noBias(fc.nat(file.length - 1));

  test('undamaged is whole', () => {
    expect(readWatched(sample, file, false)).toEqual({ good: new Set(refs.keys()), isOpen: true });
  });

  test('with any one bit flipped in what describes the rest is not opened', () => {
    const start = Number(file.readBigUInt64LE(file.length - FOOTER_BYTES));
    const bits = Array.from({ length: (file.length - start) * 8 }, (_, bit) => start * 8 + bit);
    for (const bit of sampleOf(bits, 300, 3000)) {
      const damaged = Buffer.from(file);
      damaged[bit >> 3] ^= 1 << (bit & 7);
      expect(readWatched(sample, damaged, false).isOpen).toBe(false);
    }
  });

  test('with flipped bits', () => {
    let opened = 0;
    let hit = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(place, fc.nat(7)), { minLength: 1, maxLength: 3 }), (flips) => {
        const damaged = Buffer.from(file);
        for (const [at, bit] of flips) damaged[at] ^= 1 << bit;
        const { isOpen, good } = readWatched(sample, damaged, false);
        if (!isOpen) return;
        opened++;
        refs.forEach(({ offset, storedLength }, block) => {
          const isHit = flips.some(([at]) => at >= offset && at < offset + storedLength && damaged[at] !== file[at]);
          expect(good.has(block)).toBe(!isHit);
          if (isHit) hit++;
        });
      }),
      { numRuns: samples(150, 280, 17_500) },
    );
    expect(opened).toBeGreaterThan(0);
    expect(hit).toBeGreaterThan(0);
  });

  test('cut, lengthened, or with a stretch moved or wiped out', () => {
    const end = fc.noBias(fc.nat(file.length));
    fc.assert(
      fc.property(end, end, fc.constantFrom(...DAMAGES), fc.nat(100), (one, other, damage, more) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const [before, stretch, after] = [file.subarray(0, from), file.subarray(from, to), file.subarray(to)];
        readWatched(sample, damage(before, stretch, after, more), false);
      }),
      { numRuns: samples(60, 60, 4000) },
    );
  });

  test('whose numbers lie under right checksums', () => {
    fc.assert(
      fc.property(fc.array(lie, { minLength: 1, maxLength: 3 }), (lies) => {
        const forged = Buffer.from(file);
        const footer = forged.subarray(file.length - FOOTER_BYTES);
        const toc = forged.subarray(Number(footer.readBigUInt64LE(0)), file.length - FOOTER_BYTES);
        for (const { at, field, ...one } of lies) {
          const entry = (at % (toc.length / TOC_ENTRY_BYTES)) * TOC_ENTRY_BYTES;
          switch (one.kind) {
            case 'number':
              toc.writeBigUInt64LE(one.value, entry + field);
              break;
            case 'length':
              toc.writeBigUInt64LE(BigInt(one.share % (2 * file.length)), entry + field);
              break;
            case 'byte':
              toc[entry + one.offset] = one.byte;
              break;
            default:
              // Garbage with the checksum of garbage: only inflating it shows what it is.
              toc[entry + 6] = one.codec;
              toc.writeUInt32LE(crc32(sectionBytes(forged, toc, entry)), entry + 32);
          }
        }
        footer.writeUInt32LE(crc32(toc), 24);
        footer.writeUInt32LE(crc32(footer.subarray(0, 44)), 44);
        readWatched(sample, forged, true);
      }),
      { numRuns: samples(60, 60, 4000) },
    );
  });

  test('on disk, read by promises', async () => {
    const path = join(directory, name);
    const flip = fc.option(fc.tuple(place, fc.nat(7)), { nil: undefined });
    const length = fc.oneof({ weight: 3, arbitrary: fc.constant(file.length) }, fc.noBias(fc.nat(file.length)));
    await fc.assert(
      fc.asyncProperty(length, flip, async (left, flipped) => {
        const damaged = Buffer.from(file.subarray(0, left));
        if (flipped !== undefined && flipped[0] < left) damaged[flipped[0]] ^= 1 << flipped[1];
        writeFileSync(path, damaged);
        const transport = await FileTransport.open(path);
        const { isOpen, good } = readAll(sample, transport, false);
        if (isOpen) {
          const container = await Container.open(transport, { tailBytes: sample.tailBytes });
          const whole = [...good];
          const blocks = await container.readBlocks(whole.map((block) => refs[block]));
          expect(Buffer.concat(blocks).equals(Buffer.concat(whole.map((block) => sample.blocks[block])))).toBe(true);
          const all = container.readBlocks(refs);
          if (good.size < refs.length) await expect(all).rejects.toBeInstanceOf(CorruptError);
          else await all;
        } else {
          const opening = Container.open(transport, { tailBytes: sample.tailBytes });
          await expect(opening).rejects.toBeInstanceOf(GraphError);
        }
        await transport.close();
      }),
      { numRuns: samples(12, 20, 500) },
    );
  });
});

/** The stored bytes of a section, as far as they lie in the file. */
const sectionBytes = (file: Buffer, toc: Buffer, entry: number): Buffer => {
  const [offset, length] = [8, 16].map((at) => Number(toc.readBigUInt64LE(entry + at)));
  return file.subarray(Math.min(offset, file.length), Math.min(offset + length, file.length));
};
