// What is written to a container is read back by every way of reading, by as few reads as its tail allows; what this reader does not
// know is skipped or refused as the file asks for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { Compression } from '../../src/container/codec.js';
import { type BlockRef, Container } from '../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../src/container/container-writer.js';
import {
  BadOptionsError,
  BadSignatureError,
  CorruptError,
  LimitError,
  NotFoundError,
  TruncatedError,
  UnsupportedVersionError,
} from '../../src/container/graph-error.js';
import { FLAG_REQUIRED, FOOTER_BYTES, HEADER_BYTES, TOC_ENTRY_BYTES } from '../../src/container/layout.js';
import { BufferTransport, FileTransport } from '../../src/container/transport/file-transport.js';
import { allocationsOf } from './support/allocations.js';
import { failureOf, thrownBy } from './support/errors.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const directory = temporaryDirectory();
const BLOCKED = 2_000;

/** A file of whole sections 1000, 1001, ... and, last, one section of blocks. */
const build = (
  sections: readonly Buffer[],
  blocks: readonly Buffer[],
  compression: Compression = 'deflate',
): { readonly file: Buffer; readonly refs: BlockRef[] } => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, compression);
  for (const [i, body] of sections.entries()) writer.section({ id: 1_000 + i, graph: i % 3 }, body);
  const start = writer.position;
  const refs = blocks.map((bytes, block) => ({ ...writer.block(bytes), section: BLOCKED, block }));
  writer.blockedSection({ id: BLOCKED }, start);
  const length = writer.finish();
  const file = sink.toBuffer();
  expect(length).toBe(file.length);
  return { file, refs };
};

const openSync = (file: Buffer, options = {}): Container => Container.openSync(new BufferTransport(file), options);

const body = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.string(), fc.nat(300)).map(([text, times]) => Buffer.from(text.repeat(times))),
);
const bodies = fc.array(body, { maxLength: 8 });

describe('a round trip', () => {
  test('gives every section and block, at once and later, whatever came with the tail', async () => {
    const path = join(directory, 'round-trip');
    await fc.assert(
      fc.asyncProperty(
        bodies,
        bodies,
        fc.constantFrom<Compression>('deflate', 'zstd', 'none'),
        fc.integer({ min: 1, max: 5_000 }),
        async (sections, blocks, compression, tailBytes) => {
          const { file, refs } = build(sections, blocks, compression);
          writeFileSync(path, file);
          const fromFile = FileTransport.openSync(path);
          for (const transport of [new BufferTransport(file), fromFile]) {
            const atOnce = Container.openSync(transport, { tailBytes });
            const later = await Container.open(transport, { tailBytes });
            const entries = sections.map((_, i) => atOnce.need(1_000 + i, i % 3));
            const ways = [
              [atOnce.readSync(entries), atOnce.readBlocksSync(refs), atOnce.readSync([atOnce.need(BLOCKED)])],
              [await later.read(entries), await later.readBlocks(refs), await later.read([later.need(BLOCKED)])],
            ];
            for (const [gotSections, gotBlocks, [run]] of ways) {
              expect(Buffer.concat(gotSections).equals(Buffer.concat(sections))).toBe(true);
              expect(gotSections.map(({ length }) => length)).toEqual(sections.map(({ length }) => length));
              expect(Buffer.concat(gotBlocks).equals(Buffer.concat(blocks))).toBe(true);
              expect(run.length).toBe(refs.reduce((sum, { storedLength }) => sum + storedLength, 0));
            }
          }
          await fromFile.close();
        },
      ),
      { numRuns: samples(20, 80, 800) },
    );
  });

  test('gives the same bytes for the same calls', () => {
    fc.assert(
      fc.property(bodies, bodies, (sections, blocks) => {
        expect(build(sections, blocks).file.equals(build(sections, blocks).file)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('of nothing is a file', () => {
    const { file } = build([], []);
    expect(openSync(file).sections).toHaveLength(1);
    expect(file.length).toBe(HEADER_BYTES + TOC_ENTRY_BYTES + FOOTER_BYTES);
  });
});

describe('reads', () => {
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 24) ^ (i >> 8)));

  test('one opens, and what came with it is not read again', () => {
    const { file, refs } = build([noise.subarray(0, 200_000)], [Buffer.from('block')], 'none');
    const transport = new BufferTransport(file);
    const container = Container.openSync(transport);
    expect(transport.stats()).toEqual({ requests: 1, ranges: 1, bytes: 65_536 });
    expect(container.readBlocksSync(refs).toString()).toBe('block');
    expect(transport.stats().requests).toBe(1);
    // Of what begins before the tail and ends in it only the beginning is fetched.
    const entry = container.need(1_000, 0);
    expect(container.readSync([entry])[0].equals(noise.subarray(0, 200_000))).toBe(true);
    const inTail = entry.offset + entry.storedLength - (file.length - 65_536);
    expect(inTail).toBeGreaterThan(0);
    expect(transport.stats()).toEqual({ requests: 2, ranges: 2, bytes: 265_536 - inTail });
  });

  test('a second is needed for a table of contents longer than the tail, and for nothing else', () => {
    const { file } = build(
      Array.from({ length: 200 }, () => Buffer.from('x')),
      [],
    );
    const transport = new BufferTransport(file);
    const container = Container.openSync(transport, { tailBytes: 1_000 });
    expect(container.sections).toHaveLength(201);
    expect(transport.stats()).toEqual({ requests: 2, ranges: 2, bytes: 201 * TOC_ENTRY_BYTES + FOOTER_BYTES });
  });
});

describe('what a writer refuses', () => {
  const writerOf = (): ContainerWriter => new ContainerWriter(new BufferSink());

  test('is a section twice, and numbers that do not fit', () => {
    const writer = writerOf();
    writer.section({ id: 1_000 }, Buffer.from('x'));
    writer.section({ id: 1_000, graph: 1 }, Buffer.from('x'));
    expect(thrownBy(() => writer.section({ id: 1_000 }, Buffer.from('x')))).toBeInstanceOf(BadOptionsError);
    for (const name of [{ id: 65_536 }, { id: -1 }, { id: 1.5 }, { id: 1, graph: 65_536 }, { id: 1, flags: 65_536 }]) {
      expect(thrownBy(() => writerOf().section(name, Buffer.from('x')))).toBeInstanceOf(BadOptionsError);
    }
  });
});

/** A file with numbers of its footer and table of contents changed, and all checksums made right again. */
const forge = (file: Buffer, change: (toc: Buffer, footer: Buffer) => void): Buffer => {
  const forged = Buffer.from(file);
  const footer = forged.subarray(forged.length - FOOTER_BYTES);
  const toc = forged.subarray(Number(footer.readBigUInt64LE(0)), forged.length - FOOTER_BYTES);
  change(toc, footer);
  footer.writeUInt32LE(crc32(toc), 24);
  footer.writeUInt32LE(crc32(footer.subarray(0, 44)), 44);
  return forged;
};

describe('a reader', () => {
  const { file } = build([Buffer.alloc(5_000, 'text')], [Buffer.from('block')]);

  test('tells what is not a graph file from what is cut off', async () => {
    expect(thrownBy(() => openSync(Buffer.alloc(0)))).toBeInstanceOf(TruncatedError);
    expect(thrownBy(() => openSync(file.subarray(0, 50)))).toBeInstanceOf(TruncatedError);
    expect(thrownBy(() => openSync(Buffer.alloc(500)))).toBeInstanceOf(BadSignatureError);
    expect(thrownBy(() => openSync(file.subarray(0, -1)))).toBeInstanceOf(BadSignatureError);
    const longer = Buffer.concat([Buffer.alloc(10), file]);
    expect(thrownBy(() => openSync(longer))).toBeInstanceOf(TruncatedError);
    expect(await failureOf(Container.open(new BufferTransport(longer)))).toBeInstanceOf(TruncatedError);
    const otherBegin = Buffer.from(file);
    otherBegin[0] ^= 1;
    expect(thrownBy(() => openSync(otherBegin))).toBeInstanceOf(BadSignatureError);
  });

  test('refuses a version and a feature of the future, said at either end', () => {
    for (const [at, value] of [
      [8, 2],
      [10, 1],
    ]) {
      const newer = Buffer.from(file);
      newer.writeUInt16LE(value, at);
      expect(thrownBy(() => openSync(newer))).toBeInstanceOf(UnsupportedVersionError);
    }
    for (const [at, value] of [
      [28, 2],
      [30, 1],
    ]) {
      const newer = forge(file, (_, footer) => footer.writeUInt16LE(value, at));
      // Without its header, as in a large file.
      expect(thrownBy(() => openSync(newer, { tailBytes: 1 }))).toBeInstanceOf(UnsupportedVersionError);
    }
  });

  test('skips a section it does not know, unless the file needs it', () => {
    const sink = new BufferSink();
    const writer = new ContainerWriter(sink);
    writer.section({ id: 60_000 }, Buffer.from('x'));
    writer.section({ id: 1_000 }, Buffer.from('y'));
    writer.finish();
    const container = openSync(sink.toBuffer());
    expect(container.readSync([container.need(1_000)]).toString()).toBe('y');
    expect(container.find(9)).toBeUndefined();
    const missing = thrownBy(() => container.need(9, 2));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing.message).toContain('section 9 of graph 2');
    const needing = forge(sink.toBuffer(), (toc) => toc.writeUInt16LE(FLAG_REQUIRED, 4));
    expect(thrownBy(() => openSync(needing))).toBeInstanceOf(UnsupportedVersionError);
  });

  test('refuses a section outside of its file, and a table of contents that is none', () => {
    for (const [at, value] of [
      [8, 0n],
      [8, BigInt(file.length)],
      [16, BigInt(file.length)],
      [16, 2n ** 64n - 1n],
      [8, 2n ** 64n - 1n],
    ] as const) {
      const forged = forge(file, (toc) => toc.writeBigUInt64LE(value, at));
      expect(thrownBy(() => openSync(forged))).toBeInstanceOf(CorruptError);
    }
    for (const [at, value] of [
      [0, 0n],
      [0, 2n ** 63n],
      [8, 1n],
      [8, 2n ** 40n],
    ] as const) {
      const forged = forge(file, (_, footer) => footer.writeBigUInt64LE(value, at));
      expect(thrownBy(() => openSync(forged))).toBeInstanceOf(CorruptError);
    }
  });

  test('asks for no block outside of the file, nor for one beyond the limit', async () => {
    const { file } = build([Buffer.alloc(5_000, 'text')], [], 'none');
    const transport = new BufferTransport(file);
    const container = Container.openSync(transport, { tailBytes: 200, maxBlockBytes: 4_000 });
    const { requests } = transport.stats();
    const good = { offset: 16, storedLength: 5, inflatedLength: 5, codec: 0, crc: 0, section: BLOCKED, block: 7 };
    for (const bad of [{ offset: 0 }, { offset: file.length - 4 }, { offset: 2 ** 60 }, { storedLength: Number.NaN }]) {
      const failure = thrownBy(() => container.readBlocksSync([{ ...good, ...bad }]));
      expect(failure).toBeInstanceOf(CorruptError);
      expect(failure).toMatchObject({ block: 7 });
    }
    for (const bad of [{ inflatedLength: 4_001 }, { inflatedLength: 2 ** 52 }]) {
      expect(await failureOf(container.readBlocks([{ ...good, ...bad }]))).toBeInstanceOf(LimitError);
    }
    expect(thrownBy(() => container.readSync([container.need(1_000, 0)]))).toBeInstanceOf(LimitError);
    expect(transport.stats().requests).toBe(requests);
  });

  test('takes no memory for a section that is longer than the limit as stored', () => {
    const { file: large } = build([Buffer.alloc(2_000_000)], [], 'none');
    const forged = forge(large, (toc) => toc.writeBigUInt64LE(1n, 24));
    const path = join(directory, 'large');
    writeFileSync(path, forged);
    const transport = FileTransport.openSync(path);
    const container = Container.openSync(transport, { tailBytes: 200, maxBlockBytes: 1_000_000 });
    const { total } = allocationsOf(() => {
      expect(thrownBy(() => container.readSync([container.need(1_000, 0)]))).toBeInstanceOf(LimitError);
    });
    expect(total).toBeLessThan(10_000);
  });

  test('refuses bounds that are none', async () => {
    for (const options of [
      { maxBlockBytes: Number.NaN },
      { maxBlockBytes: 0 },
      { tailBytes: 0.5 },
      { tailBytes: -1 },
    ]) {
      expect(thrownBy(() => openSync(file, options))).toBeInstanceOf(BadOptionsError);
      expect(await failureOf(Container.open(new BufferTransport(file), options))).toBeInstanceOf(BadOptionsError);
    }
  });
});
