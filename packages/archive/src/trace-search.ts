// What is asked of an archive: which traces are wanted, and what is known of a trace without its spans; and what both say of time.
import type { ArchivedStatusCode } from 'spanline/internal/record';

/** What is known of a trace without reading its spans. */
export interface TraceSummary {
  readonly traceId: string;
  /** Of the root, or of the earliest span when the root is absent. */
  readonly name: string;
  /** Of the same; `unknown_service` where its resource names none. */
  readonly service: string;
  readonly startUnixNs: bigint;
  /** From the earliest start to the latest end. */
  readonly durationNs: bigint;
  readonly spanCount: number;
  readonly errorCount: number;
  /** Bytes of its spans once decoded, about: what asking for it will cost. */
  readonly bytes: number;
  /** False when the root or another parent is absent. */
  readonly isComplete: boolean;
}

/**
 * Which traces are wanted. The conditions `fromUnixNs`, `toUnixNs`, `minDurationNs` and `maxDurationNs` are of the whole trace; all others
 * must be met by one and the same span of it.
 */
export interface TraceSearch {
  /** The trace overlaps this stretch of Unix time in nanoseconds. */
  readonly fromUnixNs?: bigint;
  readonly toUnixNs?: bigint;
  /** From the earliest start to the latest end in the trace. */
  readonly minDurationNs?: bigint;
  readonly maxDurationNs?: bigint;
  /** The `service.name` of the span's resource; `unknown_service` also finds those that have none. */
  readonly service?: string;
  /** Exact name of the span. */
  readonly name?: string;
  readonly status?: ArchivedStatusCode;
  /** Of the span itself. */
  readonly minSpanDurationNs?: bigint;
  readonly maxSpanDurationNs?: bigint;
  /** The span starts in this stretch of Unix time in nanoseconds, its ends included. */
  readonly spanFromUnixNs?: bigint;
  readonly spanToUnixNs?: bigint;
  /**
   * Keys and values, compared as text, each of which the span has, or its resource, its scope or one of its events. As in Jaeger,
   * `span.kind`, `otel.status_code` (`OK`, `ERROR`), `otel.status_description`, `otel.scope.name`, `otel.scope.version` and
   * `w3c.tracestate` stand for fields, `event` for the name of an event, and `error` is `true` or `false` by the status.
   */
  readonly properties?: Readonly<Record<string, string>>;
  /** The span has a link to this trace, another than its own: 32 hex digits. */
  readonly linkedTo?: string;
  /** Most traces. Default 20. */
  readonly limit?: number;
}

/** Whether something of the time from `startUnixNs` to `endUnixNs` overlaps the stretch that is searched. */
export const isInTime = (
  { startUnixNs, endUnixNs }: { readonly startUnixNs: bigint; readonly endUnixNs: bigint },
  { fromUnixNs, toUnixNs }: Pick<TraceSearch, 'fromUnixNs' | 'toUnixNs'>,
): boolean =>
  (fromUnixNs === undefined || endUnixNs >= fromUnixNs) && (toUnixNs === undefined || startUnixNs <= toUnixNs);
