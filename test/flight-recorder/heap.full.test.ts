// A heap that is full leaves a snapshot, though no JavaScript runs any more: the last seconds, what was open, and who filled it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSnapshotFile } from '../../src/flight-recorder/index.js';
import { clockInfo } from '../../src/index.js';
import { bundleChild, root as packageRoot, runFile } from '../support/child.js';
import { namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-heap-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const momentOf = (name: string): number => {
  const [, date, hours, minutes, seconds] =
    /^(.*)T(\d+)-(\d+)-(\d+\.\d+)Z-\d+(?:\.\d+)?-heap-limit\.flight$/.exec(name) ?? [];
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`);
};

describe.skipIf(clockInfo().path !== 'fast')('the heap of the process', () => {
  let child = '';
  beforeAll(async () => {
    child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/heap.ts'));
  });

  const fill = async (way: string, execArgv: readonly string[] = []) => {
    const place = mkdtempSync(join(directory, 'x'));
    const { signal, stdout, stderr } = await runFile(child, {
      env: { FLIGHT_DIR: place, FLIGHT_FILL: way },
      execArgv: ['--max-old-space-size=120', `--diagnostic-dir=${mkdtempSync(join(directory, 'd'))}`, ...execArgv],
    });
    const [file, ...more] = readdirSync(place);
    expect([signal, more]).toEqual(['SIGABRT', []]);
    expect(stderr).toContain('JavaScript heap out of memory');
    const snapshot = await readSnapshotFile(join(place, file));
    expect(snapshot).toMatchObject({ reason: { kind: 'heap-limit', text: 'the heap was full' }, tornRows: 0 });
    const ended = [...stdout.matchAll(/^(\d+) (\d+)$/gm)].map(([, n, ms]) => ({ n: Number(n), ms: Number(ms) }));
    return { snapshot, names: namesOf(snapshot), moment: momentOf(file), ended, stderr };
  };

  test('the last requests are there, up to a fifth of a second before the end', async () => {
    const { snapshot, names, moment, ended } = await fill('turns');
    const missing = ended.filter(({ n }) => !names.includes(`request ${n}`));
    // What is asked for each fifth of a second comes a turn of the event loop later at most, and turns are as long as between two requests.
    const turns = ended.map(({ ms }, i) => (ended[i + 1]?.ms ?? moment) - ms);
    const turn = Math.max(...turns);
    for (const { ms } of missing) expect(ms).toBeGreaterThanOrEqual(moment - 200 - 2 * turn);
    expect(missing.length).toBeLessThan(ended.length / 2);
    // Each that is there is there once, with what was in it.
    expect(names.filter((name) => name === 'work').length).toBe(ended.length - missing.length);
    // Named and taken at the end, not when it was asked for.
    expect(moment).toBeGreaterThanOrEqual(ended[ended.length - 1].ms);
    expect(Math.abs(snapshot.takenUnixUs / 1000 - moment)).toBeLessThan(1000);
  });

  test('who filled it in one piece of work is there, with the local spans that it was in, and has the timeline', async () => {
    const { snapshot, names, ended } = await fill('one request');
    const open = ['waits open', 'culprit open', 'outer open', 'inner open'];
    expect(names.slice(-4)).toEqual(open);
    expect(names.filter((name) => name.startsWith('request')).length).toBe(ended.length);
    const [{ spans }] = [...snapshot.traces()].filter(({ spans: [{ record }] }) => record.name === 'culprit');
    const [culprit, outer, inner] = spans.map(({ record }) => record);
    expect([outer.parentSpanId, inner.parentSpanId]).toEqual([culprit.spanId, outer.spanId]);
    const busy = snapshot.timeline.flatMap(({ parts }) => parts.map(({ name }) => name));
    expect(busy).toContain('culprit');
    expect(new Set(snapshot.timeline.map(({ kind, startUs }) => `${kind} ${startUs}`)).size).toBe(
      snapshot.timeline.length,
    );
  });

  test('a heap snapshot that was asked for near the limit is written as well', async () => {
    const { stderr } = await fill('turns', ['--max-old-space-size=40', '--heapsnapshot-near-heap-limit=1']);
    expect(stderr).toMatch(/Wrote snapshot to .*\.heapsnapshot/);
  }, 120_000);

  test('a report that was asked for a fatal error is written as well', async () => {
    const { stderr } = await fill('turns', [
      '--report-on-fatalerror',
      `--report-directory=${mkdtempSync(join(directory, 'r'))}`,
    ]);
    expect(stderr).toMatch(/Writing Node\.js report to file: .*\.json/);
  });
});

test.skipIf(clockInfo().path !== 'fast')(
  'called in the middle of any code, the recorder loses nothing and shows nothing twice',
  async () => {
    const file = await bundleChild(join(packageRoot, 'test/flight-recorder/children/interrupted.ts'));
    const { code, stdout, stderr } = await runFile(file, {
      env: { FLIGHT_DIR: mkdtempSync(join(directory, 'i')) },
    });
    expect([code, stderr]).toEqual([0, '']);
    const { interrupts, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({ comparisons: 11, failed: 0, spansEvictedEarly: 0, wrong: [] });
    expect(interrupts).toBeGreaterThan(300);
  },
);

describe.skipIf(clockInfo().path !== 'fast')('heaps of workers', () => {
  let child = '';
  beforeAll(async () => {
    child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/workers.ts'));
  });

  const run = async (way: string) => {
    const place = mkdtempSync(join(directory, 'w'));
    const { code, signal, stdout, stderr } = await runFile(child, { env: { FLIGHT_DIR: place, FLIGHT_WAY: way } });
    const files = readdirSync(place).sort();
    const snapshots = await Promise.all(files.map((file) => readSnapshotFile(join(place, file))));
    return { end: [code, signal], stdout, stderr, files, snapshots };
  };

  test('a worker whose heap is full leaves what it has recorded, ends as it would have, and the process goes on', async () => {
    const { end, stdout, stderr, files, snapshots } = await run('full worker');
    expect([end, stdout, stderr]).toEqual([[0, null], 'ERR_WORKER_OUT_OF_MEMORY\ntrue\n', '']);
    expect(files).toEqual([expect.stringMatching(/Z-\d+\.1-heap-limit\.flight$/)]);
    expect(new Set(namesOf(snapshots[0]))).toEqual(new Set(['request of thread 1']));
    expect([snapshots[0].spanCount, snapshots[0].timelineFromUs]).toEqual([100, undefined]);
  });

  test('a thread that lives on is watched again after the interval', async () => {
    const { end, stdout, files } = await run('worker that lives on');
    expect([end, stdout, files.length]).toEqual([[0, null], 'once\ntwice\n', 2]);
  });

  test('workers come and go with recorders of their own, however they end', async () => {
    const { end, stdout, stderr } = await run('workers that come and go');
    expect([end, stdout, stderr]).toEqual([[0, null], '0 true\n', '']);
  });

  test('an exception that ends a worker leaves what the worker has recorded', async () => {
    const { end, stdout, files, snapshots } = await run('exception in a worker');
    expect([end, stdout]).toEqual([[0, null], 'Error: it broke in a worker\n']);
    expect(files).toEqual([expect.stringMatching(/Z-\d+\.1-uncaught-exception\.flight$/)]);
    expect(new Set(namesOf(snapshots[0]))).toEqual(new Set(['request of thread 1']));
  });
});
