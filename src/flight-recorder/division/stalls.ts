// The worst stalls of a process: who had the event loop, and who waited for it. Must not blame who only waited: without a word of the lane or of
// a local span nobody had the loop.
import type { LaneRow } from '../lane/lane-row.js';
import type { HotFrames, LoopHolder } from './division.js';
import type { DivisionIndex } from './division-index.js';
import { Tally } from './tally.js';
import { TICKS_PER_US, toTicks, toUs } from './timed-span.js';
import { type Waiter, waitersOf } from './waiters.js';

/** A busy stretch of the event loop. Times in microseconds; what had the loop adds up to `durationUs` exactly. */
export interface Stall {
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  /** Spans had the loop for so long in all. */
  readonly heldUs: number;
  /** Those that had it longest, at most ten, by name and trace. */
  readonly holders: readonly LoopHolder[];
  readonly gcUs: number;
  /** With something that no span covers. */
  readonly untracedUs: number;
  /** The stacks that took most of that, at most three. */
  readonly untracedFrames: readonly HotFrames[];
  readonly unknownUs: number;
  /** Traces that had a span open and not the loop, the longest first, at most ten. */
  readonly waiters: readonly Waiter[];
  /** All of them, and for how long in all: a hundred requests that waited 50 ms each waited 5 s. */
  readonly waiterCount: number;
  readonly waitedUs: number;
}

const NAMED = 10;
const NAMED_FRAMES = 3;
const DEFAULT_LIMIT = 20;

const stallOf = (index: DivisionIndex, row: LaneRow): Stall => {
  const start = toTicks(row.startUs);
  const end = toTicks(row.endUs);
  const { stretches } = index.timeline;
  const tally = new Tally({ spans: index.spans, parts: index.timeline.parts }, TICKS_PER_US);
  for (let i = stretches.firstAfter(start); i < stretches.count && stretches.starts[i] < end; i++) {
    tally.add(stretches.refs[i], Math.min(end, stretches.ends[i]) - Math.max(start, stretches.starts[i]));
  }
  const waiters = waitersOf(index, start, end);
  return {
    startUs: toUs(start),
    durationUs: toUs(end - start),
    heldUs: toUs(tally.holders),
    holders: tally.longest(NAMED),
    gcUs: toUs(tally.gc),
    untracedUs: toUs(tally.untraced),
    untracedFrames: tally.hottest(NAMED_FRAMES),
    unknownUs: toUs(tally.unknown),
    waiters: waiters.slice(0, NAMED),
    waiterCount: waiters.length,
    waitedUs: waiters.reduce((sum, { us }) => sum + us, 0),
  };
};

/**
 * The longest stretches in which the event loop was busy, the longest first, at most `limit` (20).
 *
 * @example
 * ```ts
 * import { DivisionIndex, stalls } from 'spanline/flight-recorder';
 * const request = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '', name: 'GET /', startUs: 0, endUs: 9000, isSync: false };
 * const untraced = { startUs: 1000, endUs: 8000, traceId: '', spanId: '', name: '', frames: [] };
 * const busy = { kind: 'busy', startUs: 1000, endUs: 8000, detail: '', parts: [untraced] } as const;
 * const [worst] = stalls(new DivisionIndex([request], [busy]));
 * console.assert(worst.untracedUs === 7000 && worst.waiters[0].name === 'GET /' && worst.waitedUs === 7000);
 * ```
 */
export const stalls = (index: DivisionIndex, limit = DEFAULT_LIMIT): Stall[] =>
  index.lane
    .filter(({ kind, startUs, endUs }) => kind === 'busy' && endUs > startUs)
    .sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs) || a.startUs - b.startUs)
    .slice(0, limit)
    .map((row) => stallOf(index, row));
