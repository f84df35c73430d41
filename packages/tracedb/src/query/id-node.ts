// What every node of a running query is: a stream of trace ids in ascending order without duplicates, batch by batch. A node holds
// one batch of each of its inputs and no more.

import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { roundMs, under } from '../node-span.js';

/** What a node did so far. */
interface NodeFigures {
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

/** What all nodes do with their span and figures; without a span they run as they are. */
export abstract class SpannedNode implements IdNode {
  readonly figures: NodeFigures = { idsIn: 0, idsOut: 0, batches: 0, waitMs: 0 };

  constructor(protected readonly span: Span | undefined) {}

  next(): Promise<readonly string[] | undefined> {
    return under(this.span, () => this.readOn());
  }

  abstract close(): Promise<void>;

  protected abstract readOn(): Promise<readonly string[] | undefined>;

  protected async waitFor<T>(inputs: Promise<T>): Promise<T> {
    const since = timers.monotonicMs();
    const result = await inputs;
    this.figures.waitMs += timers.monotonicMs() - since;
    return result;
  }

  /** Count a batch; one without ids is the end. */
  protected async gave(ids: readonly string[]): Promise<readonly string[] | undefined> {
    if (ids.length === 0) {
      await this.close();
      return undefined;
    }
    this.figures.idsOut += ids.length;
    this.figures.batches++;
    return ids;
  }

  /** End the span with the figures, and with some more. */
  protected endSpan(more: Readonly<Record<string, number>> = {}): void {
    if (this.span?.isRecording !== true) return;
    const { idsIn, idsOut, batches, waitMs } = this.figures;
    this.span.addProperties({ 'ids.in': idsIn, 'ids.out': idsOut, batches, 'wait.ms': roundMs(waitMs), ...more });
    this.span.end();
  }
}

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
