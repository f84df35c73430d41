// What the endpoints of groups and of comparisons answer. Types only: the page reads them too. Times in microseconds.

/** Traces of one shape. */
export interface GroupRow {
  /** Of the shape: 32 hex digits. */
  readonly digest: string;
  /** Of the root. */
  readonly name: string;
  readonly service: string;
  readonly count: number;
  readonly errorCount: number;
  /** Of each of its traces. */
  readonly spanCount: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The slowest of them. */
  readonly slowestId: string;
  /** The shape as an indented tree. */
  readonly shape: string;
}

/** Answer of /ui/api/groups. */
export interface GroupsAnswer {
  /** Those with the most time in all first. */
  readonly groups: readonly GroupRow[];
  /** Traces that were read. */
  readonly traceCount: number;
  /** More were found than were read. */
  readonly isFull: boolean;
}

/** A side of a comparison: what one trace of it has, on average. */
export interface ComparedSide {
  readonly count: number;
  readonly us: number;
}

/** Spans of one name under the same names. */
export interface ComparedRow {
  readonly depth: number;
  readonly name: string;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
}

/** Answer of /ui/api/compare. */
export interface CompareAnswer {
  readonly left: { readonly title: string; readonly traceCount: number };
  readonly right: { readonly title: string; readonly traceCount: number };
  /** Every row after the one it is under. */
  readonly rows: readonly ComparedRow[];
  /** Rows that are not told. */
  readonly leftOut: number;
}
