// An archive keeps its bounds and says what it refused, answers from what is whole where something is damaged, and deletes what is too old
// or too much, and nothing else.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AbortedError,
  BadKeyError,
  BadOptionsError,
  ClosedError,
  NotFoundError,
  TransportError,
} from '../../../graph/src/container/graph-error.js';
import { failureOf, thrownBy } from '../../../graph/test/container/support/errors.js';
import { Archive } from '../../src/archive.js';
import type { DamagedSegment } from '../../src/archive-options.js';
import { ownerText, THIS_OWNER } from '../../src/directory.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { byId, collect, span, spanIdOf, traceIdOf } from '../segment/support/segments.js';
import { allSpans, filesOf, newDirectory, openArchive, SEGMENT, WAL } from './support/directory.js';
import { numberedTrace } from './support/numbered-traces.js';

const traces = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => numberedTrace(first + i)).flat();

/** A process that is no more. */
const DEAD = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });
const deadWal = (directory: string, id: string): string => join(directory, `wal-${DEAD}-${id}.log`);

test('options that are not bounds are refused', async () => {
  for (const options of [
    { segmentSpans: 0 },
    { maxBytes: 1.5 },
    { maxBufferedSpans: Number.NaN },
    { readOnly: 1 as never },
  ])
    expect(await failureOf(Archive.open(newDirectory(), options))).toBeInstanceOf(BadOptionsError);
  const archive = await openArchive(newDirectory());
  for (const limit of [0, -1, 1.5, 1e6])
    expect(await failureOf(archive.search({ limit }))).toBeInstanceOf(BadOptionsError);
  expect(await failureOf(archive.trace('abc'))).toBeInstanceOf(BadOptionsError);
  expect(await failureOf(archive.retain({ maxBytes: 0 }))).toBeInstanceOf(BadOptionsError);
});

test('an archive that is closed, read-only, absent or no directory says so', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  archive.append(numberedTrace(1));
  await archive.close();
  expect(thrownBy(() => archive.append([]))).toBeInstanceOf(ClosedError);
  expect(await failureOf(archive.search())).toBeInstanceOf(ClosedError);
  await archive.close();
  const reader = await openArchive(directory, { readOnly: true });
  expect(thrownBy(() => reader.append([]))).toBeInstanceOf(BadOptionsError);
  expect(await failureOf(reader.compact())).toBeInstanceOf(BadOptionsError);
  expect(await reader.trace(traceIdOf(2))).toEqual(numberedTrace(1));
  const absent = join(directory, 'none');
  expect(await failureOf(Archive.open(absent, { readOnly: true }))).toBeInstanceOf(NotFoundError);
  writeFileSync(absent, '');
  expect(await failureOf(Archive.open(absent))).toBeInstanceOf(TransportError);
});

test('a signal ends a read', async () => {
  const archive = await openArchive(newDirectory());
  archive.append(numberedTrace(1));
  const signal = AbortSignal.abort();
  expect(await failureOf(archive.search({}, { signal }))).toBeInstanceOf(AbortedError);
  expect(await failureOf(archive.trace(traceIdOf(2), { signal }))).toBeInstanceOf(AbortedError);
  expect(await failureOf(collect(archive.scan({ signal })))).toBeInstanceOf(AbortedError);
  expect((await archive.stats()).damaged).toEqual([]);
});

test('spans beyond the bound are refused, counted, and the others kept', async () => {
  const archive = await openArchive(newDirectory(), { maxBufferedSpans: 100, segmentSpans: 1000 });
  expect(archive.append(traces(0, 20))).toBe(60);
  expect(archive.room).toBe(40);
  expect(archive.append(traces(20, 20))).toBe(40);
  expect(archive.append(traces(40, 1))).toBe(0);
  expect(await archive.stats()).toMatchObject({ bufferedSpans: 100, appendedSpans: 100, refusedSpans: 23 });
  expect(await allSpans(archive)).toEqual(byId(traces(0, 40)).slice(0, 100));
  await archive.seal();
  expect(archive.append(traces(40, 1))).toBe(3);
});

test('bytes beyond the bound are refused', async () => {
  const archive = await openArchive(newDirectory(), { maxBufferedBytes: 1000, walBytes: 100_000 });
  expect(archive.append(traces(0, 20))).toBe(60);
  expect(archive.append(traces(20, 20))).toBe(0);
  expect((await archive.stats()).refusedSpans).toBe(60);
});

test('held spans become a segment by count and by bytes', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory, { segmentSpans: 30, walBytes: 100_000 });
  archive.append(traces(0, 9));
  expect(filesOf(directory, SEGMENT)).toHaveLength(0);
  archive.append(traces(9, 1));
  expect(filesOf(directory, SEGMENT)).toHaveLength(1);
  expect(filesOf(directory, WAL)).toHaveLength(0);
  archive.append([span({ properties: { body: 'x'.repeat(100_000) } })]);
  expect(filesOf(directory, SEGMENT)).toHaveLength(2);
  expect(await archive.stats()).toMatchObject({ segmentsWritten: 2, bufferedSpans: 0, spans: 31 });
});

test('a batch with a span that cannot be is refused whole', async () => {
  const archive = await openArchive(newDirectory());
  archive.append(numberedTrace(1));
  expect(thrownBy(() => archive.append([...numberedTrace(2), span({ spanId: 'x' })]))).toBeInstanceOf(BadKeyError);
  await archive.seal();
  expect(await allSpans(archive)).toEqual(byId(numberedTrace(1)));
});

test('a directory that is taken away: nothing is acknowledged', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  archive.append(numberedTrace(1));
  await archive.flush();
  rmSync(directory, { recursive: true });
  archive.append(numberedTrace(2));
  expect(await failureOf(archive.flush())).toBeInstanceOf(TransportError);
  expect(await failureOf(archive.seal())).toBeInstanceOf(TransportError);
  // It comes back, and with it everything.
  mkdirSync(directory);
  await archive.flush();
  expect(await archive.stats()).toMatchObject({ failures: 1, lastFailure: expect.stringContaining(directory) });
  const reader = await openArchive(directory, { readOnly: true });
  expect(await allSpans(reader)).toEqual(byId(traces(1, 2)));
});

test('a write-ahead file taken over by another while its writer lives: all is acknowledged again, and seen once', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  archive.append(numberedTrace(1));
  await archive.flush();
  const [name] = filesOf(directory, WAL);
  renameSync(join(directory, name), deadWal(directory, name.slice(-16, -4)));
  const thief = await openArchive(directory);
  archive.append(numberedTrace(2));
  await archive.flush();
  expect(await thief.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 3 });
  for (const one of [archive, thief, await openArchive(directory, { readOnly: true })]) {
    expect(await one.trace(traceIdOf(2))).toEqual(numberedTrace(1));
    expect((await one.search()).map(({ spanCount }) => spanCount)).toEqual([3, 3]);
  }
});

test('a dead writer’s file is read by readers, made a segment by the next writer, and torn bytes are counted', async () => {
  const directory = newDirectory();
  const path = deadWal(directory, '0123456789ab');
  const wal = new WalWriter(path);
  wal.append(traces(0, 5));
  wal.close();
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes, bytes.subarray(8, 50)]));
  const reader = await openArchive(directory, { readOnly: true });
  expect(await allSpans(reader)).toEqual(byId(traces(0, 5)));
  expect(await reader.stats()).toMatchObject({ tornBytes: 42 });
  expect(filesOf(directory, WAL)).toEqual([basename(path)]);
  const writer = await openArchive(directory);
  expect(await writer.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 15, tornBytes: 42, spans: 15 });
  expect(filesOf(directory, WAL)).toEqual([]);
  expect(await allSpans(reader)).toEqual(byId(traces(0, 5)));
  // Killed between writing the segment and deleting the file: it is not taken a second time.
  const [segment] = filesOf(directory, SEGMENT);
  writeFileSync(path, bytes);
  expect((await allSpans(reader)).length).toBe(15);
  await (await openArchive(directory)).close();
  expect(filesOf(directory, WAL)).toEqual([]);
  expect(filesOf(directory, SEGMENT)).toEqual([segment]);
});

test('a living writer’s file is left alone, until it has been silent for a minute', async () => {
  const directory = newDirectory();
  // A process that lives: the one that started this one.
  const owner = ownerText({ ...THIS_OWNER, pid: process.ppid, instance: '0badf00d' });
  const path = join(directory, `wal-${owner}-0123456789ab.log`);
  const wal = new WalWriter(path);
  wal.append(numberedTrace(1));
  wal.close();
  await (await openArchive(directory)).close();
  expect(filesOf(directory, WAL)).toHaveLength(1);
  const longAgo = Date.now() / 1000 - 120;
  utimesSync(path, longAgo, longAgo);
  const archive = await openArchive(directory);
  expect(filesOf(directory, WAL)).toEqual([]);
  expect(await allSpans(archive)).toEqual(byId(numberedTrace(1)));
});

test('damaged segments are reported, the others answer, and none is merged or deleted', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  for (let i = 0; i < 6; i++) {
    archive.append(traces(i * 10, 10));
    await archive.seal();
  }
  await archive.close();
  const names = filesOf(directory, SEGMENT);
  const pathOf = (i: number): string => join(directory, names[i]);
  const whole = readFileSync(pathOf(0));
  writeFileSync(pathOf(0), '');
  writeFileSync(pathOf(1), readFileSync(pathOf(1)).subarray(0, 700));
  writeFileSync(pathOf(2), 'something else altogether, and longer than a footer would be in any graph file there is');
  // In the first block of spans; the rest of the file is whole.
  const bytes = readFileSync(pathOf(3));
  bytes[20] ^= 1;
  writeFileSync(pathOf(3), bytes);
  const reported: DamagedSegment[] = [];
  const onDamage = (damage: DamagedSegment): void => void reported.push(damage);
  const reader = await openArchive(directory, { readOnly: true });
  const found = await reader.traces(
    Array.from({ length: 60 }, (_, n) => traceIdOf(n + 1)),
    { onDamage },
  );
  expect([...found.values()].flat()).toEqual(traces(40, 20));
  expect(new Set(reported.map(({ file }) => file))).toEqual(new Set(names.slice(0, 4)));
  expect((await reader.stats()).damaged.map(({ file }) => file).sort()).toEqual(names.slice(0, 4));
  for (const { code } of reported) expect(code).toMatch(/^ERR_SPANLINE_GRAPH_(CORRUPT|TRUNCATED|BAD_SIGNATURE)$/);
  expect((await reader.search({ limit: 100, name: 'query' })).map(({ traceId }) => traceId)).toEqual(
    Array.from({ length: 20 }, (_, n) => traceIdOf(60 - n)),
  );
  const writer = await openArchive(directory);
  await writer.compact();
  const left = filesOf(directory, SEGMENT);
  expect(left).toHaveLength(5);
  expect(left).toEqual(expect.arrayContaining(names.slice(0, 4)));
  // Mended by hand, or by salvage: nothing else is needed.
  writeFileSync(pathOf(0), whole);
  expect(await (await openArchive(directory, { readOnly: true })).trace(traceIdOf(1))).toEqual(numberedTrace(0));
});

test('what is not a file of an archive is left alone', async () => {
  const directory = newDirectory();
  writeFileSync(join(directory, 'notes.txt'), 'mine');
  writeFileSync(join(directory, 'seg-1-2-nothex.spans'), 'mine');
  const archive = await openArchive(directory, { maxBytes: 1 });
  archive.append(numberedTrace(1));
  await archive.seal();
  await archive.compact();
  await archive.retain();
  expect(filesOf(directory, /./)).toEqual(['notes.txt', 'seg-1-2-nothex.spans']);
});

test('a segment that is listed and can never be opened ends in an error, not in a hang', async () => {
  const directory = newDirectory();
  symlinkSync(join(directory, 'nowhere'), join(directory, 'seg-1-2-0123456789ab.spans'));
  const archive = await Archive.open(directory, { readOnly: true }).catch((error: unknown) => error);
  expect(archive).toBeInstanceOf(TransportError);
});

test('retention by age deletes what ended too long ago, by bytes the oldest', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  const now = BigInt(Date.now()) * 1_000_000n;
  const hour = 3_600_000_000_000n;
  for (let age = 0n; age < 10n; age++) {
    const startUnixNs = now - age * hour;
    const id = { traceId: traceIdOf(Number(age) + 1), spanId: spanIdOf(Number(age) + 1) };
    archive.append([span({ ...id, startUnixNs, endUnixNs: startUnixNs + 1000n })]);
    await archive.seal();
  }
  const left = async (): Promise<number[]> =>
    (await archive.search({ limit: 20 })).map(({ traceId }) => Number.parseInt(traceId, 16) - 1);
  await archive.retain();
  expect(await left()).toHaveLength(10);
  await archive.retain({ maxAgeMs: 6.5 * 3_600_000 });
  expect(await left()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  const { bytes } = await archive.stats();
  await archive.retain({ maxBytes: bytes - 1 });
  expect(await left()).toEqual([0, 1, 2, 3, 4, 5]);
  await archive.retain({ maxBytes: Math.ceil(bytes / 3) });
  expect(await left()).toEqual([0, 1]);
  expect(await archive.stats()).toMatchObject({ segmentsDeleted: 8, segments: 2 });
});

test('merged segments are no longer than an eighth of the age at which they are deleted', async () => {
  const archive = await openArchive(newDirectory(), { maxAgeMs: 8 * 3_600_000 });
  const now = BigInt(Date.now()) * 1_000_000n;
  for (let i = 0; i < 8; i++) {
    const startUnixNs = now - BigInt(i) * 1_800_000_000_000n;
    archive.append([span({ traceId: traceIdOf(i), startUnixNs, endUnixNs: startUnixNs })]);
    await archive.seal();
  }
  await archive.compact();
  // Half an hour apart: two fit in an hour.
  expect((await archive.stats()).segments).toBe(4);
  expect(await archive.search()).toHaveLength(8);
});

test('a merge that was killed before it deleted what it merged: nothing is seen twice, and the next merge does not bring it back', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  for (let i = 0; i < 4; i++) {
    archive.append(traces(i * 10, 10));
    await archive.seal();
  }
  const sources = filesOf(directory, SEGMENT).map((name) => [name, readFileSync(join(directory, name))] as const);
  await archive.compact();
  for (const [name, bytes] of sources.slice(0, 3)) writeFileSync(join(directory, name), bytes);
  const reader = await openArchive(directory, { readOnly: true });
  expect(await allSpans(reader)).toEqual(byId(traces(0, 40)));
  expect((await reader.search({ limit: 100 })).map(({ spanCount }) => spanCount)).toEqual(Array(40).fill(3));
  expect(await reader.stats()).toMatchObject({ segments: 1, spans: 120 });
  archive.append(traces(40, 10));
  await archive.seal();
  await archive.compact();
  expect(filesOf(directory, SEGMENT)).toHaveLength(1);
  expect(await allSpans(reader)).toEqual(byId(traces(0, 50)));
});

test('a scan goes on over files that are merged and deleted under it', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  for (let i = 0; i < 5; i++) {
    archive.append(traces(i * 10, 10));
    await archive.seal();
  }
  const reader = await openArchive(directory, { readOnly: true });
  const scan = reader.scan();
  const first = await scan.next();
  await archive.compact();
  await archive.retain({ maxBytes: 1 });
  expect(filesOf(directory, SEGMENT)).toEqual([]);
  const rest = await collect(scan);
  expect(byId([...(first.value ?? []), ...rest.flat()])).toEqual(byId(traces(0, 50)));
  expect(await allSpans(reader)).toEqual([]);
});

test('few segments are open at a time, and all answer', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory, { openSegments: 3 });
  for (let i = 0; i < 20; i++) {
    archive.append(traces(i * 5, 5));
    await archive.seal();
  }
  const found = await archive.traces(Array.from({ length: 100 }, (_, n) => traceIdOf(n + 1)));
  expect([...found.values()].flat()).toEqual(traces(0, 100));
  const open = filesOf('/proc/self/fd', /./).filter((fd) => {
    try {
      return statSync(`/proc/self/fd/${fd}`).isFile() && statSync(`/proc/self/fd/${fd}`).size > 0;
    } catch {
      return false;
    }
  });
  expect(open.length).toBeLessThan(20);
});
