// Finished spans of any model as archived spans, with objects of their own. Nothing may be lost or rounded on the way.
import type { ArchivedEvent, ArchivedLink, ArchivedProperties, ArchivedSpan } from './archived-span.js';
import { extrasOf } from './extras.js';
import type { FinishedEvent, FinishedLink, FinishedSpan, SpanProperties } from './finished-span.js';
import { NO_PROPERTIES, PropertyDraft } from './properties.js';

const propertiesOf = (from: SpanProperties): ArchivedProperties => {
  if (from.size === 0) return NO_PROPERTIES;
  const properties = new PropertyDraft();
  for (let i = 0; i < from.size; i++) properties.set(from.key(i), from.value(i));
  return properties.done();
};

const eventOf = (event: FinishedEvent): ArchivedEvent => ({
  name: event.name,
  timeUnixNs: event.timeUnixNs,
  properties: propertiesOf(event.properties),
  ...extrasOf({ droppedAttributesCount: event.droppedAttributesCount }),
});

const linkOf = ({ traceId, spanId, traceState, properties, droppedAttributesCount }: FinishedLink): ArchivedLink => ({
  traceId,
  spanId,
  traceState,
  properties: propertiesOf(properties),
  ...extrasOf({ droppedAttributesCount }),
});

/** A finished span, with objects of its own. */
export const archivedView = (span: FinishedSpan): ArchivedSpan => {
  const { flags, droppedAttributesCount, droppedEventsCount, droppedLinksCount } = span;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    name: span.name,
    kind: span.kind,
    startUnixNs: span.startUnixNs,
    endUnixNs: span.startUnixNs + span.durationNs,
    status: { code: span.statusCode, message: span.statusMessage },
    properties: propertiesOf(span.properties),
    events: Array.from({ length: span.eventCount }, (_, i) => eventOf(span.event(i))),
    links: Array.from({ length: span.linkCount }, (_, i) => linkOf(span.link(i))),
    resource: span.resource,
    scope: span.scope,
    ...(span.isLocal && { isLocal: true }),
    ...extrasOf({ flags, droppedAttributesCount, droppedEventsCount, droppedLinksCount }),
  };
};
