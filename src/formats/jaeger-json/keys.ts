// The tags that stand for what Jaeger's format has no fields for. Those of OpenTelemetry and Jaeger where they have one, else the ones our
// exporters use. Where a property has the same key, the property comes first and the tag that stands for a field last.
//
// Trace ids as Jaeger writes them: 16 digits where the first 64 bits are zero, as older tracers have them.
//
// Flags, schema URLs and counts of what was dropped as tags of Jaeger's format, and back: the tags of OpenTelemetry where it names one. Like
// all tags that stand for a field they come last, and are there whenever a property of the same key is.
//
// What both forms of Jaeger's JSON say alike: values as they are shown, the order of tags, and processes by their content.
import { getOrMake } from '../../base/maps/maps.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import type { Extras, SpanProperties } from '../../record/finished-span.js';
import { type JaegerTag, type Tag, toTag } from './tags.js';

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
/** Where the name stood among the fields of a log, and the parent among the references, when it was not first. */
export const EVENT_AT = '@jaeger@event_at';
export const PARENT_AT = '@jaeger@parent_at';

export const SERVICE_NAME = 'service.name';

/** @param traceId 32 hex digits. */
export const shownTraceId = (traceId: string): string =>
  traceId.startsWith('0000000000000000') ? traceId.slice(16) : traceId;

type Keys = Readonly<Partial<Record<keyof Extras, string>>>;

export const DROPPED_ATTRIBUTES = 'otel.dropped_attributes_count';
export const DROPPED_EVENTS = 'otel.dropped_events_count';
export const DROPPED_LINKS = 'otel.dropped_links_count';

export const SPAN_EXTRAS: Keys = {
  flags: 'spanline.flags',
  droppedAttributesCount: DROPPED_ATTRIBUTES,
  droppedEventsCount: DROPPED_EVENTS,
  droppedLinksCount: DROPPED_LINKS,
};
export const EVENT_EXTRAS: Keys = { droppedAttributesCount: DROPPED_ATTRIBUTES };
export const LINK_EXTRAS: Keys = { flags: 'spanline.flags', droppedAttributesCount: DROPPED_ATTRIBUTES };
export const SCOPE_EXTRAS: Keys = {
  schemaUrl: 'spanline.scope.schema_url',
  droppedAttributesCount: 'spanline.scope.dropped_attributes_count',
};
export const RESOURCE_EXTRAS: Keys = {
  schemaUrl: 'spanline.resource.schema_url',
  droppedAttributesCount: 'spanline.resource.dropped_attributes_count',
};

/** The tags of `thing`; `properties` are those of the tags they stand among. */
export const extraTags = (thing: Extras, properties: SpanProperties, keys: Keys): JaegerTag[] =>
  Object.entries(keys).flatMap(([field, key]) => {
    const value = thing[field as keyof Extras];
    if (!value && properties.get(key) === undefined) return [];
    return [toTag(key, value ?? (field === 'schemaUrl' ? '' : 0))];
  });

const isCount = (value: ArchivedValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;

/** Take the last tag of each key out of the list, if it is of the wanted form. */
export const takeExtras = (tags: Tag[], keys: Keys): Extras => {
  const extras: Record<string, ArchivedValue> = {};
  for (const [field, key] of Object.entries(keys)) {
    const at = tags.findLastIndex((tag) => tag[0] === key);
    if (at < 0) continue;
    const value = tags[at][1];
    if (!(field === 'schemaUrl' ? typeof value === 'string' : isCount(value))) continue;
    tags.splice(at, 1);
    if (value) extras[field] = value;
  }
  return extras as Extras;
};

/** In the order of the types of Jaeger's model. */
const TYPES: readonly JaegerTag['type'][] = ['string', 'bool', 'int64', 'float64', 'binary'];

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** By key, then type, then value. */
export const byKey = (a: JaegerTag, b: JaegerTag): number =>
  compare(a.key, b.key) || compare(TYPES.indexOf(a.type), TYPES.indexOf(b.type)) || compare(a.value, b.value);

/** A tag if there is something to say. */
export const textTag = (key: string, text: string): JaegerTag[] => (text === '' ? [] : [toTag(key, text)]);

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
