// What the endpoints of the search for traces answer. Types only: the page reads them too, so nothing of Node may be imported here.

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
}

/** Answer of /ui/api/traces: the newest first. */
export interface TracesAnswer {
  readonly traces: readonly TraceRow[];
  /** There may be more. */
  readonly isFull: boolean;
}

/** Answer of /ui/api/traces/values: what can be chosen in the form. */
export interface ValuesAnswer {
  readonly services: readonly string[];
  /** Of the service that was asked for. */
  readonly operations: readonly string[];
}
