// The finished span as reporters see it: numeric ids and exact times, readable forms on demand. At the end the record of a row.
// Nothing here may run on the recording path; records are made when a trace is reported.

import type { Link, PropertyList, PropertyValue, SpanKind, SpanStatus, StatusCode } from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import type { SpanScope } from '../rows/row-text.js';
import { spanHex, traceHex } from '../span/span-context.js';
import { setOwn } from './properties.js';
import { flagsOf, type RowProperties, type RowView, toUnixNs } from './row-view.js';

/**
 * Key, value, key, value as an object, which lists keys such as "10" and "2" first and by number, as all objects do: what depends on the order reads the
 * list, as all formats do. It stays a plain object, for those of a reporter may be cloned.
 */
const toProperties = (list: PropertyList | null): Readonly<Record<string, PropertyValue>> => {
  const out: Record<string, PropertyValue> = {};
  if (list !== null)
    for (let i = 0; i < list.length; i += 2) setOwn(out, list[i] as string, list[i + 1] as PropertyValue);
  return out;
};

/** An event of a finished span. Times are whole unix seconds and the nanoseconds within that second. */
export class EventRecord {
  constructor(
    readonly name: string,
    readonly sec: number,
    readonly nano: number,
    /** Key, value, key, value; no key twice; null when there are none. */
    readonly propertyList: PropertyList | null,
    /** Properties that were left out: a bound, or values of no permitted type. */
    readonly droppedAttributesCount = 0,
  ) {}

  /** Unix time in nanoseconds. */
  get timeUnixNs(): bigint {
    return toUnixNs(this.sec, this.nano);
  }

  get properties(): Readonly<Record<string, PropertyValue>> {
    return toProperties(this.propertyList);
  }
}

/** The identity that all spans of a trace share: its 128-bit id as four 32-bit words, most significant first. */
export class TraceIdentity {
  #hex: string | undefined;
  constructor(
    readonly w0: number,
    readonly w1: number,
    readonly w2: number,
    readonly w3: number,
    /** W3C tracestate, as received; empty when there was none. */
    readonly traceState: string,
    /** W3C Trace Context's random flag: the last 7 bytes of the id are random. */
    readonly isRandom = false,
  ) {}

  /** 32 lower-case hex digits. */
  get traceId(): string {
    this.#hex ??= traceHex(this.w0, this.w1, this.w2, this.w3);
    return this.#hex;
  }
}

/**
 * One finished span. Encoders read the numeric fields (`idHi`, `startSec`, `propertyList`); people read the getters
 * (`spanId`, `startUnixNs`, `properties`).
 */
export class SpanRecord {
  constructor(
    readonly trace: TraceIdentity,
    /** Span id, upper and lower 32 bits, unsigned. */
    readonly idHi: number,
    readonly idLo: number,
    /** Parent span id, unsigned; both 0 for a root without a remote parent. */
    readonly parentHi: number,
    readonly parentLo: number,
    readonly name: string,
    readonly kind: SpanKind,
    /** Start: whole unix seconds, and the nanoseconds (an integer, 0 to 999999999) within that second. */
    readonly startSec: number,
    readonly startNano: number,
    readonly endSec: number,
    readonly endNano: number,
    /** Key, value, key, value; no key twice; null when there are none. */
    readonly propertyList: PropertyList | null,
    readonly events: readonly EventRecord[],
    readonly links: readonly Link[],
    readonly status: SpanStatus,
    /** True when the direct parent is in another process (the parent id came in a SpanContext). */
    readonly hasRemoteParent: boolean,
    /** True for a local span: one synchronous stretch of work on the thread of its parent. */
    readonly isLocal = false,
    /** Properties, events and links that a bound or a check left out. */
    readonly droppedAttributesCount = 0,
    readonly droppedEventsCount = 0,
    readonly droppedLinksCount = 0,
    /** The library that recorded it; undefined for this one. */
    readonly scope: SpanScope | undefined = undefined,
  ) {}

  /** What was left out, as properties by OpenTelemetry's names: for formats that have no fields for it. */
  get droppedProperties(): PropertyList {
    const counts: PropertyList = [
      'otel.dropped_attributes_count',
      this.droppedAttributesCount,
      'otel.dropped_events_count',
      this.droppedEventsCount,
      'otel.dropped_links_count',
      this.droppedLinksCount,
    ];
    // Of a key and of its value the second is at the odd place.
    return counts.filter((_, i) => counts[i | 1] !== 0);
  }

  /** The same span with further properties; a key that it has already gets the new value. */
  withProperties(properties: Readonly<Record<string, PropertyValue>>): SpanRecord {
    const kept: (string | PropertyValue)[] = [];
    const list = this.propertyList ?? [];
    for (let i = 0; i < list.length; i += 2) {
      if (!Object.hasOwn(properties, list[i] as string)) kept.push(list[i], list[i + 1]);
    }
    for (const [key, value] of Object.entries(properties)) kept.push(key, value);
    return Object.assign(Object.create(SpanRecord.prototype), this, { propertyList: kept });
  }

  /** 32 lower-case hex digits. */
  get traceId(): string {
    return this.trace.traceId;
  }

  /** 16 lower-case hex digits. */
  get spanId(): string {
    return spanHex(this.idHi, this.idLo);
  }

  /** 16 lower-case hex digits; empty without a parent, here or in another process. */
  get parentSpanId(): string {
    return this.parentHi === 0 && this.parentLo === 0 ? '' : spanHex(this.parentHi, this.parentLo);
  }

  /** Unix time in nanoseconds. */
  get startUnixNs(): bigint {
    return toUnixNs(this.startSec, this.startNano);
  }

  /** Unix time in nanoseconds. */
  get endUnixNs(): bigint {
    return toUnixNs(this.endSec, this.endNano);
  }

  /** Nanoseconds; never negative. */
  get durationNs(): number {
    return (this.endSec - this.startSec) * 1e9 + (this.endNano - this.startNano);
  }

  get properties(): Readonly<Record<string, PropertyValue>> {
    return toProperties(this.propertyList);
  }

  /** W3C tracestate, as received; empty when there was none. */
  get traceState(): string {
    return this.trace.traceState;
  }

  /** As OTLP has them: the flags of W3C Trace Context, and whether the parent is in another process. */
  get flags(): number {
    return flagsOf(this.hasRemoteParent, this.trace.isRandom);
  }
}

const NO_EVENTS: readonly EventRecord[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);
const STATUS: Readonly<Record<StatusCode, SpanStatus>> = Object.freeze({
  unset: Object.freeze({ code: 'unset' }),
  ok: Object.freeze({ code: 'ok' }),
  error: Object.freeze({ code: 'error' }),
});

/** The record of the row that the view shows. */
export const recordOfRow = (span: RowView, trace: TraceIdentity): SpanRecord =>
  new SpanRecord(
    trace,
    span.idHi,
    span.idLo,
    span.parentHi,
    span.parentLo,
    span.name,
    span.kind,
    span.startSec,
    span.startNano,
    span.endSec,
    span.endNano,
    listOf(span.properties),
    eventsOf(span),
    linksOf(span),
    span.statusMessage === '' ? STATUS[span.statusCode] : { code: span.statusCode, message: span.statusMessage },
    (span.rowFlags & Flag.remoteParent) !== 0,
    (span.rowFlags & Flag.local) !== 0,
    span.droppedAttributesCount,
    span.droppedEventsCount,
    span.droppedLinksCount,
    span.rowScope,
  );

const listOf = (properties: RowProperties): PropertyList | null => {
  const { size } = properties;
  if (size === 0) return null;
  const list: (string | PropertyValue)[] = [];
  for (let i = 0; i < size; i++) list.push(properties.key(i), properties.value(i));
  return list;
};

const eventsOf = (span: RowView): readonly EventRecord[] =>
  span.eventCount === 0
    ? NO_EVENTS
    : Array.from({ length: span.eventCount }, (_, i) => {
        const { name, sec, nano, properties, droppedAttributesCount } = span.event(i);
        return new EventRecord(name, sec, nano, listOf(properties), droppedAttributesCount);
      });

const linksOf = (span: RowView): readonly Link[] =>
  span.linkCount === 0
    ? NO_LINKS
    : Array.from({ length: span.linkCount }, (_, i) => {
        const { traceId, spanId, traceState, properties, droppedAttributesCount } = span.link(i);
        const list = listOf(properties);
        return {
          traceId,
          spanId,
          traceState: traceState === '' ? undefined : traceState,
          properties: list === null ? undefined : toProperties(list),
          ...(droppedAttributesCount === 0 ? undefined : { droppedAttributesCount }),
        };
      });
