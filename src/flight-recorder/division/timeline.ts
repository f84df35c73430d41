// Who had the event loop when, for the whole window: a process has one loop, so that each moment has one owner, whichever span is asked about.
// What nothing tells has no owner here. Must never give a moment to two.
import type { LanePart, LaneRow } from '../lane/lane-row.js';
import { Ancestry } from './ancestry.js';
import { innermost, type Piece, Stretches } from './stretches.js';
import { type TimedSpan, type TimeWindow, toTicks } from './timed-span.js';

/** Owners that are no span: negative; a span is its place in the list, and `part - FIRST_PART` a part of the lane whose span is not there. */
export const Owner = {
  gc: -1,
  /** The loop was busy, nothing says with what. */
  unknown: -2,
  /** The loop was not busy for longer than the lane's bound. */
  idle: -3,
} as const;

const FIRST_PART = -4;

/** The number of the part that an owner stands for; -1 when it stands for none. */
export const partOf = (owner: number): number => (owner <= FIRST_PART ? FIRST_PART - owner : -1);

const NOBODY = Number.NEGATIVE_INFINITY;

/** Goes through stretches as time goes on. */
class Cursor {
  readonly #of: Stretches;
  #at = 0;

  constructor(of: Stretches) {
    this.#of = of;
  }

  /** Whose the moment is. Moments must not go back. */
  ownerAt(time: number): number {
    const { starts, ends, refs, count } = this.#of;
    while (this.#at < count && ends[this.#at] <= time) this.#at++;
    return this.#at < count && starts[this.#at] <= time ? refs[this.#at] : NOBODY;
  }

  /** When that changes next; call `ownerAt` before. */
  nextAfter(time: number): number {
    const { starts, ends, count } = this.#of;
    if (this.#at === count) return Number.POSITIVE_INFINITY;
    return starts[this.#at] > time ? starts[this.#at] : ends[this.#at];
  }
}

/** The owners of the loop. */
export class Timeline {
  readonly stretches = new Stretches();
  readonly ancestry: Ancestry;
  /** All parts of the lane, by the numbers that `partOf` gives. */
  readonly parts: LanePart[] = [];

  constructor(spans: readonly TimedSpan[], lane: readonly LaneRow[], covered: readonly TimeWindow[]) {
    this.ancestry = new Ancestry(spans);
    this.#merge([
      innermost(lane.filter(({ kind }) => kind === 'gc').map((row) => pieceOf(row, Owner.gc))),
      innermost(this.#localPieces(spans)),
      innermost(this.#partPieces(lane)),
      innermost(lane.filter(({ kind }) => kind === 'busy').map((row) => pieceOf(row, Owner.unknown))),
      innermost(covered.map(({ fromUs, toUs }) => pieceOf({ startUs: fromUs, endUs: toUs }, Owner.idle))),
    ]);
  }

  #localPieces(spans: readonly TimedSpan[]): Piece[] {
    const local: Piece[] = [];
    for (const [i, span] of spans.entries()) {
      // A span that is there twice had the loop once.
      if (span.isSync && this.ancestry.placeOf(span) === i) local.push(pieceOf(span, i, this.ancestry.orderOf(i)));
    }
    return local;
  }

  #partPieces(lane: readonly LaneRow[]): Piece[] {
    const found: Piece[] = [];
    for (const { kind, parts } of lane) {
      if (kind !== 'busy') continue;
      for (const part of parts) {
        const place = part.spanId === '' ? -1 : this.ancestry.placeOf(part);
        found.push(pieceOf(part, place < 0 ? FIRST_PART - this.parts.length : place, this.parts.length));
        this.parts.push(part);
      }
    }
    return found;
  }

  /** Layers, the one that decides first: collections, which are nobody's work, then local spans, then parts of busy stretches. */
  #merge([gc, local, part, busy, idle]: readonly Stretches[]): void {
    const layers = [gc, local, part, busy, idle].map((layer) => new Cursor(layer));
    let now = layers.reduce((first, layer) => {
      layer.ownerAt(Number.NEGATIVE_INFINITY);
      return Math.min(first, layer.nextAfter(Number.NEGATIVE_INFINITY));
    }, Number.POSITIVE_INFINITY);
    while (now < Number.POSITIVE_INFINITY) {
      const owners = layers.map((layer) => layer.ownerAt(now));
      const next = layers.reduce((first, layer) => Math.min(first, layer.nextAfter(now)), Number.POSITIVE_INFINITY);
      const owner = this.#ownerOf(owners);
      if (owner !== NOBODY) this.stretches.add(now, next, owner);
      now = next;
    }
  }

  #ownerOf(owners: readonly number[]): number {
    const [gc, local, part] = owners;
    // A span that was current within a local span, and is below it, is nearer to what ran.
    if (gc === NOBODY && local >= 0 && part >= 0 && this.ancestry.isWithin(part, local)) return part;
    return owners.find((owner) => owner !== NOBODY) ?? NOBODY;
  }
}

const pieceOf = ({ startUs, endUs }: { startUs: number; endUs: number }, ref: number, order = 0): Piece => ({
  start: toTicks(startUs),
  end: toTicks(endUs),
  ref,
  order,
});
