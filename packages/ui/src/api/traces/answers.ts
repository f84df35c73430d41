// What the endpoints of the search for traces answer. Types only: the page reads them too, so nothing of Node may be imported here.

import type { RequestStatus } from '../answers.js';

/** A trace in a list. */
export interface TraceRow {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly isComplete: boolean;
  /** Of its root, or of the earliest span without one; absent where too much would have to be read. */
  readonly status?: RequestStatus;
}

/** Answer of /ui/api/traces: the newest first. */
export interface TracesAnswer {
  readonly traces: readonly TraceRow[];
  /** There are more: the parameter `before` for those that come behind these. */
  readonly next?: string;
}

/** Answer of /ui/api/traces/points: the same traces as columns, for a drawing of many. */
export interface PointsAnswer {
  /** Unix time, whole microseconds. */
  readonly startUs: readonly number[];
  /** Whole microseconds. */
  readonly durationUs: readonly number[];
  readonly isError: readonly (0 | 1)[];
  /** Index into `names`; -1 where there are too many names. */
  readonly name: readonly number[];
  readonly names: readonly string[];
  /** Trace ids of 32 digits, one behind the other. */
  readonly ids: string;
  readonly next?: string;
}

/** Answer of /ui/api/traces/values: what can be chosen in the form. */
export interface ValuesAnswer {
  readonly services: readonly string[];
  /** Of the service that was asked for. */
  readonly operations: readonly string[];
}
