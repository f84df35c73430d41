// Flags, schema URLs and counts of what was dropped as tags of Jaeger's format, and back: the tags of OpenTelemetry where it names one. Like
// all tags that stand for a field they come last, and are there whenever a property of the same key is.
import type { ArchivedValue } from '../../record/archived-span.js';
import type { Extras, SpanProperties } from '../../record/finished-span.js';
import { type JaegerTag, toTag } from './tags.js';

type Keys = Readonly<Partial<Record<keyof Extras, string>>>;
type Tag = readonly [key: string, value: ArchivedValue];

const ATTRIBUTES = 'otel.dropped_attributes_count';

export const SPAN_EXTRAS: Keys = {
  flags: 'spanline.flags',
  droppedAttributesCount: ATTRIBUTES,
  droppedEventsCount: 'otel.dropped_events_count',
  droppedLinksCount: 'otel.dropped_links_count',
};
export const EVENT_EXTRAS: Keys = { droppedAttributesCount: ATTRIBUTES };
export const LINK_EXTRAS: Keys = { flags: 'spanline.flags', droppedAttributesCount: ATTRIBUTES };
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
