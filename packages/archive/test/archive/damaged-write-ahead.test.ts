// Damage of a write-ahead file is named to whoever reads, and hides nothing that stands beside it; the next writer takes over what is whole
// and keeps the rest aside.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import type { DamagedSegment } from '../../src/archive-options.js';
import { ownerText, THIS_OWNER } from '../../src/directory.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { byId, traceIdOf } from '../segment/support/segments.js';
import { allSpans, filesOf, newDirectory, openArchive, SEGMENT, WAL } from './support/directory.js';
import { numberedTrace } from './support/numbered-traces.js';

/** A process that is no more. */
const DEAD = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });
const NAME = `wal-${DEAD}-0123456789ab.log`;
const BATCHES = 12;

/** A file of one trace a batch; its bytes, and where each batch ends. */
const leaveFile = (directory: string): { path: string; bytes: Buffer; ends: number[] } => {
  const path = join(directory, NAME);
  const wal = new WalWriter(path);
  const ends = Array.from({ length: BATCHES }, (_, n) => {
    wal.append(numberedTrace(n));
    return wal.bytes;
  });
  wal.close();
  return { path, bytes: readFileSync(path), ends };
};

const flipped = (bytes: Buffer, at: number, bit: number): Buffer => {
  const damaged = Buffer.from(bytes);
  damaged[at] ^= 1 << bit;
  return damaged;
};

const left = (hit: number) =>
  Array.from({ length: BATCHES }, (_, n) => n)
    .filter((n) => n !== hit)
    .flatMap((n) => numberedTrace(n));

test('one flipped bit anywhere: readers name the file and read all other batches', async () => {
  const directory = newDirectory();
  const { path, bytes, ends } = leaveFile(directory);
  const place = fc.oneof(
    { weight: 1, arbitrary: fc.nat(7) },
    { weight: 4, arbitrary: fc.noBias(fc.nat(bytes.length - 1)) },
  );
  await fc.assert(
    fc.asyncProperty(place, fc.nat(7), async (at, bit) => {
      writeFileSync(path, flipped(bytes, at, bit));
      const hit = at < 8 ? -1 : ends.findIndex((end) => at < end);
      const reader = await Archive.open(directory, { readOnly: true });
      try {
        const reported: DamagedSegment[] = [];
        const found = await reader.search({ limit: 100 }, { onDamage: (damage) => void reported.push(damage) });
        expect(found).toHaveLength(hit < 0 ? BATCHES : BATCHES - 1);
        expect(await allSpans(reader)).toEqual(byId(left(hit)));
        const damage = { file: NAME, code: 'ERR_SPANLINE_GRAPH_CORRUPT', message: expect.stringContaining(NAME) };
        expect(reported).toEqual([damage]);
        expect((await reader.stats()).damaged).toEqual(reported);
      } finally {
        await reader.close();
      }
    }),
    { numRuns: samples(15, 60, 1000) },
  );
});

test.each([false, true])(
  'the next writer takes over what is whole and puts the file aside, damage named; worker: %s',
  async (worker) => {
    const directory = newDirectory();
    const { path, bytes, ends } = leaveFile(directory);
    const damaged = flipped(bytes, ends[3] + 20, 2);
    writeFileSync(path, damaged);
    const writer = await openArchive(directory, { worker });
    const { damaged: named, ...stats } = await writer.stats();
    expect(stats).toMatchObject({ recoveredFiles: 1, recoveredSpans: 33, tornBytes: 0, failures: 0 });
    const aside = 'damaged-wal-0123456789ab.log';
    expect(named).toEqual([
      { file: aside, code: 'ERR_SPANLINE_GRAPH_CORRUPT', message: expect.stringContaining('can be deleted') },
    ]);
    expect(filesOf(directory, WAL)).toEqual([]);
    expect(filesOf(directory, SEGMENT)).toHaveLength(1);
    expect(readFileSync(join(directory, aside))).toEqual(damaged);
    expect(await allSpans(writer)).toEqual(byId(left(4)));
    expect(await writer.trace(traceIdOf(5))).toEqual([]);
  },
);

test('a file whose first bytes are damaged is not thrown away', async () => {
  const directory = newDirectory();
  const { path, bytes } = leaveFile(directory);
  writeFileSync(path, flipped(bytes, 2, 0));
  const writer = await openArchive(directory);
  expect(await allSpans(writer)).toEqual(byId(left(-1)));
  expect((await writer.stats()).damaged).toHaveLength(1);
});

test('a file that was cut is torn for who only reads it, as for who takes it over', async () => {
  for (const cut of [1, 20, 33]) {
    const directory = newDirectory();
    const { path, bytes, ends } = leaveFile(directory);
    writeFileSync(path, bytes.subarray(0, bytes.length - cut));
    const torn = bytes.length - cut - ends[BATCHES - 2];
    const reader = await openArchive(directory, { readOnly: true });
    expect((await reader.stats()).tornBytes).toBe(torn);
    // Asked again it is the same, and not counted twice.
    expect((await reader.stats()).tornBytes).toBe(torn);
    const writer = await openArchive(directory);
    expect((await writer.stats()).tornBytes).toBe(torn);
    expect((await reader.stats()).tornBytes).toBe(0);
  }
});

test('what a living writer is about to write is not torn', async () => {
  const directory = newDirectory();
  const { bytes } = leaveFile(directory);
  const living = ownerText({ ...THIS_OWNER, pid: process.ppid, instance: '0badf00d' });
  writeFileSync(join(directory, `wal-${living}-1123456789ab.log`), bytes.subarray(0, bytes.length - 1));
  const reader = await openArchive(directory, { readOnly: true });
  expect((await reader.stats()).tornBytes).toBe(0);
});
