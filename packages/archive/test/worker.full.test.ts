// The worker thread of an archive while it, or the process, ends at any moment: nothing acknowledged is lost, nothing comes twice, nothing hangs.
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { beforeAll, expect, test, vi } from 'vitest';
import { buildFirst, root } from '../../../test/support/built.js';
import { bundleChild, out, runFile } from '../../../test/support/child.js';
import { expectSame } from '../../../test/support/same-values.js';
import { samples } from '../../../test/support/samples.js';
import { Archive as SourceArchive } from '../src/archive.js';
import { allSpans, filesOf, newDirectory, SEGMENT, UNSORTED, WAL } from './archive/support/directory.js';
import { numberedTrace } from './archive/support/numbered-traces.js';
import { startWriter } from './archive/support/writer-process.js';
import { byId, traceIdOf } from './segment/support/segments.js';
import { seededRandom } from './segment/support/synthetic-spans.js';
import { checkAll, entries, holdAnswers, lastThread, openBuilt, traces } from './support/built-archive.js';

buildFirst();

let child = '';
beforeAll(async () => {
  child = await bundleChild(fileURLToPath(new URL('children/worker-at-end.ts', import.meta.url)));
});

const ROUNDS = samples(2, 2, 6);

test('looks from all sides while segments are made, and merged by the worker', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 6000 });
  const reader = await SourceArchive.open(directory, { readOnly: true });
  let count = 0;
  for (let round = 0; round < ROUNDS; round++) {
    archive.append(traces(count, 2000));
    count += 2000;
    for (let isDone = false; !isDone; ) {
      archive.append(numberedTrace(count++));
      isDone = (await archive.stats()).segmentsWritten > round;
      expectSame(await allSpans(archive), byId(traces(0, count)));
      expect((await archive.search({ limit: 1 }))[0]).toMatchObject({ traceId: traceIdOf(count), spanCount: 3 });
      expect(await reader.trace(traceIdOf(1))).toHaveLength(3);
    }
    await archive.flush();
    await archive.seal();
  }
  await archive.compact();
  expect(await archive.stats()).toMatchObject({ segments: 1, workerFallbacks: 0, workerFailure: '', failures: 0 });
  await reader.close();
  await checkAll(directory, count);
});

/** Each archive is read whole after each death: twenty with three take a tenth of the time of one with sixty. */
const ARCHIVES = Array.from({ length: samples(1, 1, 20) }, (_, i) => 7 + i);
const DEATHS = 3;

test.each(ARCHIVES)(`${DEATHS} deaths of a worker at any moment (seed %i)`, async (seed) => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 3000 });
  const random = seededRandom(seed);
  let count = 0;
  for (let round = 0; round < DEATHS; round++) {
    archive.append(traces(count, 1500));
    count += 1500;
    await archive.seal();
    const done = archive.compact();
    // The first is over a task for certain.
    if (round === 0) await vi.waitFor(() => expect(lastThread()).toBeDefined());
    else await sleep(random() * 60);
    await lastThread()?.terminate();
    await done;
    await archive.flush();
    expectSame(await allSpans(archive), byId(traces(0, count)));
    // One that answered: deaths that follow each other would end it for good.
    archive.append(traces(count, 500));
    count += 500;
    await archive.seal();
    await archive.compact();
  }
  const { workerTasks, workerFallbacks, workerFailure, failures } = await archive.stats();
  expect({ isUsed: workerTasks >= DEATHS, isReplaced: workerFallbacks > 0, workerFailure, failures }).toEqual({
    isUsed: true,
    isReplaced: true,
    workerFailure: 'Error: it ended',
    failures: 0,
  });
  await archive.close();
  await checkAll(directory, count);
});

// Each end once, and each format: both have the same code. At night each end in each format.
const ENDS = (
  [
    ['esm', 'cjs'],
    ['cjs', 'esm'],
  ] as const
).flatMap((formats) => ['naturally', 'exit', 'close', 'at-exit'].map((how, i) => [formats[i % 2], how] as const));

test.each(ENDS.slice(0, samples(4, 4, 8)))(
  'a process (%s) that ends (%s) while its worker is busy neither hangs nor loses anything',
  async (format, how) => {
    const directory = newDirectory();
    const { code, signal, stderr } = await runFile(child, { args: [entries[format], directory, how] });
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    await checkAll(directory, 2000);
    const archive = await openBuilt(directory);
    expect(await archive.trace(traceIdOf(2000))).toEqual(numberedTrace(1999));
    expect(filesOf(directory, WAL)).toEqual([]);
  },
);

/** A fault that one kill in four meets escapes eight kills once in ten, and eighty never. */
const KILLED = samples(4, 4, 80);

test(`${KILLED} processes killed while their workers are busy`, { timeout: 600_000 }, async () => {
  const random = seededRandom(8);
  for (let round = 0; round < KILLED; round++) {
    const directory = newDirectory();
    const writer = startWriter(child, [entries.esm, directory, 'for-ever']);
    await writer.until(2300);
    await sleep(random() * 100);
    await writer.kill();
    expect(writer.stderr).toBe('');
    const archive = await openBuilt(directory);
    const numbers = new Set((await allSpans(archive)).map(({ properties }) => properties.n));
    expect(numbers.size).toBeGreaterThanOrEqual(writer.acknowledged);
    await archive.close();
    await checkAll(directory, numbers.size);
  }
});

test('while held spans become a segment, and segments are merged, others are taken, and every answer has each span once', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 1200 });
  const reader = await SourceArchive.open(directory, { readOnly: true });
  let count = 0;
  const look = async (): Promise<void> => {
    archive.append(numberedTrace(count++));
    expectSame(await allSpans(archive), byId(traces(0, count)));
    const [newest] = await archive.search({ limit: 1 });
    expect(newest).toMatchObject({ traceId: traceIdOf(count), spanCount: 3 });
    expect(await reader.trace(traceIdOf(1))).toHaveLength(3);
  };
  for (let round = 1; round <= 3; round++) {
    archive.append(traces(count, 400));
    count += 400;
    while ((await archive.stats()).segmentsWritten < round) await look();
  }
  expect(filesOf(directory, UNSORTED)).toHaveLength(3);
  const release = holdAnswers();
  const merged = archive.compact();
  // While the worker is at it, and when its segment is there but the archive does not know it yet.
  await look();
  await vi.waitFor(() => expect(filesOf(directory, SEGMENT)).toHaveLength(1), { timeout: 30_000 });
  expect(filesOf(directory, UNSORTED)).toEqual([]);
  await look();
  release();
  await merged;
  await look();
  await archive.flush();
  await archive.seal();
  expect(await archive.stats()).toMatchObject({ bufferedSpans: 0, spans: count * 3, workerFallbacks: 0, failures: 0 });
  await archive.compact();
  expect(await archive.stats()).toMatchObject({ segments: 1, unsortedSegments: 0, workerFallbacks: 0, workerTasks: 2 });
  expect(filesOf(directory, WAL)).toEqual([]);
  await reader.close();
  await checkAll(directory, count);
});

test('the worker finds damage: it is reported, and nothing of it is merged or deleted', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory);
  for (let i = 0; i < 4; i++) {
    archive.append(traces(i * 400, 400));
    await archive.seal();
  }
  const [first] = filesOf(directory, UNSORTED);
  const bytes = readFileSync(join(directory, first));
  bytes[20] ^= 1;
  writeFileSync(join(directory, first), bytes);
  await archive.compact();
  expect(filesOf(directory, SEGMENT)).toHaveLength(2);
  expect(filesOf(directory, UNSORTED)).toEqual([first]);
  const stats = await archive.stats();
  expect(stats.damaged.map(({ file }) => file)).toEqual([first]);
  expect(stats).toMatchObject({ segmentsMerged: 3, workerTasks: 1, workerFallbacks: 0 });
});

test('what is held while segments are made is bounded', async () => {
  const archive = await openBuilt(newDirectory(), { segmentSpans: 1200, maxBufferedSpans: 3600 });
  expect(archive.append(traces(0, 1600))).toBe(3600);
  expect(archive.append(traces(1600, 1))).toBe(0);
  expect(await archive.stats()).toMatchObject({ refusedSpans: 1203 });
  await archive.seal();
  expect(archive.append(traces(1200, 1))).toBe(3);
});

test('a worker that dies when it was done, or ends for want of work, is replaced, and what it did is not done again', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory);
  const sealed = async (first: number): Promise<void> => {
    archive.append(traces(first, 400));
    await archive.seal();
  };
  await sealed(0);
  await sealed(400);
  const release = holdAnswers();
  const done = archive.compact();
  await vi.waitFor(() => expect(filesOf(directory, SEGMENT)).toHaveLength(1), { timeout: 30_000 });
  const [merged] = filesOf(directory, SEGMENT);
  await lastThread()?.terminate();
  await done;
  release();
  expect(filesOf(directory, SEGMENT)).toEqual([merged]);
  expectSame(await allSpans(archive), byId(traces(0, 800)));
  // A thread without work ends, and the next merge has one of its own.
  for (const first of [800, 1200]) {
    await sealed(first);
    await archive.compact();
    await once(lastThread() as Worker, 'exit');
  }
  expect(await archive.stats()).toMatchObject({
    workerTasks: 2,
    workerFallbacks: 1,
    workerFailure: 'Error: it ended',
    failures: 0,
  });
  await archive.close();
  await checkAll(directory, 1600);
});

test('with `worker: false`, and where its file is not there, this thread does it', async () => {
  const place = join(out, 'without-worker');
  mkdirSync(place, { recursive: true });
  cpSync(join(root, 'packages/archive/dist/cjs'), place, { recursive: true });
  rmSync(join(place, 'archive/archive-worker.js'));
  for (const [options, entry, workerFallbacks] of [
    [{ worker: false }, entries.cjs, 0],
    [{}, join(place, 'index.js'), 1],
  ] as const) {
    const directory = newDirectory();
    const archive = await openBuilt(directory, { ...options, segmentSpans: 1200 }, entry);
    archive.append(traces(0, 400));
    archive.append(traces(400, 400));
    await archive.seal();
    await archive.compact();
    expect(await archive.stats()).toMatchObject({ segments: 1, workerTasks: 0, workerFallbacks });
    await archive.close();
    await checkAll(directory, 800);
  }
});
