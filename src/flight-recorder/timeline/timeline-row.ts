// What the timeline of a process contains: when it collected garbage, when its event loop was busy, and for which span, how much it worked in turns
// too short for that, and when its thread pool was full; and what a source of it is, the addon, a timer, or nothing in a worker. All times are
// microseconds of Unix time as doubles, which hold a quarter of a microsecond.

import { takeAnchor } from '../../clock/index.js';

/** Work that is known to have had the loop during a part of a busy stretch. */
export interface TimelinePart {
  readonly startUs: number;
  readonly endUs: number;
  /** The span that was current; '' where none was. */
  readonly traceId: string;
  readonly spanId: string;
  /** The name of that span; '' where none was current. */
  readonly name: string;
  /** The functions that ran, innermost first: `parse app.js:12`. Empty where they are not known. */
  readonly frames: readonly string[];
}

/**
 * A garbage collection; a stretch in which the event loop was busy for longer than the bound; one in which a request had to wait for a thread; one
 * of a millisecond and more in which the function given to `span.run` had the loop, up to its first `await`; one of turns of the loop shorter than
 * the bound, one after another, in which it worked for a tenth of the time or more.
 */
export interface TimelineRow {
  readonly kind: 'gc' | 'busy' | 'pool' | 'run' | 'turns';
  readonly startUs: number;
  readonly endUs: number;
  /**
   * Of a garbage collection: `scavenge`, `mark-compact`, `incremental`, `weak`. Of a full pool: what is in it, `dns.lookup 2, other 8 (crypto/pbkdf2)`.
   * Else ''.
   */
  readonly detail: string;
  /**
   * Of a busy stretch: what is known of it, in order of time, without overlaps. What they leave open is unknown. Of a run: one, its span, as long as
   * it is; a run may lie within another, and within a busy stretch.
   */
  readonly parts: readonly TimelinePart[];
  /** Of short turns: for so many microseconds of the stretch the loop waited. Other rows have none. */
  readonly idleUs?: number;
}

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
