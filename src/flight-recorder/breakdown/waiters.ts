// The waiters for the event loop during a stretch: traces that had a span open while others had it. Must count a trace's time once, however many
// spans it had open.
import type { BreakdownIndex } from './breakdown-index.js';
import { restOf } from './short-turns.js';
import { innermost, type Piece } from './stretches.js';
import { toTicks, toUs } from './timed-span.js';
import { Owner, partOf } from './timeline-layers.js';

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
export const waitersOf = (index: BreakdownIndex, start: number, end: number): Waiter[] => {
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
