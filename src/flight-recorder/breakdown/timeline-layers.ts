// The timeline as layers of stretches, and the walk through layers in order of time. Every breakdown of time goes through here: two ways of deciding
// the owner of the loop would disagree on one moment. Time in which nobody is known to have had the loop is told by what else is recorded of it: the
// thread pool may have been full meanwhile, and the loop may have worked in turns too short for a stretch of their own. Must give the same for one
// stretch of time to all callers, in whole units, and have few numbers for many stretches that are alike.

import { getOrMake } from '../../base/maps/maps.js';
import type { TimelinePart, TimelineRow } from '../timeline/timeline-row.js';
import { innermost, type Piece, Stretches, type TimeWindow } from './stretches.js';

/** One row; times in whole units. */
interface ShortTurns {
  readonly start: number;
  readonly end: number;
  /** The loop waited. */
  readonly idle: number;
}

/** The rows of a timeline in order of time, without overlaps: `refs` are places in `rows`. */
class ShortTurnRows {
  readonly rows: ShortTurns[] = [];
  readonly stretches = new Stretches();

  constructor(timeline: readonly TimelineRow[], toUnit: (us: number) => number) {
    const rows = timeline.filter(({ kind }) => kind === 'turns').sort((a, b) => a.startUs - b.startUs);
    let last = Number.NEGATIVE_INFINITY;
    for (const { startUs, endUs, idleUs = 0 } of rows) {
      // One that is there twice counts once.
      const [start, end] = [Math.max(last, toUnit(startUs)), toUnit(endUs)];
      if (end <= start) continue;
      this.stretches.add(start, end, this.rows.length);
      // A difference, for units count from anywhere.
      this.rows.push({ start, end, idle: Math.min(end - start, toUnit(startUs + idleUs) - toUnit(startUs)) });
      last = end;
    }
  }

  /** The row that `time` lies within, at neither of its ends. */
  around(time: number): ShortTurns | undefined {
    const { starts, refs, count } = this.stretches;
    const at = this.stretches.firstAfter(time);
    return at < count && starts[at] < time ? this.rows[refs[at]] : undefined;
  }
}

/** How much of each row nobody is known to have had, by one breakdown of its time. */
export class UnclaimedTimes {
  readonly #times = new Map<ShortTurns, number>();

  add(turns: ShortTurns, time: number): void {
    this.#times.set(turns, (this.#times.get(turns) ?? 0) + time);
  }

  /**
   * Of `time` of the row that nobody is known to have had: the work, in steps of `unit`. What the loop waited in the row is taken from all such time
   * alike.
   */
  workOf(turns: ShortTurns, time: number, unit: number): number {
    const all = this.#times.get(turns) ?? 0;
    const work = Math.max(0, all - turns.idle);
    return work === 0 ? 0 : Math.min(time, unit * Math.floor((time * work) / (all * unit)));
  }
}

/** The first of the numbers of rests among owners: all others are above. */
const FIRST_REST = -(2 ** 30);

/** The number of the rest that an owner stands for; -1 when it stands for none. */
export const restOf = (owner: number): number => (owner <= FIRST_REST ? FIRST_REST - owner : -1);

/** What is known of a rest. */
export interface Rest {
  /** What was in the full pool; undefined where it was not full. */
  readonly pool: string | undefined;
  /** The short turns that it is a part of. */
  readonly turns: ShortTurns | undefined;
}

class Rests {
  /** By number. */
  readonly list: Rest[] = [];
  readonly #numbers = new Map<ShortTurns | undefined, Map<string | undefined, number>>();

  /** The owner that stands for time of which that is known. */
  ownerOf(pool: string | undefined, turns: ShortTurns | undefined): number {
    const ofTurns = getOrMake(this.#numbers, turns, () => new Map<string | undefined, number>());
    return FIRST_REST - getOrMake(ofTurns, pool, () => this.list.push({ pool, turns }) - 1);
  }
}

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
