// What the reader and the writer of Jaeger's JSON share: tags that stand for what the format has no fields for, and how values and processes are written.
// The tags are those of OpenTelemetry and Jaeger where they have one, else the ones our exporters use. Where a property has the same key, the property
// comes first and the tag that stands for a field last, and it is there whenever a property of the same key is.
import { getOrMake } from '../../base/maps/maps.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import type { Extras, SpanProperties } from '../../record/finished-span.js';
import { type JaegerTag, toTag } from './tags.js';

export const KIND = 'span.kind';
export const STATUS_CODE = 'otel.status_code';
export const STATUS_MESSAGE = 'otel.status_description';
export const ERROR = 'error';
export const TRACE_STATE = 'w3c.tracestate';
export const SCOPE_NAME = 'otel.scope.name';
export const SCOPE_VERSION = 'otel.scope.version';
/** Before the key of a property of the scope. */
export const SCOPE_PROPERTY = 'otel.scope.attributes.';
/** Says which reference a link was, when it was not a FOLLOWS_FROM, and which one the parent was, when it was not a CHILD_OF. */
export const REFERENCE_TYPE = 'opentracing.ref_type';
export const FOLLOWS_FROM = 'follows_from';

/** In a log of an event: its name. In a log of a link: LINK_EVENT. */
export const EVENT = 'event';
export const LINK_TRACE_ID = 'link.trace_id';
export const LINK_SPAN_ID = 'link.span_id';

/** What Jaeger's format has of a span or of its trace, and no other format: the flags of a span, remarks on a trace. */
export const FLAGS = '@jaeger@flags';
export const TRACE_WARNINGS = '@jaeger@trace_warnings';
/** Remarks that Jaeger made on a span. */
export const WARNINGS = '@jaeger@warnings';
/** Where the name stood among the fields of a log, and the parent among the references, when it was not first. */
export const EVENT_AT = '@jaeger@event_at';
export const PARENT_AT = '@jaeger@parent_at';

export const SERVICE_NAME = 'service.name';

/** A trace id of 32 hex digits as Jaeger writes it: 16 where the first 64 bits are zero, as older tracers have them. */
export const shownTraceId = (traceId: string): string =>
  traceId.startsWith('0000000000000000') ? traceId.slice(16) : traceId;

/** By field the key of its tag. */
export type ExtraKeys = Readonly<Partial<Record<keyof Extras, string>>>;

export const DROPPED_ATTRIBUTES = 'otel.dropped_attributes_count';
export const DROPPED_EVENTS = 'otel.dropped_events_count';
export const DROPPED_LINKS = 'otel.dropped_links_count';

export const SPAN_EXTRAS: ExtraKeys = {
  flags: 'spanline.flags',
  droppedAttributesCount: DROPPED_ATTRIBUTES,
  droppedEventsCount: DROPPED_EVENTS,
  droppedLinksCount: DROPPED_LINKS,
};
export const EVENT_EXTRAS: ExtraKeys = { droppedAttributesCount: DROPPED_ATTRIBUTES };
export const LINK_EXTRAS: ExtraKeys = { flags: 'spanline.flags', droppedAttributesCount: DROPPED_ATTRIBUTES };
export const SCOPE_EXTRAS: ExtraKeys = {
  schemaUrl: 'spanline.scope.schema_url',
  droppedAttributesCount: 'spanline.scope.dropped_attributes_count',
};
export const RESOURCE_EXTRAS: ExtraKeys = {
  schemaUrl: 'spanline.resource.schema_url',
  droppedAttributesCount: 'spanline.resource.dropped_attributes_count',
};

/** The tags of flags, schema URL and counts of `thing`; `properties` are those of the tags they stand among. */
export const extraTags = (thing: Extras, properties: SpanProperties, keys: ExtraKeys): JaegerTag[] =>
  Object.entries(keys).flatMap(([field, key]) => {
    const value = thing[field as keyof Extras];
    if (!value && properties.get(key) === undefined) return [];
    return [toTag(key, value ?? (field === 'schemaUrl' ? '' : 0))];
  });

/** Remarks out of the value of `WARNINGS` or `TRACE_WARNINGS`. */
export const warningsIn = (kept: ArchivedValue | undefined): readonly string[] => {
  const isList = Array.isArray(kept) && kept.length > 0 && kept.every((one) => typeof one === 'string');
  return isList ? (kept as readonly string[]) : [];
};

const MINUS_ZERO = '"type":"float64","value":"-0"';

/** JSON with a minus zero as a number, which `JSON.stringify` writes as zero. No text can hold the pattern: its quotes are escaped. */
export const tagJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(MINUS_ZERO, '"type":"float64","value":-0');

/** The processes of one trace, each once however many spans it has. */
export class Processes {
  readonly #ids = new Map<string, string>();

  /** @param json A process. */
  idOf(json: string): string {
    return getOrMake(this.#ids, json, () => `p${this.#ids.size + 1}`);
  }

  /** Members of the object `processes`. */
  get json(): string {
    return [...this.#ids].map(([process, id]) => `"${id}":${process}`).join(',');
  }
}
