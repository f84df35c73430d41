// The lane says when the thread pool was full and of what, costs nothing where it is not used, and keeps no process alive.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import type { LaneRow, LaneStats } from '../../../src/flight-recorder/index.js';
import { bundleChild, type ChildResult, runFile } from '../../support/child.js';

const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
const isGlibc = header?.glibcVersionRuntime !== undefined;
const hasAddon = loadFastCall().module?.laneStart !== undefined;

let file: string;
beforeAll(async () => {
  file = await bundleChild(fileURLToPath(new URL('./children/pool.ts', import.meta.url)));
});

const runs = (name: string): Promise<ChildResult> => runFile(file, { args: [name], env: { UV_THREADPOOL_SIZE: '4' } });

const result = async <T>(name: string): Promise<T> => {
  const { code, stdout, stderr } = await runs(name);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
};

const lengthUs = (rows: readonly LaneRow[]): number =>
  rows.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
const details = (rows: readonly LaneRow[]): string => rows.map(({ detail }) => detail).join('\n');

describe.runIf(hasAddon && process.platform !== 'win32')('the thread pool', () => {
  test('is full from when more than its threads are taken until one is free, also while it goes on', async () => {
    interface Files {
      readonly during: LaneRow[];
      readonly after: LaneRow[];
      readonly fromUs: number;
      readonly toUs: number;
      readonly stats: LaneStats;
    }
    const { during, after, fromUs, toUs, stats } = await result<Files>('files');
    expect(during).toHaveLength(1);
    expect(during[0]).toMatchObject({ kind: 'pool', detail: 'fs 7', parts: [] });
    // Asked for at 60 ms.
    expect(lengthUs(during)).toBeGreaterThan(50_000);
    expect(after[0].startUs).toBeGreaterThanOrEqual(fromUs - 1000);
    expect(after[0].endUs).toBeGreaterThanOrEqual(during[0].endUs - 1000);
    expect(lengthUs(after)).toBeLessThan(toUs - fromUs + 1000);
    expect(after[0].detail).toBe('fs 7');
    expect(stats.poolProbes).toBeGreaterThan(0);
  });

  test('is not full while one thread is free', async () => {
    const { rows, stats } = await result<{ rows: LaneRow[]; stats: LaneStats }>('room');
    // A thread that waits for a processor is late too.
    expect(lengthUs(rows)).toBeLessThan(100_000);
    expect(stats.poolProbes).toBeGreaterThan(3);
  });

  test('full of hashes, which Node lists nowhere, is named by what comes to an end', async () => {
    const { rows } = await result<{ rows: LaneRow[] }>('hashes');
    expect(details(rows)).toMatch(/^other \d+ \(crypto\/pbkdf2\)$/m);
    expect(lengthUs(rows)).toBeGreaterThan(20_000);
  });

  test.runIf(isGlibc)('is full for names when look-ups have taken the half of it that they get', async () => {
    const { rows, hadRoom } = await result<{ rows: LaneRow[]; hadRoom: boolean }>('names');
    expect(hadRoom).toBe(true);
    expect(rows[0].detail).toBe('dns.lookup 3');
    expect(lengthUs(rows)).toBeGreaterThan(50_000);
  });

  test('is not asked where a process makes no requests', async () => {
    expect(await result<LaneStats>('none')).toMatchObject({ source: 'native', poolProbes: 0 });
  });

  test('a process that has nothing to do ends, though the pool is full of the requests of a worker', async () => {
    expect(await result('ends')).toBe('over');
  });

  test('a lane ends and begins while it is full, and a process ends with its own code', async () => {
    const { code, signal, stdout, stderr } = await runs('lives');
    expect([code, signal, stderr]).toEqual([7, null, '']);
    expect(JSON.parse(stdout)).toEqual({ ofSecond: true, open: true });
  });
});
