// What the loop works in turns too short for a busy stretch is told from what it waits, and a process that does nothing has no row of it.
import { describe, expect, test } from 'vitest';
import type { Division, LaneRow } from '../../../src/flight-recorder/index.js';
import { hasLane, laneProgram } from './lane-program.js';

interface Request {
  readonly workedUs: number;
  readonly idleUs: number;
  readonly rows: readonly LaneRow[];
  readonly alone: Division;
  readonly withLocal: Division;
}

/** Of the bound, which is 5 ms: less work than this between two long waits is no row. */
const UNSEEN_US = 500;
const PIECES = 8;
const PIECE_US = 3000;

describe.runIf(hasLane)('short turns', () => {
  const { result } = laneProgram('turns');

  const turnsOf = (rows: readonly LaneRow[]): LaneRow[] => rows.filter(({ kind }) => kind === 'turns');

  test('a request that works in pieces has not waited', async () => {
    const { workedUs, idleUs, alone, withLocal, rows } = await result<Request>('without a wait');
    expect(workedUs).toBeGreaterThanOrEqual(PIECES * PIECE_US);
    // At the end of the last window.
    expect(alone.waitingUs).toBeLessThan(idleUs + UNSEEN_US);
    expect(alone.shortUs + alone.gcUs + alone.unknownUs + alone.untracedUs).toBeGreaterThan(workedUs - UNSEEN_US);
    expect(alone.shortUs).toBeLessThanOrEqual(alone.durationUs - idleUs + UNSEEN_US);
    // Half of the pieces are local spans.
    expect(withLocal.ownUs + withLocal.gcUs).toBeGreaterThanOrEqual((PIECES / 2) * PIECE_US - 10);
    expect(withLocal.shortUs).toBeLessThan(alone.shortUs - withLocal.ownUs + UNSEEN_US);
    expect(withLocal.waitingUs).toBeLessThan(idleUs + UNSEEN_US);
    expect(turnsOf(rows).length).toBeGreaterThan(0);
  });

  test('one that waits between has waited as long as the loop was idle', async () => {
    const { workedUs, idleUs, alone } = await result<Request>('with waits');
    expect(Math.abs(alone.waitingUs - idleUs)).toBeLessThan((PIECES + 1) * UNSEEN_US);
    expect(alone.shortUs + alone.gcUs + alone.unknownUs + alone.untracedUs).toBeGreaterThan(workedUs - UNSEEN_US);
  });

  test('an idle process has no row', async () => {
    expect(await result<LaneRow[]>('idle')).toEqual([]);
  });

  test('what goes on is there up to now, once, and does not change', async () => {
    const { workedUs, rows, again, after } = await result<
      Record<'rows' | 'again' | 'after', LaneRow[]> & { readonly workedUs: number }
    >('open');
    const worked = (of: readonly LaneRow[]): number =>
      turnsOf(of).reduce((sum, { startUs, endUs, idleUs = 0 }) => sum + endUs - startUs - idleUs, 0);
    expect(worked(rows)).toBeGreaterThanOrEqual(workedUs - 10);
    expect(turnsOf(again).length - turnsOf(rows).length).toBeLessThanOrEqual(1);
    const sorted = turnsOf(after);
    for (const [i, { startUs }] of sorted.entries())
      if (i > 0) expect(startUs).toBeGreaterThanOrEqual(sorted[i - 1].endUs - 1);
    expect(worked(after)).toBeGreaterThanOrEqual(worked(rows) - 1);
  });
});
