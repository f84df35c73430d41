// A finished span as Jaeger's UI reads it from a file. Times are whole microseconds there; the nanoseconds go into the
// same tags as in our Thrift exporters. What the format has no field for becomes a tag or a log, never nothing.

import type { Resource } from '../../collector/reporter.js';
import type { PropertyList, PropertyValue } from '../../local-span/property.js';
import type { Link } from '../../span/span-types.js';
import { droppedProperties } from '../../trace/dropped-properties.js';
import type { EventRecord, SpanRecord } from '../../trace/record.js';
import { DURATION_KEY, LINK_EVENT, NANOSECONDS_KEY } from '../jaeger-thrift/write-span.js';
import { arrayToJson } from '../jaeger-thrift/write-tag.js';

/** A typed key and value of the UI's format. */
interface JaegerTag {
  readonly key: string;
  readonly type: 'string' | 'bool' | 'int64' | 'float64';
  readonly value: string | number | boolean;
}

const toTag = (key: string, value: PropertyValue): JaegerTag => {
  switch (typeof value) {
    case 'string':
      return { key, type: 'string', value };
    case 'boolean':
      return { key, type: 'bool', value };
    case 'number':
      if (Number.isSafeInteger(value)) return { key, type: 'int64', value };
      // JSON has no NaN and no Infinity.
      return { key, type: 'float64', value: Number.isFinite(value) ? value : String(value) };
    case 'bigint': {
      const small = Number(value);
      // A reader in JavaScript would round what is beyond 2^53; Jaeger's own server writes such numbers as strings too.
      return { key, type: 'int64', value: Number.isSafeInteger(small) ? small : value.toString() };
    }
    default:
      return { key, type: 'string', value: Array.isArray(value) ? arrayToJson(value) : String(value) };
  }
};

const listToTags = (list: PropertyList | null): JaegerTag[] => {
  const tags: JaegerTag[] = [];
  if (list === null) return tags;
  for (let i = 0; i < list.length; i += 2) tags.push(toTag(list[i] as string, list[i + 1] as PropertyValue));
  return tags;
};

const toTags = (properties: Readonly<Record<string, PropertyValue | undefined>>): JaegerTag[] =>
  Object.entries(properties).flatMap(([key, value]) => (value === undefined ? [] : [toTag(key, value)]));

/** Whole microseconds since 1970. Rounding down keeps every child inside its parent. */
const toMicroseconds = (sec: number, nano: number): number => sec * 1e6 + Math.floor(nano / 1000);

const spanTags = (span: SpanRecord): JaegerTag[] => {
  const tags = listToTags(span.propertyList);
  tags.push(toTag(NANOSECONDS_KEY, span.startNano % 1000), toTag(DURATION_KEY, span.durationNs));
  if (span.kind !== 'internal') tags.push(toTag('span.kind', span.kind));
  const { code, message } = span.status;
  if (code !== 'unset') tags.push(toTag('otel.status_code', code === 'error' ? 'ERROR' : 'OK'));
  if (code === 'error') {
    tags.push(toTag('error', true));
    if (message) tags.push(toTag('otel.status_description', message));
  }
  if (span.trace.traceState !== '') tags.push(toTag('w3c.tracestate', span.trace.traceState));
  return [...tags, ...listToTags(span.droppedProperties)];
};

const eventLog = (event: EventRecord) => ({
  timestamp: toMicroseconds(event.sec, event.nano),
  fields: [
    toTag('event', event.name),
    ...listToTags(event.propertyList),
    ...listToTags(droppedProperties(event.droppedAttributesCount)),
    toTag(NANOSECONDS_KEY, event.nano % 1000),
  ],
});

/** A reference holds ids only; the rest of a link goes into a log at the span's start. */
const linkLogs = (span: SpanRecord) =>
  span.links.flatMap(({ traceId, spanId, traceState, properties, droppedAttributesCount = 0 }: Link) => {
    const tags = [...toTags(properties ?? {}), ...listToTags(droppedProperties(droppedAttributesCount))];
    if (traceState) tags.unshift(toTag('w3c.tracestate', traceState));
    if (tags.length === 0) return [];
    const ids = [toTag('event', LINK_EVENT), toTag('link.trace_id', traceId), toTag('link.span_id', spanId)];
    return [{ timestamp: toMicroseconds(span.startSec, span.startNano), fields: [...ids, ...tags] }];
  });

const references = (span: SpanRecord) => {
  const links = span.links.map(({ traceId, spanId }) => ({
    refType: 'FOLLOWS_FROM',
    traceID: traceId,
    spanID: spanId,
  }));
  if (span.parentSpanId === '') return links;
  return [{ refType: 'CHILD_OF', traceID: span.traceId, spanID: span.parentSpanId }, ...links];
};

export const jaegerSpanJson = (span: SpanRecord, processId: string): string => {
  const startTime = toMicroseconds(span.startSec, span.startNano);
  return JSON.stringify({
    traceID: span.traceId,
    spanID: span.spanId,
    flags: 1,
    operationName: span.name,
    references: references(span),
    startTime,
    duration: toMicroseconds(span.endSec, span.endNano) - startTime,
    tags: spanTags(span),
    logs: [...span.events.map(eventLog), ...linkLogs(span)],
    processID: processId,
    warnings: null,
  });
};

export const jaegerProcessJson = ({ serviceName, attributes }: Resource): string =>
  JSON.stringify({ serviceName, tags: toTags(attributes) });
