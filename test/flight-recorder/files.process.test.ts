// Snapshots in files, and what is left of a process that was killed: what is whole is read as it was, what is not is left out and counted.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { jsonRecord, readRecords } from '../../src/flight-recorder/flight-records.js';
import { readSnapshotFile, recoverSnapshot, type TimelineRow } from '../../src/flight-recorder/index.js';
import { writeSnapshotFile, writeSnapshotFileSync } from '../../src/flight-recorder/snapshot-file.js';
import { LocalSpan, Span } from '../../src/index.js';
import { flight, lastFileIn, linesOf, namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-flight-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

const some = (count = 1500) => {
  const it = flight({ sampler: ({ name }) => name !== 'unsampled' });
  for (let i = 0; i < count; i++) {
    const one = it.root(i % 3 === 0 ? 'unsampled' : `GET /${i % 5}`);
    one.run(() => {
      const local = LocalSpan.start('local');
      local.addProperty('i', `text ${i}`);
      local.end();
    });
    one.end();
  }
  it.root('open').addProperty('why', 'it waits');
  return it;
};

test.each([
  ['in slices', writeSnapshotFile],
  ['at once', writeSnapshotFileSync],
])('what is written %s is read as it was', async (_, write) => {
  const taken = some().snapshot('why');
  const path = join(fresh(), 'deep/er', 'last.flight');
  await write(taken, path);
  const read = await readSnapshotFile(path);
  expect(linesOf(read)).toEqual(linesOf(taken));
  const propertiesOf = (snapshot: typeof read) =>
    [...snapshot.traces()].map(({ spans }) => spans.map(({ record }) => [record.properties, record.startUnixNs]));
  expect(propertiesOf(read)).toEqual(propertiesOf(taken));
  const { reason, takenUnixUs, bufferedMs, spanCount, resource, tornRows } = taken;
  expect(read).toMatchObject({ reason, takenUnixUs, bufferedMs, spanCount, resource, tornRows });
  expect(reason).toEqual({ kind: 'call', text: 'why', traceId: '' });
  expect(spanCount).toBe(3001);
  // Nothing beside it.
  expect(readdirSync(join(path, '..'))).toEqual(['last.flight']);
});

test('a file that was cut off or damaged gives what is whole, and counts the rest', async () => {
  const taken = some(6000).snapshot();
  const path = join(fresh(), 'last.flight');
  await writeSnapshotFile(taken, path);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.length / 2));
  const half = await readSnapshotFile(path);
  expect(half.spanCount).toBeGreaterThan(3000);
  expect(half.tornRows).toBeGreaterThan(0);
  const all = new Set(linesOf(taken));
  expect(linesOf(half).filter((line) => !all.has(line))).toEqual([]);
  const damaged = Buffer.from(bytes);
  damaged[bytes.length / 2]++;
  writeFileSync(path, damaged);
  const other = await readSnapshotFile(path);
  expect(other.tornRows).toBeGreaterThan(0);
  expect(other.spanCount + other.tornRows).toBe(taken.spanCount);
});

test('what is not a snapshot is refused with its name', async () => {
  const path = join(fresh(), 'no.flight');
  writeFileSync(path, 'something else');
  await expect(readSnapshotFile(path)).rejects.toMatchObject({
    code: 'ERR_SPANLINE_FLIGHT_FORMAT',
    message: expect.stringContaining(path),
  });
});

test('a file that cannot be written says so, and leaves nothing', async () => {
  const place = fresh();
  writeFileSync(join(place, 'file'), '');
  await expect(writeSnapshotFile(some(10).snapshot(), join(place, 'file', 'last.flight'))).rejects.toMatchObject({
    code: 'ERR_SPANLINE_FLIGHT_FILE',
  });
  expect(readdirSync(place)).toEqual(['file']);
});

test('a record of the timeline that was cut off costs no span, and counts as one', async () => {
  const place = fresh();
  const { root, recorder, collector } = flight({}, { file: place });
  for (let i = 0; i < 100; i++) root('GET /').end();
  collector.observeNow();
  recorder.stop();
  const last = lastFileIn(place);
  const timeline = jsonRecord({ kind: 'timeline', rows: [] });
  writeFileSync(last, timeline.subarray(0, timeline.length - 4), { flag: 'a' });
  const { spanCount, tornRows } = await recoverSnapshot(place);
  expect([spanCount, tornRows]).toEqual([100, 1]);
});

test('a stretch of the timeline that was written while it went on is there once, and whole', async () => {
  const place = fresh();
  const { root, recorder } = flight({}, { file: place });
  root('GET /').end();
  recorder.stop();
  const stretch = (kind: TimelineRow['kind'], startUs: number, endUs: number): TimelineRow => ({
    ...{ kind, startUs, endUs },
    ...{ detail: '', parts: [] },
  });
  const at = Date.now() * 1000;
  // The Unix time of one begin differs a little from one look to the next.
  const looks = [
    [stretch('busy', at, at + 1e6)],
    [stretch('busy', at + 0.25, at + 2e6), stretch('gc', at + 10, at + 20), stretch('gc', at + 30, at + 40)],
    [stretch('busy', at - 3, at + 2.5e6), stretch('busy', at + 2.6e6, at + 2.7e6)],
  ];
  for (const rows of looks) writeFileSync(lastFileIn(place), jsonRecord({ kind: 'timeline', rows }), { flag: 'a' });
  const { timeline } = await recoverSnapshot(place);
  expect(timeline.map(({ kind, startUs, endUs }) => [kind, startUs - at, endUs - at])).toEqual([
    ['busy', -3, 2.5e6],
    ['gc', 10, 20],
    ['gc', 30, 40],
    ['busy', 2.6e6, 2.7e6],
  ]);
});

test('a directory without anything to recover says so', async () => {
  await expect(recoverSnapshot(fresh())).rejects.toMatchObject({ code: 'ERR_SPANLINE_FLIGHT_NOTHING' });
});

test('what is cancelled is not recovered, and costs no write of its own', async () => {
  const place = fresh();
  const { root, recorder, collector } = flight({}, { file: place });
  const records = () => readRecords(readFileSync(join(place, readdirSync(place)[0]))).json.map(([, value]) => value);
  const cancelled = (count: number): string[] =>
    Array.from({ length: count }, () => {
      const one = root('refused');
      Span.start('child', one).end();
      // A part of the trace is in the file already.
      collector.observeNow();
      one.cancel();
      return one.context?.traceId as string;
    });
  const first = cancelled(20);
  root('kept').end();
  collector.observeNow();
  const batches = records().slice(1);
  // Each went with the block that came next.
  expect(batches).toEqual(first.map((id) => ({ kind: 'cancelled', traceIds: [id] })));
  const rest = Array.from({ length: 1500 }, () => {
    const one = root('refused');
    one.cancel();
    return one.context?.traceId as string;
  });
  const waiting = () => records().slice(21);
  expect(waiting()).toEqual([{ kind: 'cancelled', traceIds: rest.slice(0, 1024) }]);
  // At the next turn of its timer.
  await vi.waitUntil(() => waiting().length === 2, { timeout: 10_000 });
  expect(waiting()[1]).toEqual({ kind: 'cancelled', traceIds: rest.slice(1024) });
  const [last] = cancelled(1);
  recorder.stop();
  expect(waiting()[2]).toEqual({ kind: 'cancelled', traceIds: [last] });
  expect(namesOf(await recoverSnapshot(place))).toEqual(['kept']);
});

test('files stay within their bound, and those of older processes are deleted', async () => {
  const place = fresh();
  for (let i = 1; i <= 6; i++) writeFileSync(join(place, `flight-${i}-999999999-1.rows`), '');
  const { root, recorder, collector } = flight({}, { file: place, maxBytes: 1 << 20 });
  for (let i = 0; i < 30_000; i++) {
    Span.start('child', root('x')).end();
    if (i % 1000 === 0) collector.observeNow();
  }
  collector.observeNow();
  const files = readdirSync(place).filter((name) => !name.endsWith('-tail'));
  const size = files.reduce((sum, name) => sum + readFileSync(join(place, name)).length, 0);
  expect(size).toBeLessThan(1.5 * (1 << 20));
  expect(files.filter((name) => name.includes('999999999')).sort()).toEqual(
    [3, 4, 5, 6].map((i) => `flight-${i}-999999999-1.rows`),
  );
  expect((await recoverSnapshot(place)).spanCount).toBeGreaterThan(5000);
  recorder.stop();
});
