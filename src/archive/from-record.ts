// Turns spans of our own collector into what the archive keeps. Nothing may be lost or rounded on the way.

import { OWN_SCOPE } from '../formats/library.js';
import type { Properties, PropertyList, PropertyValue } from '../local-span/property.js';
import type { Link } from '../span/span-types.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedSpan,
  ArchivedValue,
} from '../trace/archived-span.js';
import { extrasOf } from '../trace/extras.js';
import { NO_PROPERTIES, setProperty } from '../trace/properties.js';
import type { EventRecord, SpanRecord } from '../trace/record.js';
import { flagsOf } from '../trace/record-view.js';

const NO_EVENTS: readonly ArchivedEvent[] = Object.freeze([]);
const NO_LINKS: readonly ArchivedLink[] = Object.freeze([]);

const listOf = (list: PropertyList | null): ArchivedProperties => {
  if (list === null || list.length === 0) return NO_PROPERTIES;
  const properties: Record<string, ArchivedValue> = {};
  for (let i = 0; i < list.length; i += 2) setProperty(properties, list[i] as string, list[i + 1] as PropertyValue);
  return properties;
};

/** Properties without those that are undefined. */
const propertiesOf = (properties: Properties): ArchivedProperties => {
  const kept: Record<string, ArchivedValue> = {};
  for (const [key, value] of Object.entries(properties)) if (value !== undefined) setProperty(kept, key, value);
  return kept;
};

const eventOf = ({ name, timeUnixNs, propertyList, droppedAttributesCount }: EventRecord): ArchivedEvent => ({
  name,
  timeUnixNs,
  properties: listOf(propertyList),
  ...extrasOf({ droppedAttributesCount }),
});

// Without flags: whether the other span is of another process is not known, and OTLP has "unknown" for that.
const linkOf = ({ traceId, spanId, traceState = '', properties = {}, droppedAttributesCount }: Link): ArchivedLink => ({
  traceId,
  spanId,
  traceState,
  properties: propertiesOf(properties),
  ...extrasOf({ droppedAttributesCount }),
});

/** A span of the collector; `resource` is the same object for all spans of a batch. */
export const archivedSpan = (span: SpanRecord, resource: ArchivedResource): ArchivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  traceState: span.trace.traceState,
  name: span.name,
  kind: span.kind,
  startUnixNs: span.startTimeUnixNs,
  endUnixNs: span.endTimeUnixNs,
  status: { code: span.status.code, message: span.status.message ?? '' },
  properties: listOf(span.propertyList),
  events: span.events.length === 0 ? NO_EVENTS : span.events.map(eventOf),
  links: span.links.length === 0 ? NO_LINKS : span.links.map(linkOf),
  resource,
  scope: OWN_SCOPE,
  ...extrasOf({
    flags: flagsOf(span),
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  }),
});
