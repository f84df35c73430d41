// A finished span as the archive keeps it: plain data, whoever it came from (our own collector, OTLP from any application, a Jaeger
// file). Times are Unix nanoseconds; ids are lower-case hex. Types only, but for doubles: in JavaScript 2 and 2.0 are one number, in OpenTelemetry
// they are two values, and what came as one must never leave as the other.

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

/**
 * The double 2.0 as a property: the number 2 is an integer. Decoding makes one only where a double is a whole number below 2^53; all other
 * doubles are plain numbers. It counts and prints as the number it stands for.
 *
 * @example
 * ```ts
 * import { ArchivedDouble, encodeOtlpJson } from '@spanline/archive';
 * console.assert(new ArchivedDouble(2).value + 1 === 3 && `${new ArchivedDouble(2)}` === '2');
 * ```
 */
export class ArchivedDouble {
  constructor(readonly value: number) {}

  valueOf(): number {
    return this.value;
  }

  toString(): string {
    return String(this.value);
  }

  toJSON(): number {
    return this.value;
  }
}

/** A double as a value of a property. */
export const doubleValue = (value: number): number | ArchivedDouble =>
  Number.isSafeInteger(value) && !Object.is(value, -0) ? new ArchivedDouble(value) : value;
