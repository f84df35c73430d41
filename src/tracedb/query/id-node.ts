// What every node of a running query is: a stream of trace ids in ascending order without duplicates, batch by batch. A node holds
// one batch of each of its inputs and no more.

/** What a node did so far. */
export interface NodeFigures {
  /** Ids that came from its inputs, or rows from the table. */
  idsIn: number;
  idsOut: number;
  batches: number;
  /** Milliseconds spent waiting for inputs or the table. */
  waitMs: number;
}

/** A stream of ids. */
export interface IdNode {
  readonly figures: NodeFigures;
  /** The next ids, at least one; undefined at the end, each time it is asked again. After a failure, only `close` may be called. */
  next(): Promise<readonly string[] | undefined>;
  /** End the reads below. Safe to call more than once, and while `next` is pending. */
  close(): Promise<void>;
}

/** A stream that reads the table and can be moved. */
export interface IdStream extends IdNode {
  /** Go on with the first id that is not below `id`, by a new read where that is further; never back. Not while `next` is pending. */
  skipTo(id: string): Promise<void>;
  /** End the reads below until `next` is called again, if ever; it goes on where they were. Not while `next` is pending. */
  pause(): Promise<void>;
}

/** Figures of a node that has done nothing. */
export const newFigures = (): NodeFigures => ({ idsIn: 0, idsOut: 0, batches: 0, waitMs: 0 });

/** Ids of one batch of a merging node. */
export const BATCH_IDS = 512;

/** Where the first id not below `id` is, from `at` on: doubling steps, then halving. */
export const lowerBound = (ids: readonly string[], id: string, at: number): number => {
  let step = 1;
  let low = at;
  while (low + step < ids.length && (ids[low + step] as string) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, ids.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The first text behind `id`: a NUL, which is lower, occurs in no id. */
export const behind = (id: string): string => `${id}\x01`;
