// Rows of the timeline in which the loop worked in short turns: how much of their time in which nobody is known to have had the loop was work all the
// same. Must give the same for one stretch of time to all callers, in whole units.
//
// Time in which nobody is known to have had the loop, by what else is recorded of it: the thread pool may have been full meanwhile, and the
// loop may have worked in turns too short for a stretch of their own. Must have few numbers for many stretches that are alike.

import { getOrMake } from '../../base/maps/maps.js';
import type { TimelineRow } from '../timeline/timeline-row.js';
import { Stretches } from './stretches.js';

/** One row; times in whole units. */
export interface ShortTurns {
  readonly start: number;
  readonly end: number;
  /** The loop waited. */
  readonly idle: number;
}

/** The rows of a timeline in order of time, without overlaps: `refs` are places in `rows`. */
export class ShortTurnRows {
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

export class Rests {
  /** By number. */
  readonly list: Rest[] = [];
  readonly #numbers = new Map<ShortTurns | undefined, Map<string | undefined, number>>();

  /** The owner that stands for time of which that is known. */
  ownerOf(pool: string | undefined, turns: ShortTurns | undefined): number {
    const ofTurns = getOrMake(this.#numbers, turns, () => new Map<string | undefined, number>());
    return FIRST_REST - getOrMake(ofTurns, pool, () => this.list.push({ pool, turns }) - 1);
  }
}
