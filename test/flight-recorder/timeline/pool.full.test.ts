// The timeline says when the thread pool was full and of what, costs nothing where it is not used, and keeps no process alive.
import { describe, expect, test } from 'vitest';
import type { TimelineRow, TimelineStats } from '../../../src/flight-recorder/index.js';
import { hasTimeline, timelineProgram } from './timeline-program.js';

const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
const isGlibc = header?.glibcVersionRuntime !== undefined;
const { runs, result } = timelineProgram('pool', { UV_THREADPOOL_SIZE: '4' });

const lengthUs = (rows: readonly TimelineRow[]): number =>
  rows.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
const details = (rows: readonly TimelineRow[]): string => rows.map(({ detail }) => detail).join('\n');

describe.runIf(hasTimeline && process.platform !== 'win32')('the thread pool', () => {
  test('is not full while one thread is free', async () => {
    const { rows, stats, ms } = await result<{ rows: TimelineRow[]; stats: TimelineStats; ms: number }>('room');
    // A thread that waits for a processor is late too: where the pool is full it is full for all of the time.
    expect(lengthUs(rows)).toBeLessThan((ms * 1000) / 2);
    expect(stats.poolProbes).toBeGreaterThan(3);
  });

  test('full of hashes, which Node lists nowhere, is named by what comes to an end', async () => {
    const { rows } = await result<{ rows: TimelineRow[] }>('hashes');
    expect(details(rows)).toMatch(/^other \d+ \(crypto\/pbkdf2\)$/m);
    expect(lengthUs(rows)).toBeGreaterThan(20_000);
  });

  test.runIf(isGlibc)('is full for names when look-ups have taken the half of it that they get', async () => {
    const { rows, hadRoom } = await result<{ rows: TimelineRow[]; hadRoom: boolean }>('names');
    expect(hadRoom).toBe(true);
    // The request for a file that had a thread just before may be on its list still.
    expect(rows[0].detail).toMatch(/^dns\.lookup 3\b/);
    expect(lengthUs(rows)).toBeGreaterThan(50_000);
  });

  test('a process that has nothing to do ends, though the pool is full of the requests of a worker', async () => {
    expect(await result('ends')).toBe('over');
  });

  test('a timeline ends and begins while it is full, and a process ends with its own code', async () => {
    const { code, signal, stdout, stderr } = await runs('lives');
    expect([code, signal, stderr]).toEqual([7, null, '']);
    expect(JSON.parse(stdout)).toEqual({ ofSecond: true, open: true });
  });
});
