// The timeline keeps to its bounds, sees collections, and changes nothing of the life of the process: its results, its end, its exit code.
import { describe, expect, test } from 'vitest';
import type { TimelineRow, TimelineStats } from '../../../src/flight-recorder/index.js';
import { RINGS, TURN_ROWS_FACTOR } from '../../../src/flight-recorder/timeline/native-rings.js';
import { hasTimeline, timelineProgram } from './timeline-program.js';

const { runs, result } = timelineProgram('lives');

describe.runIf(hasTimeline)('the timeline by the addon', () => {
  test('collections are there with kind and length', async () => {
    const { rows, startMs, endMs } = await result<{ rows: TimelineRow[]; startMs: number; endMs: number }>('gc');
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.map(({ detail }) => detail)).toContain('scavenge');
    for (const { startUs, endUs, detail, parts } of rows) {
      expect(['scavenge', 'mark-compact', 'incremental', 'weak']).toContain(detail);
      expect(endUs).toBeGreaterThan(startUs);
      expect(parts).toEqual([]);
    }
    expect(rows[0].startUs).toBeGreaterThan((startMs - 20) * 1000);
    expect(rows.at(-1)?.endUs).toBeLessThan((endMs + 20) * 1000);
  });

  test('a turn in which no JavaScript ran says so from its begin to its end, any other does not', async () => {
    const { busy, natives } = await result<{ busy: TimelineRow[]; natives: TimelineRow[] }>('native');
    expect(natives.length).toBeGreaterThan(0);
    for (const { startUs, endUs, parts } of natives) {
      expect(parts).toHaveLength(1);
      expect([parts[0].startUs, parts[0].endUs, parts[0].name]).toEqual([startUs, endUs, '']);
    }
    const spins = busy.filter(({ parts }) => parts.some(({ frames }) => frames.join('\n').includes('spin ')));
    expect(spins.length).toBeGreaterThan(0);
    expect(natives.filter(({ startUs }) => spins.some((spin) => spin.startUs === startUs))).toEqual([]);
  }, 30_000);

  test('a loop that waits is not busy, and is not looked into', async () => {
    const { busy, stats } = await result<{ busy: TimelineRow[]; stats: TimelineStats }>('idle');
    // Another process may have taken the processor once.
    expect(busy.length).toBeLessThanOrEqual(1);
    expect(stats.samplesUnknown + stats.samplesLate).toBeLessThan(20);
  });

  test('turns that are each shorter than the bound are not a stretch', async () => {
    const { rows, long } = await result<{ rows: number; long: number }>('short');
    expect(rows).toBeLessThanOrEqual(1 + long);
  });

  test('the newest stretches are kept, what they replace is counted', async () => {
    const { rows, stats } = await result<{ rows: TimelineRow[]; stats: TimelineStats }>('bound');
    const kept = rows.filter(({ kind }) => kind === 'busy');
    expect(kept.length).toBeLessThanOrEqual(5);
    expect(kept.length).toBeGreaterThanOrEqual(4);
    expect(stats.rowsDropped).toBeGreaterThanOrEqual(6);
    // Four of each kind, of short turns as many times more as they have room for.
    expect(stats.rows).toBeLessThanOrEqual(4 * (RINGS - 1 + TURN_ROWS_FACTOR));
    expect(rows.map(({ startUs }) => startUs)).toEqual(rows.map(({ startUs }) => startUs).sort((a, b) => a - b));
  });

  test('20 of 20 processes end with their own code in the middle of work', async () => {
    for (let i = 0; i < 20; i++) {
      const { code, signal, stderr } = await runs('exit', String(i));
      expect([code, signal, stderr]).toEqual([i, null, '']);
    }
  }, 60_000);

  test('a program with contexts of all kinds does and sees the same with the timeline as without', async () => {
    const [off, on] = [await result<object>('mixed', 'off'), await result<{ samples: number }>('mixed', 'on')];
    const { samples, ...same } = on;
    expect(same).toEqual(off);
    expect(samples).toBeGreaterThan(10);
  });
});
