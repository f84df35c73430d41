// A writer that is killed at any moment loses nothing it acknowledged, leaves nothing that must be repaired, and nothing comes twice.
// A fault that one kill in ten meets escapes 24 kills once in twelve, and 240 never.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { traceIdOf } from '../segment/support/segments.js';
import { seededRandom } from '../segment/support/synthetic-spans.js';
import { filesOf, newDirectory, openArchive, WAL } from './support/directory.js';
import { WRITER_STEP } from './support/numbered-traces.js';
import { expectWhole, writerPrograms } from './support/writers.js';

const start = writerPrograms('write-and-acknowledge', 'compact-for-ever');

const WRITERS = samples(8, 8, 160);

test(`${WRITERS} writers killed in mid write`, { timeout: 600_000 }, async () => {
  const directory = newDirectory();
  const random = seededRandom(50);
  let first = 0;
  for (let round = 0; round < WRITERS; round++) {
    const writer = start('write-and-acknowledge', directory, first);
    await writer.until(first);
    await sleep(random() * 60);
    await writer.kill();
    expect(writer.stderr).toBe('');
    const readers = { readOnly: round % 2 === 0 };
    const archive = await Archive.open(directory, readers);
    first = await expectWhole(archive, first, writer.acknowledged);
    expect((await archive.stats()).damaged).toEqual([]);
    await archive.close();
  }
  const archive = await openArchive(directory);
  expect(await expectWhole(archive, 0, first)).toBe(first);
  expect(filesOf(directory, WAL)).toEqual([]);
  const ids = Array.from({ length: first }, (_, n) => traceIdOf(n + 1));
  const found = await archive.traces(ids);
  expect(found.size).toBe(first);
  const summaries = await archive.search({ limit: 100_000 });
  expect(summaries.map(({ spanCount }) => spanCount)).toEqual(ids.map(() => 3));
});

test('killed in mid compaction', { timeout: 600_000 }, async () => {
  const directory = newDirectory();
  const random = seededRandom(51);
  let first = 0;
  for (let round = 0; round < samples(4, 4, 80); round++) {
    const writer = start('compact-for-ever', directory, first);
    await writer.until(first + 100);
    await sleep(random() * 80);
    await writer.kill();
    expect(writer.stderr).toBe('');
    const archive = await Archive.open(directory);
    first = await expectWhole(archive, 0, writer.acknowledged);
    await archive.close();
  }
  const archive = await openArchive(directory, { mergedSpans: 1_000_000 });
  await archive.compact();
  expect(await archive.stats()).toMatchObject({ segments: 1, damaged: [], failures: 0 });
  await expectWhole(archive, 0, first);
});

test('two writers that merge each other’s segments, and a reader that misses nothing', {
  timeout: 600_000,
}, async () => {
  const directory = newDirectory();
  const writers = [0, WRITER_STEP].map((first) => ({
    first,
    writer: start('write-and-acknowledge', directory, first, 2000),
  }));
  for (const { first, writer } of writers) await writer.until(first + 30);
  const reader = await openArchive(directory, { readOnly: true });
  for (let look = 0; look < samples(15, 15, 300); look++) {
    await sleep(10);
    for (const { first, writer } of writers) {
      const { acknowledged } = writer;
      const ids = Array.from({ length: acknowledged - first }, (_, i) => traceIdOf(first + i + 1));
      const found = await reader.traces(ids);
      expect(found.size).toBe(ids.length);
      expect([...found.values()].filter(({ length }) => length !== 3)).toEqual([]);
      const newest = await reader.search({ limit: 5 });
      expect(newest.map(({ spanCount }) => spanCount)).toEqual([3, 3, 3, 3, 3]);
      expect(newest[0].traceId > traceIdOf(WRITER_STEP)).toBe(true);
      if (look % 10 === 0) await expectWhole(reader, WRITER_STEP, writers[1].writer.acknowledged);
    }
  }
  await Promise.all(writers.map(({ writer }) => writer.kill()));
  for (const { writer } of writers) expect(writer.stderr).toBe('');
  const archive = await openArchive(directory);
  await archive.compact();
  const ends = writers.map(({ writer }) => writer.acknowledged);
  await expectWhole(archive, WRITER_STEP, ends[1]);
  expect((await archive.trace(traceIdOf(ends[0]))).length).toBe(3);
  expect((await reader.stats()).damaged).toEqual([]);
});
