// The worker thread of an archive, as it is built: it makes and merges segments, answers are whole and single while it does, and whatever
// happens to it or to the process, nothing acknowledged is lost and nothing hangs.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { Archive as SourceArchive } from '../../src/archive/archive.js';
import { ownerText, THIS_OWNER } from '../../src/archive/owner.js';
import { buildFirst, root } from '../cli/support/spanline.js';
import { bundleChild, out, runFile } from '../support/child.js';
import { expectSame } from '../support/same-values.js';
import { allSpans, filesOf, newDirectory, SEGMENT, WAL } from './archive/support/directory.js';
import { numberedTrace } from './archive/support/numbered-traces.js';
import { byId, traceIdOf } from './segment/support/segments.js';
import { checkAll, entries, holdAnswers, lastThread, openBuilt, traces } from './support/built-archive.js';

buildFirst();

test('while held spans become a segment others are taken, and every answer has each span once', async () => {
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
  for (let round = 1; round <= 2; round++) {
    const release = holdAnswers();
    archive.append(traces(count, 400));
    count += 400;
    // While the worker is at it, and when its segment is there but the archive does not know it yet.
    await look();
    await vi.waitFor(() => expect(filesOf(directory, SEGMENT)).toHaveLength(round), { timeout: 30_000 });
    await look();
    const held = round === 1 ? 1206 : 1215;
    expect(await archive.stats()).toMatchObject({ heldSpans: held, segmentsWritten: round - 1 });
    release();
    await vi.waitFor(async () => expect(await archive.stats()).toMatchObject({ segmentsWritten: round }), {
      timeout: 30_000,
    });
    await look();
  }
  await archive.flush();
  await archive.seal();
  expect(await archive.stats()).toMatchObject({ heldSpans: 0, spans: count * 3, workerFallbacks: 0, failures: 0 });
  await archive.compact();
  expect(await archive.stats()).toMatchObject({ segments: 1, workerFallbacks: 0, workerFailure: '' });
  expect((await archive.stats()).workerTasks).toBeGreaterThanOrEqual(3);
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
  const archive = await openBuilt(newDirectory(), { segmentSpans: 1200, maxHeldSpans: 3600 });
  expect(archive.append(traces(0, 1600))).toBe(3600);
  expect(archive.append(traces(1600, 1))).toBe(0);
  expect(await archive.stats()).toMatchObject({ refusedSpans: 1203 });
  await archive.seal();
  expect(archive.append(traces(1200, 1))).toBe(3);
});

test('the file of a dead writer is made a segment by the worker', async () => {
  const directory = newDirectory();
  const dead = await openBuilt(directory);
  dead.append(traces(0, 1000));
  await dead.flush();
  const [name] = filesOf(directory, WAL);
  const owner = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });
  renameSync(join(directory, name), join(directory, `wal-${owner}-${name.slice(-16, -4)}.log`));
  const archive = await openBuilt(directory);
  expect(await archive.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 3000, workerTasks: 1, spans: 3000 });
  expect(await archive.trace(traceIdOf(7))).toEqual(numberedTrace(6));
});

test('a worker that dies over a task is replaced, and what it was at is done once', async () => {
  const directory = newDirectory();
  const archive = await openBuilt(directory, { segmentSpans: 1200 });
  archive.append(traces(0, 400));
  await archive.seal();
  // Its answer cannot have come: this thread has not turned since the worker was asked.
  archive.append(traces(400, 400));
  await lastThread()?.terminate();
  await archive.seal();
  expectSame(await allSpans(archive), byId(traces(0, 800)));
  archive.append(traces(800, 400));
  await archive.seal();
  expect(await archive.stats()).toMatchObject({
    workerTasks: 2,
    workerFallbacks: 1,
    workerFailure: 'Error: it ended',
    failures: 0,
  });
  await archive.close();
  await checkAll(directory, 1200);
});

test('with `worker: false`, and where its file is not there, this thread does it', async () => {
  const place = join(out, 'without-worker');
  mkdirSync(place, { recursive: true });
  cpSync(join(root, 'dist/cjs'), place, { recursive: true });
  rmSync(join(place, 'archive/archive-worker.js'));
  for (const [options, entry, workerFallbacks] of [
    [{ worker: false }, entries.cjs, 0],
    [{}, join(place, 'archive/index.js'), 3],
  ] as const) {
    const directory = newDirectory();
    const archive = await openBuilt(directory, { ...options, segmentSpans: 1200 }, entry);
    archive.append(traces(0, 400));
    expect(filesOf(directory, SEGMENT)).toHaveLength(1);
    archive.append(traces(400, 400));
    await archive.compact();
    expect(await archive.stats()).toMatchObject({ segments: 1, workerTasks: 0, workerFallbacks });
    await archive.close();
    await checkAll(directory, 800);
  }
});

test('a process that ends while its worker is busy neither hangs nor loses anything', async () => {
  const child = await bundleChild(fileURLToPath(new URL('children/worker-at-end.ts', import.meta.url)));
  const directory = newDirectory();
  const { code, signal, stderr } = await runFile(child, { args: [entries.esm, directory, 'naturally'] });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  await checkAll(directory, 2000);
});
