// The one finished span: what formats, trees and searches read, wherever it lies. It is a view: nothing may be made for a field that is read
// through numbers, and what `event` and `link` give is good until the next call, so that rows of typed arrays can stand behind it as well as
// records and archived spans. A further field of a span is one line here, one in each view, and one in each format that has a place for it.
//
// What OpenTelemetry has beside properties: flags, schema URLs, counts of what was dropped. A new field of this sort is added here.
import type {
  ArchivedKind,
  ArchivedResource,
  ArchivedScope,
  ArchivedStatusCode,
  ArchivedValue,
} from './archived-span.js';

/** Properties in their order, read by number. No key comes twice. */
export interface SpanProperties {
  readonly size: number;
  key(index: number): string;
  value(index: number): ArchivedValue;
  /** The value of a key; nothing when there is none. */
  get(key: string): ArchivedValue | undefined;
}

/** The ids of a span as unsigned 32-bit words, most significant first, and as hex digits. */
export interface SpanIds {
  readonly trace0: number;
  readonly trace1: number;
  readonly trace2: number;
  readonly trace3: number;
  readonly idHi: number;
  readonly idLo: number;
  /** False when an id is not of its length, which a program's own spans can have: then the words do not hold it. */
  readonly areIdsWhole: boolean;
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** W3C tracestate; '' for none. */
  readonly traceState: string;
  /** As OTLP has them: the flags of W3C Trace Context, and whether the parent or the linked span is of another process. 0: unknown. */
  readonly flags: number;
  readonly properties: SpanProperties;
  readonly droppedAttributesCount: number;
}

/** A reference to another span. */
export interface FinishedLink extends SpanIds {}

/** Something that happened during a span. Times are whole Unix seconds and the nanoseconds within that second. */
export interface FinishedEvent {
  readonly name: string;
  readonly sec: number;
  readonly nano: number;
  /** Unix time in nanoseconds. */
  readonly timeUnixNs: bigint;
  readonly properties: SpanProperties;
  readonly droppedAttributesCount: number;
}

/** A finished span. */
export interface FinishedSpan extends SpanIds {
  /** Both 0 without a parent, here or in another process. */
  readonly parentHi: number;
  readonly parentLo: number;
  /** 16 lower-case hex digits; '' without a parent. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: ArchivedKind;
  /** Whole Unix seconds, and the nanoseconds (an integer, 0 to 999999999) within that second. */
  readonly startSec: number;
  readonly startNano: number;
  readonly endSec: number;
  readonly endNano: number;
  /** Unix time in nanoseconds. */
  readonly startUnixNs: bigint;
  readonly durationNs: bigint;
  readonly statusCode: ArchivedStatusCode;
  readonly statusMessage: string;
  readonly eventCount: number;
  /** Good until the next call. */
  event(index: number): FinishedEvent;
  readonly linkCount: number;
  /** Good until the next call. */
  link(index: number): FinishedLink;
  /** One synchronous stretch of work, as far as that is known. For archives: no format of others has a place for it. */
  readonly isLocal: boolean;
  /** One object for all spans of a process. */
  readonly resource: ArchivedResource;
  /** One object for all spans of a library. */
  readonly scope: ArchivedScope;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** All of them; which ones a thing has is said by its type. */
export interface Extras {
  readonly flags?: number;
  readonly schemaUrl?: string;
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
}

export type ExtraField = keyof Extras;

export const EXTRA_FIELDS: readonly ExtraField[] = [
  'flags',
  'schemaUrl',
  'droppedAttributesCount',
  'droppedEventsCount',
  'droppedLinksCount',
];

/** OTLP's "the parent is in another process". */
const REMOTE_PARENT = 0x200;

/** Whether flags, as OTLP has them, say that the parent of a span is in another process. */
export const hasRemoteParent = (flags: number): boolean => (flags & REMOTE_PARENT) !== 0;

/** Those that say something: zero and '' are what is not there. */
export const extrasOf = (extras: Extras): Extras => {
  const kept: Record<string, string | number> = {};
  for (const field of EXTRA_FIELDS) {
    const value = extras[field];
    if (value) kept[field] = value;
  }
  return kept;
};
