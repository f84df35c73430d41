// What the stream of the view Live sends. Types only: the page reads them too, so nothing of Node may be imported here.

import type { RequestStatus } from '../answers.js';

/** Requests of one name to one service in the last minute. */
export interface LiveOperation {
  readonly service: string;
  readonly name: string;
  readonly count: number;
  /** Requests whose own status is an error. */
  readonly errors: number;
  /** Within 1 %. */
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
}

/** The request that stands for a trace in a list: the one that ended last, or took longest. */
export interface LiveRequest {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly status: RequestStatus;
}

/** The last minute at one moment. */
export interface LiveMinute {
  /** Requests that ended in each second, the oldest first; fewer than 60 where not all of the minute was counted. */
  readonly ended: readonly number[];
  /** Of them, those with an error. */
  readonly failed: readonly number[];
  /** Traces that began here and whose first request ended in these seconds. */
  readonly traces: number;
  /** The busiest first. */
  readonly operations: readonly LiveOperation[];
  /** Requests of operations beyond those that are followed. */
  readonly further: number;
  readonly newest: readonly LiveRequest[];
  readonly slowest: readonly LiveRequest[];
  /** Files of the archive that cannot be read, or not whole. */
  readonly damagedFiles: number;
}

/** An event of /ui/api/live; `waitsFor` is the directory of an archive that is not there yet. */
export type LiveEvent = LiveMinute | { readonly waitsFor: string } | { readonly error: string };
