// Where the time of one root went, by its own local spans and the lane: no index of other spans, so that it can be told of every root that is
// reported. In whole nanoseconds, so that the parts add up to the root as others are told of it. Must agree with `divide` over the same spans.
import type { HotFrames, LoopHolder } from './division.js';
import { firstOwner, type LaneLayers, NOBODY, partOf, walkLayers } from './lane-layers.js';
import type { Stretches } from './stretches.js';
import { Tally } from './tally.js';

/** A root, as far as its division asks. Times are nanoseconds since whatever the layers count from. */
export interface DividedRoot {
  readonly start: number;
  readonly end: number;
  /** The local spans of its trace, as stretches whose owner is {@link OWN}. */
  readonly local: Stretches;
  isSameTrace(traceId: string): boolean;
  /** Whether a span of this id is among those of its trace. */
  has(spanId: string): boolean;
}

/** Nanoseconds; the six add up to the root exactly. */
export interface RootDivision {
  readonly own: number;
  readonly gc: number;
  readonly others: number;
  readonly untraced: number;
  readonly waiting: number;
  readonly unknown: number;
  /** Those that had the loop longest, and the hottest stacks without a span. */
  readonly holders: readonly LoopHolder[];
  readonly frames: readonly HotFrames[];
}

/** The place of all spans of the root's trace: all of them are its own. */
export const OWN = 0;

const NS_PER_US = 1000;
const NAMED = 3;

export const divideRoot = (root: DividedRoot, { gc, part, busy, idle, parts }: LaneLayers): RootDivision => {
  const { start, end, local } = root;
  const tally = new Tally({ spans: [], parts }, NS_PER_US);
  let own = 0;
  let unknown = 0;
  walkLayers([gc, local, part, busy, idle], start, end, (from, to, owners) => {
    const owner = firstOwner(owners);
    const ns = to - from;
    const at = partOf(owner);
    if (owner === NOBODY) unknown += ns;
    else if (owner === OWN) own += ns;
    else if (at < 0 || parts[at].spanId === '' || !root.isSameTrace(parts[at].traceId)) tally.add(owner, ns);
    // Of its trace, and not there: it may have been beside the root.
    else if (root.has(parts[at].spanId)) own += ns;
    else unknown += ns;
  });
  return {
    own,
    gc: tally.gc,
    others: tally.holders,
    untraced: tally.untraced,
    waiting: tally.idle,
    unknown: unknown + tally.unknown,
    holders: tally.longest(NAMED),
    frames: tally.hottest(NAMED),
  };
};
