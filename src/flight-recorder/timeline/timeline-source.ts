// The source of a timeline: the addon, a timer, or nothing in a worker; and what both sources name and count alike.

import { takeAnchor } from '../../clock/index.js';
import type { TimelineRow } from './timeline-row.js';

/** What a timeline has taken and dropped, since it was started. */
export interface TimelineCounts {
  /** Rows that are held. */
  readonly rows: number;
  /** Rows that newer ones have taken the place of. */
  readonly rowsDropped: number;
  /** Looks for the owner of the loop. */
  readonly samples: number;
  /** Of these, looks that do not say since when, or not at all. */
  readonly samplesUnknown: number;
  /** Looks that were asked for in a stretch and came after it. */
  readonly samplesLate: number;
  /** Parts that newer ones have taken the place of. */
  readonly partsDropped: number;
  /** Stretches of stacks from CPU profiles that newer ones have taken the place of. */
  readonly stacksDropped: number;
  /** Requests of its own that have asked whether the thread pool is full. */
  readonly poolProbes: number;
}

export interface TimelineSource {
  readonly source: 'native' | 'timer' | 'none';
  /** In order of their start; those that end after `sinceUs`, where it is given. */
  rows(sinceUs?: number): TimelineRow[];
  counts(): TimelineCounts;
  /** Unix time in microseconds from which on no row is missing. */
  keptFromUs(): number;
  /** Called behind each look, in the middle of any code: what waits for the event loop learns of a turn that does not end. */
  onLook?: (() => void) | undefined;
  stop(): void;
}

export const NO_COUNTS: TimelineCounts = {
  rows: 0,
  rowsDropped: 0,
  samples: 0,
  samplesUnknown: 0,
  samplesLate: 0,
  partsDropped: 0,
  stacksDropped: 0,
  poolProbes: 0,
};

const COLLECTION_KINDS: ReadonlyMap<number, string> = new Map([
  [1, 'scavenge'],
  // Of young objects, where an option makes V8 mark them.
  [2, 'scavenge'],
  [4, 'mark-compact'],
  [8, 'incremental'],
  [16, 'weak'],
]);

/** '' for one that is not known. */
export const collectionKind = (type: number): string => COLLECTION_KINDS.get(type) ?? '';

export const unixNow = (): number => {
  const { unixSec, unixNano } = takeAnchor();
  return unixSec * 1e6 + unixNano / 1000;
};
