// What the stream of the view Live sends. Types only: the page reads them too, so nothing of Node may be imported here.
import type { TraceRow } from '../traces/answers.js';

/** Traces of one kind of request in the last minute: those whose root has this name. */
export interface LiveOperation {
  readonly service: string;
  readonly name: string;
  readonly count: number;
  /** Traces with an error in any span. */
  readonly errors: number;
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
}

/** The last minute at one moment. */
export interface LiveMinute {
  /** Traces that ended in each second, the oldest first. */
  readonly ended: readonly number[];
  /** Of them, those with an error. */
  readonly failed: readonly number[];
  /** The busiest first. */
  readonly operations: readonly LiveOperation[];
  readonly newest: readonly TraceRow[];
  readonly slowest: readonly TraceRow[];
  /** Only the newest traces were looked at: there were more in this minute. */
  readonly isCut: boolean;
}

/** An event of /ui/api/live. */
export type LiveEvent = LiveMinute | { readonly error: string };
