// What a search needs of anything that holds traces: a segment, or spans in memory. Types only.
import type { ArchivedSpan, TraceSummary } from './archived-span.js';
import type { SegmentSearch } from './segment/segment.js';
import type { SegmentOperation } from './segment/segment-summary.js';

/** Holds traces, or parts of them. */
export interface TraceSource {
  /** Unix nanoseconds: no span starts before, none starts or ends after. */
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** Those of some traces that may be there. */
  possible(ids: readonly string[]): Promise<readonly string[]>;
  /** The spans of traces that are there. */
  traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>>;
  /** Traces that meet all conditions as far as they are here, the newest first. */
  summaries(search: SegmentSearch): Promise<readonly TraceSummary[]>;
  /** Services and the names of their spans. */
  operations(): Promise<ReadonlyMap<string, readonly SegmentOperation[]>>;
}
