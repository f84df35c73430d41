// The content of a snapshot, for its writers and readers, and the one error class of the flight recorder.

import { SpanlineError } from '../base/errors.js';
import type { Resource } from '../collector/reporter.js';
import type { SpanRecord } from '../record/record.js';
import type { TimelineRow } from './timeline/timeline-row.js';

export type FlightErrorCode =
  | 'ERR_SPANLINE_FLIGHT_OFF'
  | 'ERR_SPANLINE_FLIGHT_FILE'
  | 'ERR_SPANLINE_FLIGHT_FORMAT'
  | 'ERR_SPANLINE_FLIGHT_NOTHING'
  | 'ERR_SPANLINE_FLIGHT_ABORTED';

/** No recorder runs, a file cannot be written or read, is not a snapshot, there is nothing to recover, or the caller's signal ended the work. */
export class FlightError extends SpanlineError<FlightErrorCode> {
  override readonly name = 'FlightError';
}

/** Why a snapshot was taken. */
export interface SnapshotReason {
  /** `recovered`: from the files of a process that is gone. */
  readonly kind:
    | 'call'
    | 'command'
    | 'slow'
    | 'error'
    | 'stall'
    | 'signal'
    | 'uncaught-exception'
    | 'unhandled-rejection'
    | 'exit-code'
    | 'heap-limit'
    | 'recovered';
  /** For people: `GET /import took 4012 ms`, `SIGUSR2`, the message of an error. */
  readonly text: string;
  /** The trace that triggered it; '' where none did. */
  readonly traceId: string;
}

/** A span of a snapshot. */
export interface SnapshotSpan {
  readonly record: SpanRecord;
  /** True: it had not ended when the snapshot was taken, which is the end that its record has. */
  readonly isOpen: boolean;
}

/** The spans of a trace that the recorder held. */
export interface SnapshotTrace {
  readonly traceId: string;
  /** In order of start, the root first where it is there. */
  readonly spans: readonly SnapshotSpan[];
  /** False: recorded here only. Other processes got the flag that it is not sampled, so that their part of it may be missing. */
  readonly isSampled: boolean;
}

/** A snapshot that can be read as often as one likes. */
export interface Snapshot {
  readonly reason: SnapshotReason;
  readonly takenUnixUs: number;
  /** Age of the oldest span held, milliseconds. */
  readonly bufferedMs: number;
  readonly spanCount: number;
  readonly resource: Resource;
  readonly timeline: readonly TimelineRow[];
  /** Since when the timeline was watched, microseconds of Unix time; undefined where it was not. */
  readonly timelineFromUs?: number | undefined;
  /** Rows of a file that were damaged or cut off, and are left out; a damaged record that has no spans, such as one of the timeline, counts as one. */
  readonly tornRows: number;
  /**
   * The same as `traces()`, with undefined wherever a part of the work is done: for callers that must not block the event loop.
   * @internal
   */
  steps?(): Iterable<SnapshotTrace | undefined>;
  /** Traces in the order of their first span that is there; each is read when it is asked for. */
  traces(): Iterable<SnapshotTrace>;
}
