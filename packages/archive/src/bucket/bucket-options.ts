// Options of the maintenance of a bucket, what it counts, and the bounds in force where nothing is said. Types and bounds only.
import type { DamagedSegment, MaintenanceStats, Retention } from '../archive-options.js';
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

const MINUTE_MS = 60_000;

export const MAINTAIN_DEFAULTS = {
  graceMs: 15 * MINUTE_MS,
  orphanMs: 24 * 60 * MINUTE_MS,
  lateMs: 10 * MINUTE_MS,
  mergedSpans: 300_000,
} as const;

/** The bounds in force. */
export type MaintainBounds = MaintainOptions & Readonly<Record<keyof typeof MAINTAIN_DEFAULTS, number>>;

/** What was done and found. */
export interface MaintainStats extends MaintenanceStats {
  /** Uploads that were folded in when their hour was over. */
  readonly stragglers: number;
  /** Second copies of an upload. */
  readonly copies: number;
  /** Objects that nobody named. */
  readonly orphans: number;
  /** Segments that cannot be read: they stay where they are, and are not merged. */
  readonly damaged: readonly DamagedSegment[];
}

/** What is counted of that on the way. */
export const newCounts = () => ({
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

export type MaintainCounts = ReturnType<typeof newCounts>;
