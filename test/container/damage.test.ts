// 10,000 bit flips, cuts and worse over containers of three kinds: never wrong bytes, never an error without a type, never more memory
// than the bound, never a hang; and what was not hit stays readable.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../src/container/byte-sink.js';
import type { Compression } from '../../src/container/codec.js';
import { type BlockRef, Container } from '../../src/container/container.js';
import { ContainerWriter } from '../../src/container/container-writer.js';
import { CorruptError, GraphError } from '../../src/container/graph-error.js';
import { FOOTER_BYTES, TOC_ENTRY_BYTES } from '../../src/container/layout.js';
import { BufferTransport } from '../../src/container/transport/buffer-transport.js';
import { FileTransport } from '../../src/container/transport/file-transport.js';
import type { SyncTransport } from '../../src/container/transport/transport.js';
import { seeded } from '../tracedb/support/random.js';
import { allocationsOf } from './support/allocations.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const FLIPS = 7_000;
const CUTS = 1_500;
const FORGERIES = 1_500;
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

describe.each(Object.entries(SAMPLES))('a container: %s', (name, sample) => {
  const { file, refs } = sample;
  const share = 1 / Object.keys(SAMPLES).length;

  test('undamaged is whole', () => {
    expect(readWatched(sample, file, false)).toEqual({ good: new Set(refs.keys()), isOpen: true });
  });

  test('with any one bit flipped in what describes the rest is not opened', () => {
    const start = Number(file.readBigUInt64LE(file.length - FOOTER_BYTES));
    for (let bit = start * 8; bit < file.length * 8; bit++) {
      const damaged = Buffer.from(file);
      damaged[bit >> 3] ^= 1 << (bit & 7);
      expect(readWatched(sample, damaged, false).isOpen).toBe(false);
    }
  });

  test('with flipped bits', () => {
    const random = seeded(100 + name.length);
    let opened = 0;
    let hit = 0;
    for (let i = 0; i < FLIPS * share; i++) {
      const damaged = Buffer.from(file);
      const flipped: number[] = [];
      for (let flips = 1 + Math.floor(random() * 3); flips > 0; flips--) {
        const at = Math.floor(random() * file.length);
        damaged[at] ^= 1 << Math.floor(random() * 8);
        flipped.push(at);
      }
      const { isOpen, good } = readWatched(sample, damaged, false);
      if (!isOpen) continue;
      opened++;
      refs.forEach(({ offset, storedLength }, block) => {
        const isHit = flipped.some((at) => at >= offset && at < offset + storedLength && damaged[at] !== file[at]);
        expect(good.has(block)).toBe(!isHit);
        if (isHit) hit++;
      });
    }
    expect(opened).toBeGreaterThan(0);
    expect(hit).toBeGreaterThan(0);
  });

  test('cut, lengthened, or with a stretch moved or wiped out', () => {
    const random = seeded(200 + name.length);
    const nat = (below: number): number => Math.floor(random() * below);
    for (let i = 0; i < CUTS * share; i++) {
      const [from, to] = [nat(file.length + 1), nat(file.length + 1)].toSorted((a, b) => a - b);
      const [before, stretch, after] = [file.subarray(0, from), file.subarray(from, to), file.subarray(to)];
      const damages: (() => Buffer)[] = [
        () => Buffer.from(before),
        () => Buffer.from(after),
        () => Buffer.concat([before, after]),
        () => Buffer.concat([before, Buffer.alloc(stretch.length), after]),
        () => Buffer.concat([before, after, stretch]),
        () => Buffer.concat([before, stretch, stretch, after]),
        () => Buffer.concat([file, Buffer.alloc(nat(100), 'x')]),
      ];
      readWatched(sample, damages[i % damages.length](), false);
    }
  });

  test('whose numbers lie under right checksums', () => {
    const random = seeded(300 + name.length);
    const nat = (below: number): number => Math.floor(random() * below);
    const values = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
    for (let i = 0; i < FORGERIES * share; i++) {
      const forged = Buffer.from(file);
      const footer = forged.subarray(file.length - FOOTER_BYTES);
      const toc = forged.subarray(Number(footer.readBigUInt64LE(0)), file.length - FOOTER_BYTES);
      for (let lies = 1 + nat(3); lies > 0; lies--) {
        const entry = nat(toc.length / TOC_ENTRY_BYTES) * TOC_ENTRY_BYTES;
        const field = entry + [8, 16, 24][nat(3)];
        switch (nat(4)) {
          case 0:
            toc.writeBigUInt64LE(values[nat(values.length)], field);
            break;
          case 1:
            toc.writeBigUInt64LE(BigInt(nat(2 * file.length)), field);
            break;
          case 2:
            toc[entry + nat(TOC_ENTRY_BYTES)] = nat(256);
            break;
          default:
            // Garbage with the checksum of garbage: only inflating it shows what it is.
            toc[entry + 6] = 1 + nat(2);
            toc.writeUInt32LE(crc32(sectionBytes(forged, toc, entry)), entry + 32);
        }
      }
      footer.writeUInt32LE(crc32(toc), 24);
      footer.writeUInt32LE(crc32(footer.subarray(0, 44)), 44);
      readWatched(sample, forged, true);
    }
  });

  test('on disk, read by promises', async () => {
    const random = seeded(400 + name.length);
    const path = join(directory, name);
    for (let i = 0; i < 50; i++) {
      const damaged = Buffer.from(file.subarray(0, i % 4 === 0 ? Math.floor(random() * file.length) : undefined));
      if (damaged.length > 0) damaged[Math.floor(random() * damaged.length)] ^= 1 << Math.floor(random() * 8);
      writeFileSync(path, damaged);
      const transport = await FileTransport.open(path);
      const { isOpen, good } = readAll(sample, transport, false);
      if (isOpen) {
        const container = await Container.open(transport, { tailBytes: sample.tailBytes });
        const left = [...good];
        const blocks = await container.readBlocks(left.map((block) => refs[block]));
        expect(Buffer.concat(blocks).equals(Buffer.concat(left.map((block) => sample.blocks[block])))).toBe(true);
        const whole = container.readBlocks(refs);
        if (good.size < refs.length) await expect(whole).rejects.toBeInstanceOf(CorruptError);
        else await whole;
      } else {
        const opening = Container.open(transport, { tailBytes: sample.tailBytes });
        await expect(opening).rejects.toBeInstanceOf(GraphError);
      }
      await transport.close();
    }
  });
});

/** The stored bytes of a section, as far as they lie in the file. */
const sectionBytes = (file: Buffer, toc: Buffer, entry: number): Buffer => {
  const [offset, length] = [8, 16].map((at) => Number(toc.readBigUInt64LE(entry + at)));
  return file.subarray(Math.min(offset, file.length), Math.min(offset + length, file.length));
};
