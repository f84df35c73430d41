// A finished span as the archive keeps it: plain data, whoever it came from (our own collector, OTLP from any application, a Jaeger
// file). Times are Unix nanoseconds; ids are lower-case hex. Types only.
import type { ArchivedDouble } from './archived-double.js';

/**
 * A value of a property, as OpenTelemetry has them. A whole number is an integer, a bigint beyond 2^53; the double 2.0 is an
 * `ArchivedDouble`. Bytes are kept as bytes, and a value without content is null.
 */
export type ArchivedValue =
  | string
  | number
  | boolean
  | bigint
  | null
  | ArchivedDouble
  | Uint8Array
  | readonly ArchivedValue[]
  | { readonly [key: string]: ArchivedValue };

/** Properties in the order they came; no key twice. */
export type ArchivedProperties = Readonly<Record<string, ArchivedValue>>;

/** Who made spans: service.name and what else describes a process. */
export interface ArchivedResource {
  readonly properties: ArchivedProperties;
  /** Which conventions its properties follow. */
  readonly schemaUrl?: string;
  /** Properties that its maker left out. */
  readonly droppedAttributesCount?: number;
}

/** Which library made spans. */
export interface ArchivedScope {
  readonly name: string;
  readonly version: string;
  readonly properties: ArchivedProperties;
  /** Which conventions its spans follow. */
  readonly schemaUrl?: string;
  readonly droppedAttributesCount?: number;
}

/** Something that happened during a span. */
export interface ArchivedEvent {
  readonly name: string;
  readonly timeUnixNs: bigint;
  readonly properties: ArchivedProperties;
  readonly droppedAttributesCount?: number;
}

/** A reference to another span, usually of another trace. */
export interface ArchivedLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly properties: ArchivedProperties;
  /** As OTLP has them: the flags of W3C Trace Context, and whether the span is of another process. */
  readonly flags?: number;
  readonly droppedAttributesCount?: number;
}

/** As OpenTelemetry names them. */
export type ArchivedKind = 'unspecified' | 'internal' | 'server' | 'client' | 'producer' | 'consumer';
export type ArchivedStatusCode = 'unset' | 'ok' | 'error';

/** A finished span. */
export interface ArchivedSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** 16 hex digits, '' for a root. The parent may be absent from the archive: that is data, not damage. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: ArchivedKind;
  readonly startUnixNs: bigint;
  /** Not before `startUnixNs`. */
  readonly endUnixNs: bigint;
  readonly status: { readonly code: ArchivedStatusCode; readonly message: string };
  readonly properties: ArchivedProperties;
  readonly events: readonly ArchivedEvent[];
  readonly links: readonly ArchivedLink[];
  /** The same object for spans of one process: the archive keeps it once. */
  readonly resource: ArchivedResource;
  readonly scope: ArchivedScope;
  /** As OTLP has them: the flags of W3C Trace Context, and whether the parent is of another process. */
  readonly flags?: number;
  /** One synchronous stretch of work, as `LocalSpan` records it. Known to archives only: no format of others has a place for it. */
  readonly isLocal?: boolean;
  /** Properties, events and links that the maker of the span left out. */
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
}

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
