// Puts on roots that are about to be reported where their time went, as properties. Runs once a report, and takes of the timeline what came since the
// earliest of these roots began: it must not make an object of a span, nor look at spans of other traces.
import type { TracePart } from '../collector/trace-part.js';
import { toUnixTime } from '../record/row-view.js';
import type { PropertyValue } from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import { parseSpanId } from '../span/traceparent.js';
import { OWN, type RootBreakdown, rootBreakdown, type TimedRoot } from './breakdown/root-breakdown.js';
import { innermost, type Piece } from './breakdown/stretches.js';
import { TimelineLayers } from './breakdown/timeline-layers.js';
import { stackName } from './timeline/frames.js';
import type { Timeline } from './timeline/timeline.js';

const MAX_NAME = 128;

/** The timeline, and since when it is watched. */
export interface WatchedTimeline {
  readonly timeline: Pick<Timeline, 'rows'>;
  readonly fromUs: number;
}

/** Puts on each root among `parts` the breakdown of its time. A part of a trace that was reported before is not whole, and left as it is. */
export const putRootTimes = (parts: readonly TracePart[], { timeline, fromUs }: WatchedTimeline): void => {
  const roots = parts.filter(({ hasRoot, isContinuation }) => hasRoot && !isContinuation);
  if (roots.length === 0) return;
  const startSec = roots.reduce((first, part) => Math.min(first, secondOf(part)), Number.POSITIVE_INFINITY);
  // Nanoseconds since that second: a double holds those of a hundred days exactly.
  const toNs = (us: number): number => Math.round((us - startSec * 1e6) * 1000);
  const covered = { fromUs, toUs: Number.POSITIVE_INFINITY };
  const layers = new TimelineLayers(timeline.rows(startSec * 1e6), [covered], toNs);
  for (const part of roots) part.addToRoot(propertiesOf(breakdownOf(part, startSec, layers)));
};

const secondOf = (part: TracePart): number => toUnixTime(part.chunkOf(0).begins[part.rowOf(0)], part.anchor).sec;

const breakdownOf = (part: TracePart, startSec: number, layers: TimelineLayers): RootBreakdown => {
  const nsOf = (ticks: number): number => {
    const { sec, nano } = toUnixTime(ticks, part.anchor);
    return (sec - startSec) * 1e9 + nano;
  };
  const local: Piece[] = [];
  for (let i = 1; i < part.spanCount; i++) {
    const [chunk, row] = [part.chunkOf(i), part.rowOf(i)];
    if ((chunk.flags[row] & Flag.local) === 0) continue;
    local.push({ start: nsOf(chunk.begins[row]), end: nsOf(chunk.ends[row]), ref: OWN, order: 0 });
  }
  const [chunk, row] = [part.chunkOf(0), part.rowOf(0)];
  const root: TimedRoot = {
    start: nsOf(chunk.begins[row]),
    end: nsOf(chunk.ends[row]),
    local: innermost(local),
    isSameTrace: (traceId) => traceId === part.traceId,
    has: (spanId) => hasSpan(part, spanId),
  };
  return rootBreakdown(root, layers);
};

const hasSpan = (part: TracePart, spanId: string): boolean => {
  const [hi, lo] = parseSpanId(spanId) ?? [0, 0];
  for (let i = 0; i < part.spanCount; i++) {
    const [chunk, row] = [part.chunkOf(i), part.rowOf(i)];
    if (chunk.idLos[row] === lo && chunk.idHis[row] === hi) return true;
  }
  return false;
};

const propertiesOf = ({
  own,
  gc,
  others,
  untraced,
  short,
  waiting,
  unknown,
  holders,
  frames,
  pool,
  poolWaits,
}: RootBreakdown) => {
  const list: (string | PropertyValue)[] = [
    'spanline.time.own_ns',
    own,
    'spanline.time.gc_ns',
    gc,
    'spanline.time.others_ns',
    others,
    'spanline.time.untraced_ns',
    untraced,
    'spanline.time.short_ns',
    short,
    'spanline.time.waiting_ns',
    waiting,
    'spanline.time.unknown_ns',
    unknown,
  ];
  if (holders.length > 0) {
    list.push(
      'spanline.loop.owners',
      holders.map(({ name }) => name.slice(0, MAX_NAME)),
      'spanline.loop.owner_trace_ids',
      holders.map(({ traceId }) => traceId),
      'spanline.loop.owner_ns',
      holders.map(({ us }) => Math.round(us * 1000)),
    );
  }
  if (frames.length > 0)
    list.push(
      'spanline.loop.untraced',
      frames.map((hot) => stackName(hot.frames)),
    );
  if (pool > 0) {
    const requests = poolWaits.map((wait) => wait.requests.slice(0, MAX_NAME)).filter((text) => text !== '');
    list.push('spanline.time.pool_ns', pool);
    if (requests.length > 0) list.push('spanline.pool.requests', requests);
  }
  return list;
};
