// The worst stalls of a process: the owners of the event loop, or the requests in the thread pool, and the waiters, which are traces that had a span
// open while others had the loop. Must not blame waiters: without a word of the timeline or of a local span nobody had the loop. Must count a
// trace's time once, however many spans it had open.

import type { TimelineRow } from '../timeline/timeline-row.js';
import type { BreakdownIndex } from './breakdown-index.js';
import { innermost, type Piece, TICKS_PER_US, type TimeWindow, toTicks, toUs } from './stretches.js';
import { type HotFrames, type LoopHolder, type PoolWait, Tally } from './tally.js';
import { Owner, partOf, restOf } from './timeline-layers.js';

/** A trace that waited. */
export interface Waiter {
  /** Of its span that began first of those that were open. */
  readonly name: string;
  /** 32 hex digits. */
  readonly traceId: string;
  /** Microseconds. */
  readonly us: number;
}

/** The spans of a trace that were open, cut to the stretch. */
interface Open {
  name: string;
  startUs: number;
  readonly pieces: Piece[];
}

const openDuring = (index: BreakdownIndex, start: number, end: number): Map<string, Open> => {
  const byTrace = new Map<string, Open>();
  for (const { traceId, name, startUs, endUs } of index.spans) {
    const from = Math.max(start, toTicks(startUs));
    const to = Math.min(end, toTicks(endUs));
    if (to <= from) continue;
    const open = byTrace.get(traceId);
    const piece = { start: from, end: to, ref: 0, order: 0 };
    if (open === undefined) byTrace.set(traceId, { name, startUs, pieces: [piece] });
    else {
      open.pieces.push(piece);
      if (startUs < open.startUs) {
        open.startUs = startUs;
        open.name = name;
      }
    }
  }
  return byTrace;
};

/** The trace that had the loop; '' where nobody's work had it or what was wanted was the thread pool, undefined where nothing is recorded. */
const traceOf = ({ spans, loopOwners }: BreakdownIndex, owner: number): string | undefined => {
  if (owner === Owner.unknown || owner === Owner.idle) return undefined;
  if (owner === Owner.gc) return '';
  if (restOf(owner) >= 0) return loopOwners.owners.rests[restOf(owner)].pool === undefined ? undefined : '';
  const part = partOf(owner);
  return part < 0 ? spans[owner].traceId : loopOwners.owners.parts[part].traceId;
};

/** Traces that waited during a stretch, the longest first. */
const waitersOf = (index: BreakdownIndex, start: number, end: number): Waiter[] => {
  const { stretches } = index.loopOwners;
  const { starts, ends, refs, count } = stretches;
  const first = stretches.firstAfter(start);
  const holders = new Set<string>();
  for (let i = first; i < count && starts[i] < end; i++) holders.add(traceOf(index, refs[i]) ?? '');
  const waiters: Waiter[] = [];
  for (const [traceId, { name, pieces }] of openDuring(index, start, end)) {
    const isHolder = holders.has(traceId);
    let ticks = 0;
    const open = innermost(pieces);
    for (let k = 0; k < open.count; k++) {
      const [from, to] = [open.starts[k], open.ends[k]];
      if (!isHolder) ticks += to - from;
      // One that had the loop for a part waited while somebody else is known to have had it: what is unknown may have been its own.
      else
        for (let i = stretches.firstAfter(from); i < count && starts[i] < to; i++) {
          const holder = traceOf(index, refs[i]);
          if (holder !== undefined && holder !== traceId) ticks += Math.min(to, ends[i]) - Math.max(from, starts[i]);
        }
    }
    if (ticks > 0) waiters.push({ name, traceId, us: toUs(ticks) });
  }
  return waiters.sort((a, b) => b.us - a.us);
};

/**
 * A stretch in which the event loop was busy, or the thread pool was full. Times in microseconds; `spansUs`, `gcUs`, `untracedUs`, `unknownUs`,
 * `shortUs` and `idleUs` add up to `durationUs` exactly.
 */
export interface Stall {
  /** `pool`: requests of files, names, crypto, compression had to wait for a thread. */
  readonly kind: 'busy' | 'pool';
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  /** Spans had the loop for so long in all. */
  readonly spansUs: number;
  /** Those that had it longest, at most ten, by name and trace. */
  readonly holders: readonly LoopHolder[];
  readonly gcUs: number;
  /** With something that no span covers. */
  readonly untracedUs: number;
  /** The stacks that took most of that, at most three. */
  readonly untracedFrames: readonly HotFrames[];
  readonly unknownUs: number;
  /** The loop worked in turns shorter than the bound; no record names the span. */
  readonly shortUs: number;
  /** The loop was free. */
  readonly idleUs: number;
  /** What was in the thread pool meanwhile, the longest first, at most three. */
  readonly poolWaits: readonly PoolWait[];
  /** Traces that had a span open and not the loop, the longest first, at most ten. */
  readonly waiters: readonly Waiter[];
  /** All of them, and for how long in all: a hundred requests that waited 50 ms each waited 5 s. */
  readonly waiterCount: number;
  readonly waitedUs: number;
}

const NAMED = 10;
const NAMED_STACKS = 3;
const DEFAULT_LIMIT = 20;

/** Between two probes of a pool that stays full. */
const POOL_GAP_US = 5000;

/** A stretch that may become a stall. */
type Stretch = Pick<Stall, 'kind'> & Pick<TimelineRow, 'startUs' | 'endUs'>;

/** The rows of one stretch of a full pool, one after another, as one; `rows` in order of start. */
const joined = (rows: readonly TimelineRow[]): Stretch[] => {
  const stretches: { kind: 'pool'; startUs: number; endUs: number }[] = [];
  for (const { startUs, endUs } of rows) {
    const last = stretches.at(-1);
    if (last !== undefined && startUs - last.endUs <= POOL_GAP_US) last.endUs = Math.max(last.endUs, endUs);
    else stretches.push({ kind: 'pool', startUs, endUs });
  }
  return stretches;
};

const stretchesOf = (timeline: readonly TimelineRow[]): Stretch[] => {
  const busy = timeline.flatMap(({ kind, ...row }) => (kind === 'busy' ? [{ kind, ...row }] : []));
  const pool = timeline.filter(({ kind }) => kind === 'pool').sort((a, b) => a.startUs - b.startUs);
  return [...busy, ...joined(pool)].filter(({ startUs, endUs }) => endUs > startUs);
};

const stallOf = (index: BreakdownIndex, { kind, startUs, endUs }: Stretch): Stall => {
  const start = toTicks(startUs);
  const end = toTicks(endUs);
  const { stretches, owners } = index.loopOwners;
  const tally = new Tally(owners, TICKS_PER_US);
  let known = 0;
  for (let i = stretches.firstAfter(start); i < stretches.count && stretches.starts[i] < end; i++) {
    const ticks = Math.min(end, stretches.ends[i]) - Math.max(start, stretches.starts[i]);
    tally.add(stretches.refs[i], ticks);
    known += ticks;
  }
  const waiters = waitersOf(index, start, end);
  const { idle, short, fullest } = tally.waits(NAMED_STACKS);
  return {
    kind,
    startUs: toUs(start),
    durationUs: toUs(end - start),
    spansUs: toUs(tally.holders),
    holders: tally.longest(NAMED),
    gcUs: toUs(tally.gc),
    untracedUs: toUs(tally.untraced),
    untracedFrames: tally.hottest(NAMED_STACKS),
    unknownUs: toUs(tally.unknown + end - start - known),
    shortUs: toUs(short),
    idleUs: toUs(idle),
    poolWaits: fullest,
    waiters: waiters.slice(0, NAMED),
    waiterCount: waiters.length,
    waitedUs: waiters.reduce((sum, { us }) => sum + us, 0),
  };
};

/**
 * The longest stretches in which the event loop was busy or the thread pool full, the longest first, at most `limit` (20), of those that overlap
 * `window` where it is given.
 *
 * @example
 * ```ts
 * import { BreakdownIndex, stalls } from 'spanline/flight-recorder';
 * const request = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '', name: 'GET /', startUs: 0, endUs: 9000, isSync: false };
 * const untraced = { startUs: 1000, endUs: 8000, traceId: '', spanId: '', name: '', frames: [] };
 * const busy = { kind: 'busy', startUs: 1000, endUs: 8000, detail: '', parts: [untraced] } as const;
 * const [worst] = stalls(new BreakdownIndex([request], [busy]));
 * console.assert(worst.untracedUs === 7000 && worst.waiters[0].name === 'GET /' && worst.waitedUs === 7000);
 * ```
 */
export const stalls = (index: BreakdownIndex, limit = DEFAULT_LIMIT, window?: TimeWindow): Stall[] =>
  stretchesOf(index.timeline)
    .filter(({ startUs, endUs }) => window === undefined || (startUs <= window.toUs && endUs >= window.fromUs))
    .sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs) || a.startUs - b.startUs)
    .slice(0, limit)
    .map((stretch) => stallOf(index, stretch));
