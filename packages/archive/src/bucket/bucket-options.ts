// Options of the maintenance of a bucket, what it counts, and the bounds in force where nothing is said. Types and bounds only.
import type { DamagedSegment, Retention } from '../archive-options.js';
import type { WorkThread } from '../work-thread.js';

/** How a bucket is maintained. */
export interface MaintainOptions extends Retention {
  /** Milliseconds that what is dead is kept: longer than the longest query, and than a reader takes an old catalogue. Default 15 minutes. */
  readonly graceMs?: number | undefined;
  /** Milliseconds after which an object that no generation names is one that nobody will name. Default a day. */
  readonly orphanMs?: number | undefined;
  /** Milliseconds an upload may take beyond the hour it is named for. Default 10 minutes. */
  readonly lateMs?: number | undefined;
  /** Spans of a merged segment at most. Default 300,000. */
  readonly mergedSpans?: number | undefined;
  /** A directory for the files of a merge. Default one of the system's. */
  readonly directory?: string | undefined;
  /** Called after each pass in the background, with what failed of it. */
  readonly onPass?: ((failure: string | undefined) => void) | undefined;
  /** Merges in a thread of its own. */
  readonly worker?: WorkThread | undefined;
}

/** The bounds in force. */
export interface MaintainBounds extends MaintainOptions {
  readonly graceMs: number;
  readonly orphanMs: number;
  readonly lateMs: number;
  readonly mergedSpans: number;
}

const MINUTE_MS = 60_000;

export const MAINTAIN_DEFAULTS = {
  graceMs: 15 * MINUTE_MS,
  orphanMs: 24 * 60 * MINUTE_MS,
  lateMs: 10 * MINUTE_MS,
  mergedSpans: 300_000,
} as const;

/** What was done. */
export interface MaintainCounts {
  /** Times that a whole look was over. */
  passes: number;
  /** Uploads that were folded in, and those of them that came when their hour was over. */
  folded: number;
  stragglers: number;
  /** Second copies of an upload. */
  copies: number;
  /** Segments that were merged, and those that were made of them. */
  merged: number;
  written: number;
  /** Merges that came for nothing, because another did it. */
  lostMerges: number;
  /** Segments that were too old or too many. */
  retired: number;
  /** Objects that nobody named. */
  orphans: number;
  /** Objects that were deleted, timelines among them. */
  deleted: number;
  /** Times that a part of a look failed, and why the last time. */
  failures: number;
  lastFailure: string;
}

/** What was done and found. */
export interface MaintainStats extends Readonly<MaintainCounts> {
  /** Generations that were committed, and times that others were quicker. */
  readonly commits: number;
  readonly conflicts: number;
  /** Segments that cannot be read: they stay where they are, and are not merged. */
  readonly damaged: readonly DamagedSegment[];
}

export const newCounts = (): MaintainCounts => ({
  passes: 0,
  folded: 0,
  stragglers: 0,
  copies: 0,
  merged: 0,
  written: 0,
  lostMerges: 0,
  retired: 0,
  orphans: 0,
  deleted: 0,
  failures: 0,
  lastFailure: '',
});
