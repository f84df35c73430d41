// A snapshot in an archive answers as the snapshot does: the same traces, and the same stalls, with the same holders and waiters.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readSnapshotFile, type Snapshot } from '../../../src/flight-recorder/index.js';
import type { TimelineRow } from '../../../src/flight-recorder/timeline/timeline-row.js';
import { buildFirst, root, scratch } from '../../../test/support/built.js';
import { Archive } from '../src/archive.js';
import { keepSnapshot } from '../src/keep-snapshot.js';
import { archiveStalls, snapshotStalls } from '../src/timeline/loop-source.js';

buildFirst();
const dir = scratch();
let snapshot: Snapshot;

beforeAll(async () => {
  const file = join(dir, 'planted.flight');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'spanline/register', join(root, 'test/flight-recorder/children/planted.mjs')],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        FLIGHT_FILE: file,
        SPANLINE_FLIGHT_RECORDER: 'on',
        OTEL_TRACES_EXPORTER: 'none',
      },
    },
  );
  expect([status, stderr]).toEqual([0, '']);
  snapshot = await readSnapshotFile(file);
});

const opened = async (name: string): Promise<Archive> => {
  const archive = await Archive.open(join(dir, name));
  onTestFinished(() => archive.close());
  return archive;
};
const window = (): { fromUs: number; toUs: number } => ({ fromUs: 0, toUs: Date.now() * 1000 });

test('traces, timeline and stalls are those of the snapshot', async () => {
  const archive = await opened('whole');
  const reported: number[] = [];
  const kept = await keepSnapshot(archive, snapshot, { onProgress: (_, spans) => reported.push(spans) });
  const traces = [...snapshot.traces()];
  expect(kept).toEqual({ traceCount: traces.length, spanCount: snapshot.spanCount, refused: 0, reason: undefined });
  expect(reported.at(-1)).toBe(snapshot.spanCount);
  for (const { traceId, spans } of traces) {
    const ids = (await archive.trace(traceId)).map(({ spanId }) => spanId).sort();
    expect(ids).toEqual(spans.map(({ record }) => record.spanId).sort());
  }
  const expected = snapshotStalls(snapshot, window(), 5) ?? [];
  expect(expected.length).toBe(5);
  const { signal } = new AbortController();
  const found = (await archiveStalls(archive, window(), 5, { signal })) ?? [];
  const told5 = (stalls: typeof found) =>
    stalls.map(({ startUs, durationUs, holders, waiters, waiterCount }) => ({
      ...{ startUs, durationUs, waiterCount },
      // Those that waited equally long come in any order.
      holders: holders.map(({ traceId }) => traceId).sort(),
      waiters: waiters.map(({ traceId }) => traceId).sort(),
    }));
  expect(told5(found)).toEqual(told5(expected));
});

test('a timeline of many rows, and of large ones, is kept whole', async () => {
  const archive = await opened('timeline');
  const [model] = snapshot.timeline;
  const startUs = snapshot.timelineFromUs ?? 0;
  const frames = Array.from({ length: 40 }, (_, i) => `${'f'.repeat(200)} file.js:${i}`);
  const timeline = Array.from(
    { length: 2500 },
    (_, i): TimelineRow => ({
      ...{ kind: 'busy', startUs: startUs + i * 10, endUs: startUs + i * 10 + 5, detail: '' },
      parts: [{ ...{ startUs, endUs: startUs, traceId: '', spanId: '', name: '' }, frames }],
    }),
  );
  expect(model).toBeDefined();
  const many: Snapshot = {
    ...{ reason: snapshot.reason, bufferedMs: 1, spanCount: 0, resource: snapshot.resource, tornRows: 0 },
    ...{ timeline: timeline, timelineFromUs: startUs, takenUnixUs: startUs + 60_000, traces: () => [] },
  };
  await keepSnapshot(archive, many);
  const stretches = await archive.timeline(0, startUs + 120_000);
  expect(stretches.flatMap(({ rows }) => rows).map((row) => row.startUs)).toEqual(timeline.map((row) => row.startUs));
  // No gap, and no overlap but of what was under way.
  for (let i = 1; i < stretches.length; i++) expect(stretches[i].fromUs).toBe(stretches[i - 1].toUs);
  expect([stretches[0].fromUs, stretches.at(-1)?.toUs]).toEqual([startUs, startUs + 60_000]);
});

test('a signal ends it', async () => {
  const archive = await opened('aborted');
  await expect(keepSnapshot(archive, snapshot, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'ERR_SPANLINE_FLIGHT_ABORTED',
  });
});
