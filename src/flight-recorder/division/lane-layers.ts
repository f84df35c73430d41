// The lane as layers of stretches, and the walk through layers in order of time. Every division of time goes through here: two ways of deciding
// who had the loop would tell different things of one moment.
import type { LanePart, LaneRow } from '../lane/lane-row.js';
import { innermost, type Piece, type Stretches } from './stretches.js';
import type { TimeWindow } from './timed-span.js';

/** Owners that are no span: negative; a span is its place in a list, and the numbers below a part of the lane whose span is not there. */
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

/** Where a layer has no owner. */
export const NOBODY = Number.NEGATIVE_INFINITY;

/** The first owner that there is, of layers with the one that decides first in front. */
export const firstOwner = (owners: readonly number[]): number => owners.find((owner) => owner !== NOBODY) ?? NOBODY;

/** What the lane says, by layer. */
export interface LaneLayers {
  readonly gc: Stretches;
  readonly part: Stretches;
  readonly busy: Stretches;
  readonly idle: Stretches;
  /** All parts, by the numbers that `partOf` gives. */
  readonly parts: readonly LanePart[];
}

/** `toUnit` makes whole units of time of Unix microseconds; `placeOf` gives the place of a part's span, -1 where it is not there. */
export const laneLayers = (
  lane: readonly LaneRow[],
  covered: readonly TimeWindow[],
  toUnit: (us: number) => number,
  placeOf: (part: LanePart) => number = () => -1,
): LaneLayers => {
  const pieceOf = ({ startUs, endUs }: { startUs: number; endUs: number }, ref: number, order = 0): Piece => ({
    start: toUnit(startUs),
    end: toUnit(endUs),
    ref,
    order,
  });
  const busy = lane.filter(({ kind }) => kind === 'busy');
  const parts = busy.flatMap((row) => row.parts);
  const partPieces = parts.map((part, i) => {
    const place = part.spanId === '' ? -1 : placeOf(part);
    return pieceOf(part, place < 0 ? FIRST_PART - i : place, i);
  });
  return {
    gc: innermost(lane.filter(({ kind }) => kind === 'gc').map((row) => pieceOf(row, Owner.gc))),
    part: innermost(partPieces),
    busy: innermost(busy.map((row) => pieceOf(row, Owner.unknown))),
    idle: innermost(covered.map(({ fromUs, toUs }) => pieceOf({ startUs: fromUs, endUs: toUs }, Owner.idle))),
    parts,
  };
};

/** Goes through stretches as time goes on. */
class Cursor {
  readonly #of: Stretches;
  #at: number;

  constructor(of: Stretches, from: number) {
    this.#of = of;
    this.#at = of.firstAfter(from);
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

/** Calls `visit` for each stretch between `from` and `to` in which no layer's owner changes, with the owner in each layer. */
export const walkLayers = (
  layers: readonly Stretches[],
  from: number,
  to: number,
  visit: (start: number, end: number, owners: readonly number[]) => void,
): void => {
  const cursors = layers.map((layer) => new Cursor(layer, from));
  const owners = layers.map(() => NOBODY);
  for (let now = from, next = to; now < to; now = next) {
    next = to;
    for (let i = 0; i < cursors.length; i++) {
      owners[i] = cursors[i].ownerAt(now);
      next = Math.min(next, cursors[i].nextAfter(now));
    }
    visit(now, next, owners);
  }
};
