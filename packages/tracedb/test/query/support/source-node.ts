// A stream over ids in memory, which keeps the promises of its kind and checks that it is used as one: one call at a time, none but
// `close` after it was closed or failed. It counts what it handed out, so that a test can tell who read how much.
import { setImmediate as turn } from 'node:timers/promises';
import type { IdStream } from '../../../src/query/id-node.js';

/** How a source behaves. */
export interface SourceOptions {
  /** Sizes of its batches, over and over; default 3. */
  readonly batches?: readonly number[];
  /** Rejects instead of giving this batch, counted from 0. */
  readonly failsAt?: number;
  /** Waits a turn of the event loop before every answer, as a table does. */
  readonly isSlow?: boolean;
}

/** Ids of a set, in the order of the table. */
export const sorted = (ids: Iterable<string>): string[] => [...new Set(ids)].sort();

export class SourceNode implements IdStream {
  readonly figures = { idsIn: 0, idsOut: 0, batches: 0, waitMs: 0 };
  readonly ids: readonly string[];
  closes = 0;
  /** Batches and ids handed out. */
  given = 0;
  givenIds = 0;
  skips = 0;
  /** Whether a read is open: something was asked of it since it began, paused, skipped or ended. */
  isOpen = false;
  misuse: string | undefined;
  private at = 0;
  private hasFailed = false;
  private isPending = false;

  constructor(
    ids: Iterable<string>,
    private readonly options: SourceOptions = {},
  ) {
    this.ids = sorted(ids);
  }

  get isClosed(): boolean {
    return this.closes > 0 && !this.isOpen;
  }

  async next(): Promise<readonly string[] | undefined> {
    this.check('next');
    this.isPending = true;
    try {
      const { batches = [3], failsAt, isSlow = false } = this.options;
      this.isOpen = true;
      if (isSlow) await turn();
      if (failsAt === this.given) {
        this.hasFailed = true;
        this.isOpen = false;
        throw new Error('source failed');
      }
      const size = batches[this.given % batches.length] as number;
      const ids = this.ids.slice(this.at, this.at + size);
      if (ids.length === 0) {
        this.isOpen = false;
        return undefined;
      }
      this.at += ids.length;
      this.given++;
      this.givenIds += ids.length;
      return ids;
    } finally {
      this.isPending = false;
    }
  }

  async skipTo(id: string): Promise<void> {
    this.check('skipTo');
    if (this.options.isSlow === true) await turn();
    this.isOpen = false;
    this.skips++;
    while (this.at < this.ids.length && (this.ids[this.at] as string) < id) this.at++;
  }

  async pause(): Promise<void> {
    this.check('pause');
    this.isOpen = false;
  }

  async close(): Promise<void> {
    this.closes++;
    this.isOpen = false;
  }

  private check(call: string): void {
    if (this.isPending) this.misuse = `${call} while next is pending`;
    if (this.hasFailed) this.misuse = `${call} after a failure`;
  }
}

/** Every batch of a node to its end. */
export const batchesOf = async (node: { next(): Promise<readonly string[] | undefined> }): Promise<string[][]> => {
  const all: string[][] = [];
  for (let batch = await node.next(); batch !== undefined; batch = await node.next()) {
    if (batch.length === 0) throw new Error('an empty batch');
    all.push([...batch]);
  }
  return all;
};

/** All ids of a node. */
export const drain = async (node: { next(): Promise<readonly string[] | undefined> }): Promise<string[]> =>
  (await batchesOf(node)).flat();
