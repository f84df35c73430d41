// Puts on roots that are about to be reported where their time went, as properties, by their own local spans and the timeline. Runs once a report,
// and takes of the timeline what came since the earliest of these roots began: it must not make an object of a span, nor look at spans of other
// traces. In whole nanoseconds, so that the parts add up to the root as it is exported. Must agree with `timeBreakdown` over the same spans.

import type { TracePart } from '../collector/trace-part.js';
import { toUnixTime } from '../record/row-view.js';
import type { PropertyValue } from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import { parseSpanId } from '../span/span-context.js';
import { innermost, type Piece, type Stretches } from './breakdown/stretches.js';
import { type HotFrames, type LoopHolder, type PoolWait, Tally } from './breakdown/tally.js';
import { NOBODY, partOf, TimelineLayers, UnclaimedTimes } from './breakdown/timeline-layers.js';
import { stackName } from './timeline/frames.js';
import type { Timeline } from './timeline/timeline.js';

/** A root, as far as its breakdown asks. Times are nanoseconds since whatever the layers count from. */
interface TimedRoot {
  readonly start: number;
  readonly end: number;
  /** The local spans of its trace, as stretches whose owner is {@link OWN}. */
  readonly local: Stretches;
  isSameTrace(traceId: string): boolean;
  /** Whether a span of this id is among those of its trace. */
  has(spanId: string): boolean;
}

/** Nanoseconds; all but `pool` add up to the root exactly. */
interface RootBreakdown {
  readonly own: number;
  readonly gc: number;
  readonly others: number;
  readonly untraced: number;
  /** The loop worked in turns shorter than the bound; no record names the span. */
  readonly short: number;
  readonly waiting: number;
  /** Of `waiting`: the thread pool was full. */
  readonly pool: number;
  readonly unknown: number;
  /** Those that had the loop longest, the hottest stacks without a span, and what was in the pool. */
  readonly holders: readonly LoopHolder[];
  readonly frames: readonly HotFrames[];
  readonly poolWaits: readonly PoolWait[];
}

/** The place of all spans of the root's trace: all of them are its own. */
export const OWN = 0;

const NS_PER_US = 1000;
const NAMED = 3;

export const rootBreakdown = (root: TimedRoot, layers: TimelineLayers): RootBreakdown => {
  const { start, end, local } = root;
  const { parts, rests } = layers;
  const unclaimed = new UnclaimedTimes();
  const tally = new Tally({ spans: [], parts, rests: rests.list, unclaimed }, NS_PER_US);
  let own = 0;
  let unknown = 0;
  const addUnclaimed = (from: number, to: number, owner: number): void => {
    const turns = layers.turnsOf(owner);
    if (turns !== undefined) unclaimed.add(turns, to - from);
  };
  // Short turns are looked at as a whole, also where the root has a part of them.
  layers.walk(local, [layers.turnsAround(start)?.start ?? start, start], addUnclaimed);
  layers.walk(local, [start, end], (from, to, owner) => {
    addUnclaimed(from, to, owner);
    const ns = to - from;
    const at = partOf(owner);
    if (owner === NOBODY) unknown += ns;
    else if (owner === OWN) own += ns;
    else if (at < 0 || parts[at].spanId === '' || !root.isSameTrace(parts[at].traceId)) tally.add(owner, ns);
    // Of its trace, and not there: it may have been beside the root.
    else if (root.has(parts[at].spanId)) own += ns;
    else unknown += ns;
  });
  layers.walk(local, [end, layers.turnsAround(end)?.end ?? end], addUnclaimed);
  const { idle, short, pool, fullest } = tally.waits(NAMED);
  return {
    own,
    gc: tally.gc,
    others: tally.holders,
    untraced: tally.untraced,
    short,
    waiting: idle,
    pool,
    unknown: unknown + tally.unknown,
    holders: tally.longest(NAMED),
    frames: tally.hottest(NAMED),
    poolWaits: fullest,
  };
};

const MAX_NAME = 128;

/** The timeline, and since when it is watched. */
interface WatchedTimeline {
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
