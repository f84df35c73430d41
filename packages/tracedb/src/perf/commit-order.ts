// Notices histories that come in the wrong order: commits are numbered as they are made known, so an older one that comes later is
// numbered last, and series jump back in time. It only tells; numbers never change.
import type { IngestCommit } from '../ingest/ingest-commit.js';
import type { CallOptions } from '../table/wide-column-table.js';
import type { PerfStore } from './perf-store.js';

/** The commits a store has, as far as they were seen. */
export interface Known {
  /** The number of the next commit. */
  readonly next: number;
  /** The latest time of a commit; -Infinity where none has one. */
  readonly newestMs: number;
}

const known = new WeakMap<PerfStore, Known>();

/** What the store has now; only commits added since the last look are read. */
export const newestKnown = async (perf: PerfStore, options: CallOptions): Promise<Known> => {
  let { next, newestMs } = known.get(perf) ?? { next: 0, newestMs: Number.NEGATIVE_INFINITY };
  for (const { number, timestampMs = newestMs } of await perf.commits.list({ from: next }, options)) {
    next = Math.max(next, number + 1);
    newestMs = Math.max(newestMs, timestampMs);
  }
  const now = { next, newestMs };
  known.set(perf, now);
  return now;
};

const day = (ms: number): string => new Date(ms).toISOString();

/** The order of one file's commits, as they got their numbers. */
export class FileOrder {
  #floorMs: number | undefined;
  #newestMs = Number.NEGATIVE_INFINITY;
  #fresh = 0;
  #late = 0;
  #descending = 0;
  #firstLate: string | undefined;

  /** The file begins where the latest commit has this time; what is said later changes nothing. */
  beginsAfter(newestMs: number): void {
    this.#floorMs ??= newestMs;
  }

  /** A commit of the file that nobody had named before got its number. */
  numbered({ commit, timestampMs }: IngestCommit): void {
    this.#fresh++;
    if (timestampMs === undefined) return;
    if (timestampMs < (this.#floorMs as number)) {
      this.#late++;
      this.#firstLate ??= commit;
    } else if (timestampMs < this.#newestMs) this.#descending++;
    this.#newestMs = Math.max(this.#newestMs, timestampMs);
  }

  /** What is said of it; undefined when the order is right. Neighbours in the wrong order, as merges leave them, are not a mistake. */
  warning(file: string): string | undefined {
    const remedy =
      'Numbers never change: to put them right, ingest all files into a new store, oldest first (spanline perf init)';
    if (this.#late > 0) {
      return (
        `${this.#late} commits of ${file}, the first of them ${this.#firstLate}, are older than what the store had ` +
        `(${day(this.#floorMs as number)}) and were numbered behind it. ${remedy}`
      );
    }
    if (this.#descending * 2 < this.#fresh || this.#descending === 0) return undefined;
    return `${file} has its newest commits first: ${this.#descending} were numbered behind newer ones. ${remedy}`;
  }
}
