// The worker thread of an archive, as it is built: it makes and merges segments, answers are whole and single while it does, and whatever
// happens to it or to the process, nothing acknowledged is lost and nothing hangs.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { Archive as SourceArchive } from '../../src/archive/archive.js';
import type { ArchiveOptions } from '../../src/archive/archive-options.js';
import { ownerText, THIS_OWNER } from '../../src/archive/owner.js';
import { buildFirst, root } from '../cli/support/spanline.js';
import { bundleChild, out, runFile } from '../support/child.js';
import { rounds } from '../support/rounds.js';
import { expectSame } from '../support/same-values.js';
import { allSpans, filesOf, newDirectory, SEGMENT, WAL } from './archive/support/directory.js';
import { numberedTrace } from './archive/support/numbered-traces.js';
import { startWriter } from './archive/support/writer-process.js';
import { byId, traceIdOf } from './segment/support/segments.js';
import { seededRandom } from './segment/support/synthetic-spans.js';

buildFirst();

const load = createRequire(import.meta.url);
const DIST = join(root, 'dist');
const entries = { esm: join(DIST, 'esm/archive/index.js'), cjs: join(DIST, 'cjs/archive/index.js') };

let child = '';
beforeAll(async () => {
  child = await bundleChild(fileURLToPath(new URL('children/worker-at-end.ts', import.meta.url)));
});

const traces = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => numberedTrace(first + i)).flat();

/** A built archive, in this process. */
const openBuilt = async (directory: string, options: ArchiveOptions = {}, entry = entries.cjs) => {
  const { Archive } = load(entry) as { readonly Archive: typeof SourceArchive };
  const archive = await Archive.open(directory, { maintain: false, ...options });
  onTestFinished(() => archive.close());
  return archive;
};

/** What is in a directory for somebody else, each trace once. */
const checkAll = async (directory: string, count: number): Promise<void> => {
  const reader = await SourceArchive.open(directory, { readOnly: true });
  const spans = await allSpans(reader);
  await reader.close();
  expectSame(spans, byId(traces(0, count)));
};

/** The thread that an archive started last. */
let thread: Worker | undefined;
process.on('worker', (started: Worker) => {
  thread = started;
});

test('while held spans become a segment others are taken, and every answer has each span once', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 6000 });
  const reader = await SourceArchive.open(directory, { readOnly: true });
  let count = 0;
  let looks = 0;
  for (let round = 0; round < 4; round++) {
    archive.append(traces(count, 2000));
    count += 2000;
    expect((await archive.stats()).heldSpans).toBeGreaterThan(0);
    for (let isDone = false; !isDone; looks++) {
      archive.append(numberedTrace(count++));
      isDone = (await archive.stats()).segmentsWritten > round;
      expectSame(await allSpans(archive), byId(traces(0, count)));
      const [newest] = await archive.search({ limit: 1 });
      expect(newest).toMatchObject({ traceId: traceIdOf(count), spanCount: 3 });
      expect(await reader.trace(traceIdOf(1))).toHaveLength(3);
    }
    await archive.flush();
    await archive.seal();
  }
  expect(looks).toBeGreaterThan(4);
  expect(await archive.stats()).toMatchObject({ heldSpans: 0, spans: count * 3, workerFallbacks: 0, failures: 0 });
  expect((await archive.stats()).workerTasks).toBeGreaterThanOrEqual(4);
  await archive.compact();
  expect(await archive.stats()).toMatchObject({ segments: 1, workerFallbacks: 0, workerFailure: '' });
  expect(filesOf(directory, WAL)).toEqual([]);
  await reader.close();
  await checkAll(directory, count);
});

test('the worker finds damage: it is reported, and nothing of it is merged or deleted', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory);
  for (let i = 0; i < 4; i++) {
    archive.append(traces(i * 1000, 1000));
    await archive.seal();
  }
  const [first] = filesOf(directory, SEGMENT);
  const bytes = readFileSync(join(directory, first));
  bytes[20] ^= 1;
  writeFileSync(join(directory, first), bytes);
  await archive.compact();
  expect(filesOf(directory, SEGMENT)).toHaveLength(2);
  expect(filesOf(directory, SEGMENT)).toContain(first);
  const stats = await archive.stats();
  expect(stats.damaged.map(({ file }) => file)).toEqual([first]);
  expect(stats).toMatchObject({ segmentsMerged: 3, workerTasks: 5, workerFallbacks: 0 });
});

test('what is held while the worker is busy is bounded', async () => {
  const archive = await openBuilt(newDirectory(), { segmentSpans: 3000, maxHeldSpans: 9000 });
  expect(archive.append(traces(0, 4000))).toBe(9000);
  expect(archive.append(traces(4000, 1))).toBe(0);
  expect(await archive.stats()).toMatchObject({ refusedSpans: 3003 });
  await archive.seal();
  expect(archive.append(traces(3000, 1))).toBe(3);
});

test('the file of a dead writer is made a segment by the worker', async () => {
  const directory = newDirectory();
  const dead = await openBuilt(directory);
  dead.append(traces(0, 2000));
  await dead.flush();
  const [name] = filesOf(directory, WAL);
  const owner = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });
  renameSync(join(directory, name), join(directory, `wal-${owner}-${name.slice(-16, -4)}.log`));
  const archive = await openBuilt(directory);
  expect(await archive.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 6000, workerTasks: 1, spans: 6000 });
  expect(await archive.trace(traceIdOf(7))).toEqual(numberedTrace(6));
});

test('a worker that dies is replaced, and what it was at is done once', { timeout: 120_000 }, async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 3000 });
  const random = seededRandom(7);
  let count = 0;
  for (let round = 0; round < 12; round++) {
    archive.append(traces(count, 1500));
    count += 1500;
    const done = round % 3 === 2 ? archive.compact() : archive.seal();
    await sleep(random() * 60);
    await thread?.terminate();
    await done;
    await archive.flush();
    expectSame(await allSpans(archive), byId(traces(0, count)));
    // One that answered: deaths that follow each other would end it for good.
    archive.append(traces(count, 500));
    count += 500;
    await archive.seal();
  }
  const { workerTasks, workerFallbacks, workerFailure, failures } = await archive.stats();
  expect({ isUsed: workerTasks > 12, isReplaced: workerFallbacks > 0, workerFailure, failures }).toEqual({
    isUsed: true,
    isReplaced: true,
    workerFailure: 'Error: it ended',
    failures: 0,
  });
  await archive.close();
  await checkAll(directory, count);
});

test('with `worker: false`, and where its file is not there, this thread does it', async () => {
  const place = join(out, 'without-worker');
  mkdirSync(place, { recursive: true });
  cpSync(join(DIST, 'cjs'), place, { recursive: true });
  rmSync(join(place, 'archive/archive-worker.js'));
  for (const [options, entry, workerFallbacks] of [
    [{ worker: false }, entries.cjs, 0],
    [{}, join(place, 'archive/index.js'), 3],
  ] as const) {
    const directory = newDirectory();
    const archive = await openBuilt(directory, { ...options, segmentSpans: 3000 }, entry);
    archive.append(traces(0, 1000));
    expect(filesOf(directory, SEGMENT)).toHaveLength(1);
    archive.append(traces(1000, 1000));
    await archive.compact();
    expect(await archive.stats()).toMatchObject({ segments: 1, workerTasks: 0, workerFallbacks });
    await archive.close();
    await checkAll(directory, 2000);
  }
});

test.each(
  (['esm', 'cjs'] as const).flatMap((format) =>
    ['naturally', 'exit', 'close', 'at-exit'].map((how) => [format, how] as const),
  ),
)('a process (%s) that ends (%s) while its worker is busy neither hangs nor loses anything', async (format, how) => {
  const directory = newDirectory();
  const { code, signal, stderr } = await runFile(child, { args: [entries[format], directory, how] });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  await checkAll(directory, 2000);
  const archive = await openBuilt(directory);
  expect(await archive.trace(traceIdOf(2000))).toEqual(numberedTrace(1999));
  expect(filesOf(directory, WAL)).toEqual([]);
});

const KILLED = rounds(20);

test(`${KILLED} processes killed while their workers are busy`, { timeout: 120_000 }, async () => {
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
