// Who had the event loop when, for the whole window: a process has one loop, so that each moment has one owner, whichever span is asked about.
// What nothing tells has no owner here. Must never give a moment to two.
import type { LanePart, LaneRow } from '../lane/lane-row.js';
import { Ancestry } from './ancestry.js';
import { firstOwner, laneLayers, NOBODY, walkLayers } from './lane-layers.js';
import { innermost, type Piece, Stretches } from './stretches.js';
import { type TimedSpan, type TimeWindow, toTicks } from './timed-span.js';

/** The owners of the loop. */
export class Timeline {
  readonly stretches = new Stretches();
  readonly ancestry: Ancestry;
  /** All parts of the lane, by the numbers that `partOf` gives. */
  readonly parts: readonly LanePart[];

  constructor(spans: readonly TimedSpan[], lane: readonly LaneRow[], covered: readonly TimeWindow[]) {
    this.ancestry = new Ancestry(spans);
    const { gc, part, busy, idle, parts } = laneLayers(lane, covered, toTicks, (of) => this.ancestry.placeOf(of));
    this.parts = parts;
    // The one that decides first: collections, which are nobody's work, then local spans, then parts of busy stretches.
    const layers = [gc, innermost(this.#localPieces(spans)), part, busy, idle];
    walkLayers(layers, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, (start, end, owners) => {
      const owner = this.#ownerOf(owners);
      if (owner !== NOBODY) this.stretches.add(start, end, owner);
    });
  }

  #localPieces(spans: readonly TimedSpan[]): Piece[] {
    const local: Piece[] = [];
    for (const [i, span] of spans.entries()) {
      // A span that is there twice had the loop once.
      if (!span.isSync || this.ancestry.placeOf(span) !== i) continue;
      local.push({
        start: toTicks(span.startUs),
        end: toTicks(span.endUs),
        ref: i,
        order: this.ancestry.orderOf(i),
      });
    }
    return local;
  }

  #ownerOf(owners: readonly number[]): number {
    const [gc, local, part] = owners;
    // A span that was current within a local span, and is below it, is nearer to what ran.
    if (gc === NOBODY && local >= 0 && part >= 0 && this.ancestry.isWithin(part, local)) return part;
    return firstOwner(owners);
  }
}
