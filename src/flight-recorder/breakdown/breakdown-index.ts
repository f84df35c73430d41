// All that breakdowns of the spans of one process and one window have in common, made once. Must not be made for each span: it reads all of them.
//
// The owners of the event loop by time, for the whole window: a process has one loop, so that each moment has one owner, whichever span is asked about.
// Unrecorded time has no owner here. Must never give a moment to two. Which span is below which is answered at once, by the stretch of numbers that a
// walk through its tree gives to a span and to all below it; the walk must not recurse, for a chain of spans may be as long as a snapshot, and must
// end where damaged ids make a circle.

import type { TimelineRow } from '../timeline/timeline-row.js';
import {
  innermost,
  keyOf,
  type Piece,
  type SpanKey,
  Stretches,
  type TimedSpan,
  type TimeWindow,
  toTicks,
} from './stretches.js';
import type { Owners } from './tally.js';
import { NOBODY, TimelineLayers, UnclaimedTimes } from './timeline-layers.js';

const NONE = -1;

/** Over spans by their place in a list. */
class Ancestry {
  readonly #places = new Map<string, number>();
  /** The number at which a walk came to the span, and the number after the last one below it. */
  readonly #enters: Int32Array;
  readonly #exits: Int32Array;

  constructor(spans: readonly TimedSpan[]) {
    const count = spans.length;
    // Of a span that is there twice the first stands for its id.
    for (let i = count - 1; i >= 0; i--) this.#places.set(keyOf(spans[i]), i);
    this.#enters = new Int32Array(count).fill(NONE);
    this.#exits = new Int32Array(count);
    const parents = Int32Array.from(spans, ({ traceId, parentSpanId }) =>
      parentSpanId === '' ? NONE : this.placeOf({ traceId, spanId: parentSpanId }),
    );
    const firstChild = new Int32Array(count).fill(NONE);
    const nextSibling = new Int32Array(count);
    for (let i = count - 1; i >= 0; i--) {
      const parent = parents[i];
      if (parent === NONE) continue;
      nextSibling[i] = firstChild[parent];
      firstChild[parent] = i;
    }
    // firstChild[parent] === NONE ends a list; a root has no list, so that its nextSibling is never read.
    let number = 0;
    for (let i = 0; i < count; i++) if (parents[i] === NONE) number = this.#walk(i, number, firstChild, nextSibling);
    // What is left hangs on a circle: it is opened where it is met first.
    for (let i = 0; i < count; i++)
      if (this.#enters[i] === NONE) number = this.#walk(i, number, firstChild, nextSibling);
  }

  /** The place of a span; -1 when it is not there. */
  placeOf(span: SpanKey): number {
    return this.#places.get(keyOf(span)) ?? NONE;
  }

  /** Whether the span at `place` is the one at `top`, or below it. */
  isWithin(place: number, top: number): boolean {
    const number = this.#enters[place];
    return number >= this.#enters[top] && number < this.#exits[top];
  }

  /** Orders a span before what is below it. */
  orderOf(place: number): number {
    return this.#enters[place];
  }

  #walk(root: number, from: number, firstChild: Int32Array, nextSibling: Int32Array): number {
    let number = from;
    const path = [root];
    const cursors = [firstChild[root]];
    this.#enters[root] = number++;
    while (path.length > 0) {
      const child = cursors[cursors.length - 1];
      if (child === NONE) {
        cursors.pop();
        this.#exits[path.pop() as number] = number;
        continue;
      }
      cursors[cursors.length - 1] = nextSibling[child];
      if (this.#enters[child] !== NONE) continue;
      path.push(child);
      cursors.push(firstChild[child]);
      this.#enters[child] = number++;
    }
    return number;
  }
}

const ALL = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;

/** The owners of the loop. */
class LoopOwners {
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

/**
 * The spans and the timeline of one process, ready for the breakdown of the time of any of these spans and for stalls of the event loop.
 *
 * Make one when spans are looked at, not for each span: 500,000 spans take about a second. It keeps what it is given and must not be
 * used after that changes. Times of several processes must not meet in one: each has an event loop of its own.
 *
 * @example
 * ```ts
 * import { BreakdownIndex, timeBreakdown, formatBreakdown } from 'spanline/flight-recorder';
 * const ids = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '' };
 * const span = { ...ids, name: 'GET /cart', startUs: 0, endUs: 20_000, isSync: false };
 * const collection = { kind: 'gc', startUs: 1000, endUs: 4000, detail: 'scavenge', parts: [] } as const;
 * const index = new BreakdownIndex([span], [collection], [{ fromUs: 0, toUs: 60_000 }]);
 * const breakdown = timeBreakdown(index, span);
 * console.assert(breakdown !== undefined && formatBreakdown(breakdown) === '20.0 ms = loop 3.0 (gc 3.0) + waiting 17.0');
 * ```
 */
export class BreakdownIndex {
  /** @internal */
  readonly spans: readonly TimedSpan[];
  /** @internal */
  readonly timeline: readonly TimelineRow[];
  /** @internal */
  readonly loopOwners: LoopOwners;

  /**
   * `covered`: when the timeline was kept. Outside of it a span that did not have the loop may have waited or not: that is unknown. None where
   * there is no timeline.
   */
  constructor(spans: Iterable<TimedSpan>, timeline: readonly TimelineRow[] = [], covered: readonly TimeWindow[] = []) {
    this.spans = [...spans];
    this.timeline = timeline;
    this.loopOwners = new LoopOwners(this.spans, timeline, covered);
  }
}
