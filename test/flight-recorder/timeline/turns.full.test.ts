// What the loop works in turns too short for a busy stretch is told from what it waits, and a process that does nothing has no row of it.
import { describe, expect, test } from 'vitest';
import type { TimeBreakdown, TimelineRow } from '../../../src/flight-recorder/index.js';
import { hasTimeline, timelineProgram } from './timeline-program.js';

interface Request {
  readonly workedUs: number;
  readonly idleUs: number;
  readonly rows: readonly TimelineRow[];
  readonly alone: TimeBreakdown;
  readonly withLocal: TimeBreakdown;
}

/** Of the bound, which is 5 ms: less work than this between two long waits is not a row. */
const UNSEEN_US = 500;
const PIECES = 8;
const PIECE_US = 3000;

describe.runIf(hasTimeline)('short turns', () => {
  const { result } = timelineProgram('turns');

  /** What became busy stretches though it should not, on a machine under load, and how much work before such a stretch, or at the end, has no row. */
  const boundsOf = ({ rows }: Request) => {
    const busy = rows.filter(({ kind }) => kind === 'busy');
    const busyUs = busy.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
    return { busyUs, unseenUs: (busy.length + 1) * UNSEEN_US };
  };
  const turnsOf = (rows: readonly TimelineRow[]): TimelineRow[] => rows.filter(({ kind }) => kind === 'turns');

  test('a request that works in pieces has not waited', async () => {
    const request = await result<Request>('without a wait');
    const { workedUs, idleUs, alone, withLocal, rows } = request;
    const { busyUs, unseenUs } = boundsOf(request);
    expect(workedUs).toBeGreaterThanOrEqual(PIECES * PIECE_US);
    expect(alone.waitingUs).toBeLessThan(idleUs + unseenUs);
    expect(alone.shortUs).toBeGreaterThan(workedUs - busyUs - alone.gcUs - unseenUs);
    expect(alone.shortUs).toBeLessThan(alone.durationUs - idleUs + unseenUs);
    // Half of the pieces are local spans, and what they had is theirs.
    expect(withLocal.ownUs + withLocal.gcUs).toBeGreaterThanOrEqual((PIECES / 2) * PIECE_US - 10);
    expect(withLocal.shortUs).toBeLessThan(alone.shortUs - withLocal.ownUs + busyUs + unseenUs);
    expect(withLocal.waitingUs).toBeLessThan(idleUs + unseenUs);
    expect(turnsOf(rows).length).toBeGreaterThan(0);
  });

  test('one that waits between has waited as long as the loop was idle', async () => {
    const request = await result<Request>('with waits');
    const { workedUs, idleUs, alone } = request;
    const { busyUs, unseenUs } = boundsOf(request);
    expect(alone.waitingUs).toBeGreaterThan(idleUs - PIECES * UNSEEN_US);
    expect(alone.waitingUs).toBeLessThan(idleUs + PIECES * UNSEEN_US + unseenUs);
    expect(alone.shortUs).toBeGreaterThan(workedUs - busyUs - alone.gcUs - unseenUs);
  });

  test('an idle process has no row', async () => {
    expect(await result<TimelineRow[]>('idle')).toEqual([]);
  });

  test('what goes on is there up to now, once, and does not change', async () => {
    const { workedUs, rows, again, after } = await result<
      Record<'rows' | 'again' | 'after', TimelineRow[]> & { readonly workedUs: number }
    >('open');
    const worked = (of: readonly TimelineRow[]): number =>
      turnsOf(of).reduce((sum, { startUs, endUs, idleUs = 0 }) => sum + endUs - startUs - idleUs, 0);
    expect(worked(rows)).toBeGreaterThanOrEqual(workedUs - 10);
    expect(turnsOf(again).length - turnsOf(rows).length).toBeLessThanOrEqual(1);
    const sorted = turnsOf(after);
    for (const [i, { startUs }] of sorted.entries())
      if (i > 0) expect(startUs).toBeGreaterThanOrEqual(sorted[i - 1].endUs - 1);
    expect(worked(after)).toBeGreaterThanOrEqual(worked(rows) - 1);
  });
});
