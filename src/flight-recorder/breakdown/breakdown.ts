// The breakdown of the time of a span. Types only.

/** A span that had the event loop; of several of one name in one trace, all of them. */
export interface LoopHolder {
  readonly name: string;
  /** 32 hex digits. */
  readonly traceId: string;
  /** Microseconds. */
  readonly us: number;
}

/** Work that no span covers, with the functions that ran. */
export interface HotFrames {
  /** Innermost first: `parse app.js:12`. */
  readonly frames: readonly string[];
  /** Microseconds. */
  readonly us: number;
}

/** What was in the thread pool while it was full. */
export interface PoolWait {
  /** About: `dns.lookup 2, other 8 (crypto/pbkdf2)`; '' where it is not known. */
  readonly requests: string;
  /** Microseconds. */
  readonly us: number;
}

/**
 * Where the time of one span went, in microseconds. `ownUs`, `gcUs`, `othersUs`, `untracedUs`, `shortUs`, `waitingUs` and `unknownUs` add
 * up to `durationUs` exactly; times are taken to the quarter of a microsecond.
 */
export interface TimeBreakdown {
  readonly durationUs: number;
  /** Synchronous work of the span and of all below it in this process, as far as local spans and the timeline contain it. */
  readonly ownUs: number;
  /** Garbage collections, of anybody's garbage. */
  readonly gcUs: number;
  /** The loop had other spans: of other traces, above this one, or beside it. */
  readonly othersUs: number;
  /** The three that had it longest, the longest first. */
  readonly others: readonly LoopHolder[];
  /** The loop was busy with something that no span covers. */
  readonly untracedUs: number;
  /** The three stacks that took most of that, the hottest first; empty where no stacks are known. */
  readonly untracedFrames: readonly HotFrames[];
  /** The loop worked in turns shorter than the bound of the timeline, this span's or others'; no record names the span. */
  readonly shortUs: number;
  /** The loop waited for input, output and timers. */
  readonly waitingUs: number;
  /** Of `waitingUs`: the thread pool was full, so that what had to do with files, names, crypto or compression waited for a thread. */
  readonly poolUs: number;
  /** What was in it longest, at most three. */
  readonly poolWaits: readonly PoolWait[];
  /** The loop was busy with unrecorded work, or no timeline was kept. */
  readonly unknownUs: number;
}
