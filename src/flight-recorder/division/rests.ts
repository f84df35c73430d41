// Time in which nobody is known to have had the loop, told apart by what else is known of it: the process waited, and its thread pool may have been
// full meanwhile. Must have few numbers for many stretches that are alike.

/** The first of the numbers of rests among owners: all others are above. */
const FIRST_REST = -(2 ** 30);

/** The number of the rest that an owner stands for; -1 when it stands for none. */
export const restOf = (owner: number): number => (owner <= FIRST_REST ? FIRST_REST - owner : -1);

export class Rests {
  /** What was in the full pool, by the number of a rest. */
  readonly pools: string[] = [];

  /** The owner that stands for time in which the pool was full of that. */
  ownerOf(pool: string): number {
    if (this.pools.at(-1) !== pool) this.pools.push(pool);
    return FIRST_REST - (this.pools.length - 1);
  }
}
