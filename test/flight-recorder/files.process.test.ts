// Snapshots in files, and what is left of a process that was killed: what is whole is read as it was, what is not is left out and counted.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { MAGIC } from '../../src/flight-recorder/block.js';
import { jsonRecord, readRecords } from '../../src/flight-recorder/flight-records.js';
import { type LaneRow, readSnapshotFile, recoverSnapshot } from '../../src/flight-recorder/index.js';
import { writeSnapshotFile, writeSnapshotFileSync } from '../../src/flight-recorder/snapshot-file.js';
import { LocalSpan, Span } from '../../src/index.js';
import { bundleChild, root as packageRoot, runFile } from '../support/child.js';
import { flight, linesOf, namesOf } from './support/flight.js';

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
    [...snapshot.traces()].map(({ spans }) => spans.map(({ record }) => [record.properties, record.startTimeUnixNs]));
  expect(propertiesOf(read)).toEqual(propertiesOf(taken));
  const { reason, takenUnixUs, heldMs, spanCount, resource, tornRows } = taken;
  expect(read).toMatchObject({ reason, takenUnixUs, heldMs, spanCount, resource, tornRows });
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

test('what is no snapshot is refused with its name', async () => {
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

/** Where the blocks of a file begin. */
const blocksIn = (bytes: Buffer): number[] => {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at + 8)) {
    if (bytes.readInt32LE(at) === MAGIC) found.push(at);
  }
  return found;
};

const lastFileIn = (place: string): string => {
  const numberOf = (name: string): number => Number(/(\d+)\.rows$/.exec(name)?.[1] ?? 0);
  const [last] = readdirSync(place).sort((a, b) => numberOf(b) - numberOf(a));
  return join(place, last);
};

test('all that a process had recorded when it was killed is there, and what was open', async () => {
  const place = fresh();
  const child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/killed.ts'));
  const { signal, stdout } = await runFile(child, { env: { FLIGHT_DIR: place } });
  expect(signal).toBe('SIGKILL');
  const [, before, openTraceId] = /(\d+) before (\w+)/.exec(stdout) ?? [];
  const recovered = await recoverSnapshot(place);
  expect(recovered.reason.kind).toBe('recovered');
  expect(recovered.tornRows).toBe(0);
  const traces = [...recovered.traces()];
  // Each once, in whatever order; and whole. One expectation for all: each costs more than the look at a trace.
  const wrong: string[] = [];
  const seen = new Set<number>();
  for (const { spans, traceId } of traces) {
    if (traceId === openTraceId) continue;
    const [root, local] = spans.map(({ record }) => record);
    const request = Number(root.properties.request);
    if (seen.has(request)) wrong.push(`${request} is there twice`);
    seen.add(request);
    const isRoot =
      root.name === `GET /${request % 10}` && root.properties.text === `ä${'x'.repeat((request + 1) % 90)}`;
    if (!isRoot || spans.length !== 2 || local.name !== 'local' || local.parentSpanId !== root.spanId)
      wrong.push(`${request} is not as it was`);
  }
  expect(wrong).toEqual([]);
  expect(seen).toEqual(new Set(Array.from({ length: Number(before) }, (_, i) => i)));
  const stuck = traces.find(({ traceId }) => traceId === openTraceId);
  expect(stuck?.spans.map(({ record, isOpen }) => `${record.name} ${isOpen}`).sort()).toEqual([
    'GET /stuck true',
    'ended false',
    'query true',
  ]);
  // The file that was written last loses its end, from the middle of its last block on: what follows that may be a record of the lane.
  const last = lastFileIn(place);
  const bytes = readFileSync(last);
  const block = blocksIn(bytes).at(-1) as number;
  writeFileSync(last, bytes.subarray(0, block + 1000));
  const torn = await recoverSnapshot(place);
  expect(torn.tornRows).toBeGreaterThan(0);
  expect(torn.spanCount + torn.tornRows).toBe(recovered.spanCount);
});

test('a record of the lane that was cut off costs no span, and counts as one', async () => {
  const place = fresh();
  const { root, recorder, collector } = flight({}, { file: place });
  for (let i = 0; i < 100; i++) root('GET /').end();
  collector.keepNow();
  recorder.stop();
  const last = lastFileIn(place);
  const lane = jsonRecord({ kind: 'lane', rows: [] });
  writeFileSync(last, lane.subarray(0, lane.length - 4), { flag: 'a' });
  const { spanCount, tornRows } = await recoverSnapshot(place);
  expect([spanCount, tornRows]).toEqual([100, 1]);
});

test('a stretch of the lane that was written while it went on is there once, and whole', async () => {
  const place = fresh();
  const { root, recorder } = flight({}, { file: place });
  root('GET /').end();
  recorder.stop();
  const stretch = (kind: LaneRow['kind'], startUs: number, endUs: number): LaneRow => ({
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
  for (const rows of looks) writeFileSync(lastFileIn(place), jsonRecord({ kind: 'lane', rows }), { flag: 'a' });
  const { lane } = await recoverSnapshot(place);
  expect(lane.map(({ kind, startUs, endUs }) => [kind, startUs - at, endUs - at])).toEqual([
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
      collector.keepNow();
      one.cancel();
      return one.context?.traceId as string;
    });
  const first = cancelled(20);
  root('kept').end();
  collector.keepNow();
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
    if (i % 1000 === 0) collector.keepNow();
  }
  collector.keepNow();
  const files = readdirSync(place).filter((name) => !name.endsWith('-tail'));
  const size = files.reduce((sum, name) => sum + readFileSync(join(place, name)).length, 0);
  expect(size).toBeLessThan(1.5 * (1 << 20));
  expect(files.filter((name) => name.includes('999999999')).sort()).toEqual(
    [3, 4, 5, 6].map((i) => `flight-${i}-999999999-1.rows`),
  );
  expect((await recoverSnapshot(place)).spanCount).toBeGreaterThan(5000);
  recorder.stop();
});
