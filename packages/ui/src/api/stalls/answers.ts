// What the endpoint of stalls answers. Types only: the page reads them too. Times in microseconds.

/** A name with a trace. */
export interface NamedTime {
  readonly name: string;
  readonly traceId: string;
  readonly us: number;
}

/**
 * A stretch in which the event loop was busy or the thread pool full: `spansUs`, `gcUs`, `untracedUs`, `unknownUs`, `shortUs` and `idleUs` add up to
 * `durationUs`.
 */
export interface StallAnswer {
  readonly kind: 'busy' | 'pool';
  /** The service, and its process where that is known: `shop 4711`. */
  readonly process: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly spansUs: number;
  /** Those that had it longest. */
  readonly holders: readonly NamedTime[];
  readonly gcUs: number;
  readonly untracedUs: number;
  /** The functions that took most of that, innermost first, and the one that each stack goes by. */
  readonly untracedFrames: readonly {
    readonly name: string;
    readonly frames: readonly string[];
    readonly us: number;
  }[];
  readonly unknownUs: number;
  /** The loop worked in turns shorter than its bound. */
  readonly shortUs: number;
  /** The loop was free. */
  readonly idleUs: number;
  /** What was in the thread pool while it was full. */
  readonly poolWaits: readonly { readonly requests: string; readonly us: number }[];
  /** Those that waited longest. */
  readonly waiters: readonly NamedTime[];
  readonly waiterCount: number;
  readonly waitedUs: number;
}

/** Answer of /ui/api/stalls. */
export interface StallsAnswer {
  /** False where no process kept a timeline of that time. */
  readonly hasTimeline: boolean;
  /** The longest first. */
  readonly stalls: readonly StallAnswer[];
  /** What the answer does not rest on. */
  readonly notes: readonly string[];
}
