// Time in which nobody is known to have had the loop, by what else is recorded of it: the thread pool may have been full meanwhile, and the
// loop may have worked in turns too short for a stretch of their own. Must have few numbers for many stretches that are alike.
import { getOrMake } from '../../base/maps/maps.js';
import type { ShortTurns } from './short-turns.js';

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
