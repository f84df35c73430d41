// Where the time of one root went, by its own local spans and the timeline: no index of other spans, so that every root can have it that is
// reported. In whole nanoseconds, so that the parts add up to the root as it is exported. Must agree with `timeBreakdown` over the same spans.
import type { HotFrames, LoopHolder, PoolWait } from './breakdown.js';
import { UnclaimedTimes } from './short-turns.js';
import type { Stretches } from './stretches.js';
import { Tally } from './tally.js';
import { NOBODY, partOf, type TimelineLayers } from './timeline-layers.js';

/** A root, as far as its breakdown asks. Times are nanoseconds since whatever the layers count from. */
export interface TimedRoot {
  readonly start: number;
  readonly end: number;
  /** The local spans of its trace, as stretches whose owner is {@link OWN}. */
  readonly local: Stretches;
  isSameTrace(traceId: string): boolean;
  /** Whether a span of this id is among those of its trace. */
  has(spanId: string): boolean;
}

/** Nanoseconds; all but `pool` add up to the root exactly. */
export interface RootBreakdown {
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
