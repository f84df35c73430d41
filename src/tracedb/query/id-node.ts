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
  /** The next ids, at least one; undefined at the end. After a failure or the end, only `close` may be called. */
  next(): Promise<readonly string[] | undefined>;
  /** End the reads below. Safe to call more than once, and while `next` is pending. */
  close(): Promise<void>;
}

/** Figures of a node that has done nothing. */
export const newFigures = (): NodeFigures => ({ idsIn: 0, idsOut: 0, batches: 0, waitMs: 0 });

/** Ids of one batch of a merging node. */
export const BATCH_IDS = 512;
