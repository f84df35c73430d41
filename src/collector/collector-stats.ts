// Counters of a collector. Types only.
import type { PipelineStats } from './pipeline.js';

/** What became of a flush. */
export interface FlushResult {
  /** True when everything accepted before the call was delivered or dropped by a bound, counted. */
  readonly complete: boolean;
  /** Spans still waiting when the time was up. */
  readonly pendingSpans: number;
}

/** Counters of one collector. */
export interface CollectorStats {
  readonly openTraces: number;
  readonly openBytes: number;
  /** Finished, not yet handed to a reporter. */
  readonly readyTraces: number;
  readonly readyBytes: number;
  readonly readySpans: number;
  /** Chunks of rows in use, of open and ready traces, and their bytes. */
  readonly rowChunks: number;
  readonly rowBytes: number;
  /** Chunks that wait to be used again. */
  readonly rowChunksPooled: number;
  /** Chunks whose few waiting rows were moved to another one. */
  readonly chunksCompacted: number;
  /** Spans that reports have handed to the reporters; each of several gets them. */
  readonly handedSpans: number;
  readonly droppedTracesBeforeReporter: number;
  readonly droppedSpansBeforeReporter: number;
  /** The queue had passed twice its bound before the event loop could turn to a report. */
  readonly droppedTracesQueueFull: number;
  readonly droppedSpansQueueFull: number;
  readonly droppedSpansAfterShutdown: number;
  /** By reporter name; a second reporter of one name is `name#2`. */
  readonly reporters: Readonly<
    Record<string, PipelineStats & { readonly lastError?: string; readonly own?: Readonly<Record<string, number>> }>
  >;
}
