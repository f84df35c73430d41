// The timeline as layers of stretches, and the walk through layers in order of time. Every breakdown of time goes through here: two ways of deciding
// the owner of the loop would disagree on one moment.
import type { TimelinePart, TimelineRow } from '../timeline/timeline-row.js';
import { Rests, restOf, ShortTurnRows, type ShortTurns } from './short-turns.js';
import { innermost, type Piece, type Stretches } from './stretches.js';
import type { TimeWindow } from './timed-span.js';

/**
 * Owners that are not a span: negative; a span is its place in a list, and the numbers below are parts of the timeline whose span is not there, and rests
 * (`rests.ts`).
 */
export const Owner = {
  gc: -1,
  /** The loop was busy with unrecorded work. */
  unknown: -2,
  /** The loop was not busy for longer than the timeline's bound. */
  idle: -3,
} as const;

const FIRST_PART = -4;

/** The number of the part that an owner stands for; -1 when it stands for none. */
export const partOf = (owner: number): number => (owner <= FIRST_PART && restOf(owner) < 0 ? FIRST_PART - owner : -1);

/** Where a layer has no owner. */
export const NOBODY = Number.NEGATIVE_INFINITY;

/** Whether the owner by a part of the timeline is nearer to what ran than the local span that was open. */
type IsNearer = (part: number, local: number) => boolean;

/** `toUnit` makes whole units of time of Unix microseconds; `placeOf` gives the place of a part's span, -1 where it is not there. */
export class TimelineLayers {
  /** All parts, by the numbers that `partOf` gives. */
  readonly parts: readonly TimelinePart[];
  readonly rests = new Rests();
  readonly #gc: Stretches;
  readonly #part: Stretches;
  readonly #busy: Stretches;
  readonly #idle: Stretches;
  /** Places in `#pools`. */
  readonly #pool: Stretches;
  readonly #pools: readonly string[];
  readonly #turns: ShortTurnRows;

  constructor(
    timeline: readonly TimelineRow[],
    covered: readonly TimeWindow[],
    toUnit: (us: number) => number,
    placeOf: (part: TimelinePart) => number = () => -1,
  ) {
    const pieceOf = ({ startUs, endUs }: { startUs: number; endUs: number }, ref: number, order = 0): Piece => ({
      start: toUnit(startUs),
      end: toUnit(endUs),
      ref,
      order,
    });
    const rowsOf = (kind: TimelineRow['kind']): TimelineRow[] => timeline.filter((row) => row.kind === kind);
    const busy = rowsOf('busy');
    this.parts = [...busy, ...rowsOf('run')].flatMap((row) => row.parts);
    const partPieces = this.parts.map((part, i) => {
      const place = part.spanId === '' ? -1 : placeOf(part);
      return pieceOf(part, place < 0 ? FIRST_PART - i : place, i);
    });
    this.#gc = innermost(rowsOf('gc').map((row) => pieceOf(row, Owner.gc)));
    this.#part = innermost(partPieces);
    this.#busy = innermost(busy.map((row) => pieceOf(row, Owner.unknown)));
    this.#idle = innermost(covered.map(({ fromUs, toUs }) => pieceOf({ startUs: fromUs, endUs: toUs }, Owner.idle)));
    const pools = rowsOf('pool');
    this.#pool = innermost(pools.map((row, i) => pieceOf(row, i, i)));
    this.#pools = pools.map(({ detail }) => detail);
    this.#turns = new ShortTurnRows(timeline, toUnit);
  }

  /** The short turns that the time of this owner is a part of. */
  turnsOf(owner: number): ShortTurns | undefined {
    return this.rests.list[restOf(owner)]?.turns;
  }

  /** The short turns that `time` lies within. */
  turnsAround(time: number): ShortTurns | undefined {
    return this.#turns.around(time);
  }

  /** Calls `visit` for each stretch between `from` and `to` that has one owner, `NOBODY` included. `local`: by the places of local spans. */
  walk(
    local: Stretches,
    [from, to]: readonly [from: number, to: number],
    visit: (start: number, end: number, owner: number) => void,
    isNearer: IsNearer = () => false,
  ): void {
    const layers = [this.#gc, local, this.#part, this.#busy, this.#idle, this.#pool, this.#turns.stretches];
    walkLayers(layers, from, to, (start, end, owners) => visit(start, end, this.#ownerIn(owners, isNearer)));
  }

  // The one that decides first: collections, which are nobody's work, then local spans, then parts of busy stretches.
  #ownerIn([gc, local, part, busy, idle, pool, turns]: readonly number[], isNearer: IsNearer): number {
    if (gc !== NOBODY) return gc;
    if (local !== NOBODY && part !== NOBODY && isNearer(part, local)) return part;
    if (local !== NOBODY) return local;
    if (part !== NOBODY) return part;
    if (busy !== NOBODY) return busy;
    if (idle === NOBODY || (pool === NOBODY && turns === NOBODY)) return idle;
    return this.rests.ownerOf(
      pool === NOBODY ? undefined : this.#pools[pool],
      turns === NOBODY ? undefined : this.#turns.rows[turns],
    );
  }
}

/** Goes through stretches as time goes on. */
class Cursor {
  readonly #of: Stretches;
  #at: number;

  constructor(of: Stretches, from: number) {
    this.#of = of;
    this.#at = of.firstAfter(from);
  }

  /** The owner of a moment. Moments must not go back. */
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
const walkLayers = (
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
