// What the endpoints of the view Profiles answer. Types only: the page reads them too, so nothing of Node may be imported here.

/** A file of the directory. */
export interface ProfileFile {
  readonly name: string;
  readonly bytes: number;
  /** Unix milliseconds at which it was written. */
  readonly writtenMs: number;
}

/** Answer of profiles/list. */
export interface ProfileList {
  /** Newest first. */
  readonly files: readonly ProfileFile[];
  /** Older ones that are left out. */
  readonly omitted: number;
}

/** A value of a label key: what it took of the CPU, with the 95 % confidence interval of the share. */
export interface ProfileRow {
  /** '' stands for samples without the key. */
  readonly value: string;
  readonly rank: number;
  readonly samples: number;
  /** CPU nanoseconds, and their standard error. */
  readonly cpuNs: number;
  readonly stderrNs: number;
  /** 0 to 1. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Answer of profiles/table. */
export interface ProfileTable {
  /** Keys to group by. */
  readonly keys: readonly string[];
  readonly by: string;
  readonly rows: readonly ProfileRow[];
  /** Rows left out. */
  readonly omitted: number;
  readonly cpuNs: number;
  readonly samples: number;
  readonly gcNs: number;
  readonly durationNs: number;
  /** Whether CPU time was measured, or each sample stands for one interval. */
  readonly unit: 'cpu' | 'samples';
  /** Of what the times are, where they are not CPU time. */
  readonly measure?: string;
  /** Unix milliseconds of the first moment; 0 where the file does not say. */
  readonly startMs: number;
}

/** A label in two profiles: shares of the CPU from 0 to 1. */
interface ProfileChange {
  readonly value: string;
  readonly before: number;
  readonly after: number;
  readonly change: number;
  readonly low: number;
  readonly high: number;
  readonly pValue: number;
  readonly verdict: 'more' | 'less' | 'same';
}

/** Answer of profiles/diff: the largest changes first. */
export interface ProfileDiff {
  readonly keys: readonly string[];
  readonly by: string;
  readonly changes: readonly ProfileChange[];
  readonly omitted: number;
}

/**
 * Answer of profiles/flame: a call tree by columns, one row a node. A parent stands before its children, row 0 is all of it.
 */
export interface FlameColumns {
  /** Names and places of functions, which nodes name by number. */
  readonly names: readonly string[];
  readonly places: readonly string[];
  readonly frame: readonly number[];
  /** -1 for row 0. */
  readonly parent: readonly number[];
  /** CPU nanoseconds of the node with all below it, and of itself. */
  readonly total: readonly number[];
  readonly self: readonly number[];
  /** `total` in the profile to compare with, in its own nanoseconds; row 0 tells the whole. */
  readonly before?: readonly number[];
  /** Nodes too small to be sent. */
  readonly omitted: number;
}

/** Answer of profiles/trace-of: the trace of a span that a profile has samples of. */
export interface TraceOfSpan {
  readonly traceId: string;
}

/** Answer of profiles/of-trace: the CPU time of a trace's spans in all profiles. */
export interface TraceCpu {
  readonly spans: readonly {
    readonly spanId: string;
    /** The newest profile with samples of it. */
    readonly profile: string;
    readonly samples: number;
    /** CPU nanoseconds while this very span was current, without its children, and their standard error. */
    readonly cpuNs: number;
    readonly stderrNs: number;
  }[];
  /** Profiles that have samples of it, newest first. */
  readonly profiles: readonly { readonly name: string; readonly cpuNs: number }[];
  /** Files that were not looked into: too many, or not readable. */
  readonly skipped: number;
}
