// The timeline says when the thread pool was full and of what, and is not asked where nobody uses it. All else: pool.full.test.ts.
import { describe, expect, test } from 'vitest';
import type { TimelineRow, TimelineStats } from '../../../src/flight-recorder/index.js';
import { hasTimeline, timelineProgram } from './timeline-program.js';

const { result } = timelineProgram('pool', { UV_THREADPOOL_SIZE: '4' });

const lengthUs = (rows: readonly TimelineRow[]): number =>
  rows.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);

describe.runIf(hasTimeline && process.platform !== 'win32')('the thread pool', () => {
  test('is full from when more than its threads are taken until one is free, also while it goes on', async () => {
    interface Files {
      readonly during: TimelineRow[];
      readonly after: TimelineRow[];
      readonly fromUs: number;
      readonly toUs: number;
      readonly stats: TimelineStats;
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
    expect(await result<TimelineStats>('none')).toMatchObject({ source: 'native', poolProbes: 0 });
  });
});
