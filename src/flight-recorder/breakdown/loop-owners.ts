// The owners of the event loop by time, for the whole window: a process has one loop, so that each moment has one owner, whichever span is asked about.
// Unrecorded time has no owner here. Must never give a moment to two.
import type { TimelineRow } from '../timeline/timeline-row.js';
import { Ancestry } from './ancestry.js';
import { UnclaimedTimes } from './short-turns.js';
import { innermost, type Piece, Stretches } from './stretches.js';
import type { Owners } from './tally.js';
import { type TimedSpan, type TimeWindow, toTicks } from './timed-span.js';
import { NOBODY, TimelineLayers } from './timeline-layers.js';

const ALL = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;

/** The owners of the loop. */
export class LoopOwners {
  readonly stretches = new Stretches();
  readonly ancestry: Ancestry;
  /** What the numbers of owners stand for. */
  readonly owners: Owners;

  constructor(spans: readonly TimedSpan[], timeline: readonly TimelineRow[], covered: readonly TimeWindow[]) {
    this.ancestry = new Ancestry(spans);
    const layers = new TimelineLayers(timeline, covered, toTicks, (of) => this.ancestry.placeOf(of));
    const unclaimed = new UnclaimedTimes();
    this.owners = { spans, parts: layers.parts, rests: layers.rests.list, unclaimed };
    layers.walk(
      innermost(this.#localPieces(spans)),
      ALL,
      (start, end, owner) => {
        if (owner === NOBODY) return;
        this.stretches.add(start, end, owner);
        const turns = layers.turnsOf(owner);
        if (turns !== undefined) unclaimed.add(turns, end - start);
      },
      // A span that was current within a local span, and is below it, is nearer to what ran.
      (part, local) => part >= 0 && this.ancestry.isWithin(part, local),
    );
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
}
