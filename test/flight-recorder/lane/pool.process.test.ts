// The lane says when the thread pool was full and of what, and is not asked where nobody uses it. All else: pool.full.test.ts.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import type { LaneRow, LaneStats } from '../../../src/flight-recorder/index.js';
import { bundleChild, type ChildResult, runFile } from '../../support/child.js';

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
    expect(lengthUs(during)).toBeGreaterThan(50_000);
    expect(after[0].startUs).toBeGreaterThanOrEqual(fromUs - 1000);
    expect(after[0].endUs).toBeGreaterThanOrEqual(during[0].endUs - 1000);
    expect(lengthUs(after)).toBeLessThan(toUs - fromUs + 1000);
    expect(after[0].detail).toBe('fs 7');
    expect(stats.poolProbes).toBeGreaterThan(0);
  });

  test('is not asked where a process makes no requests', async () => {
    expect(await result<LaneStats>('none')).toMatchObject({ source: 'native', poolProbes: 0 });
  });
});
