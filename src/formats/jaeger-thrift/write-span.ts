// A finished span as jaeger.thrift's struct Span, straight from the record's numeric fields.
// What the format has no field for goes into tags and logs; nothing of a span is left out silently.

import type { PropertyValue } from '../../local-span/property.js';
import type { Link } from '../../span/span-types.js';
import { droppedProperties } from '../../trace/dropped-properties.js';
import type { EventRecord, SpanRecord } from '../../trace/record.js';
import type { ThriftWriter } from './thrift-writer.js';
import { writeBoolTag, writeIntegerTag, writePropertyTags, writeStringTag, writeTag } from './write-tag.js';

const TWO_32 = 0x1_0000_0000;
const FOLLOWS_FROM = 1;
/** `Span.flags`: bit 0 says sampled, and only sampled spans get here. */
const SAMPLED = 1;

/** Nanoseconds beyond the whole microsecond of `startTime`, or of a log's `timestamp`. */
export const NANOSECONDS_KEY = 'spanline.ns';
/** The exact duration in nanoseconds. */
export const DURATION_KEY = 'spanline.duration_ns';
/** The `event` field of the log that keeps what a reference has no place for. */
export const LINK_EVENT = 'spanline.link';

/** Whole microseconds since 1970, rounded down. */
const toMicroseconds = (sec: number, nano: number): number => sec * 1e6 + Math.floor(nano / 1000);

/** To an end rounded up: no child leaves its parent, and no span lasts nothing, which Jaeger takes for a clock that went backwards. */
const durationMicroseconds = ({ endSec, endNano }: SpanRecord, startUs: number): number =>
  Math.max(1, endSec * 1e6 + Math.ceil(endNano / 1000) - startUs);

const writeI64 = (writer: ThriftWriter, id: number, value: number): void =>
  writer.i64Field(id, Math.floor(value / TWO_32), value);

const wordOf = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 8), 16);

const needsLog = (link: Link): boolean =>
  Boolean(link.traceState) || (link.droppedAttributesCount ?? 0) > 0 || hasProperty(link);

const hasProperty = (link: Link): boolean =>
  link.properties !== undefined && Object.values(link.properties).some((value) => value !== undefined);

const writeReferences = (writer: ThriftWriter, links: readonly Link[]): void => {
  writer.listField(6);
  writer.structListHeader(links.length);
  for (const { traceId, spanId } of links) {
    const outer = writer.beginStruct();
    writer.i32Field(1, FOLLOWS_FROM);
    writer.i64Field(2, wordOf(traceId, 16), wordOf(traceId, 24));
    writer.i64Field(3, wordOf(traceId, 0), wordOf(traceId, 8));
    writer.i64Field(4, wordOf(spanId, 0), wordOf(spanId, 8));
    writer.endStruct(outer);
  }
};

const countTags = (span: SpanRecord, keepNanoseconds: boolean): number => {
  let count = span.propertyList === null ? 0 : span.propertyList.length >> 1;
  if (keepNanoseconds) count += 2;
  if (span.kind !== 'internal') count++;
  if (span.status.code !== 'unset') count++;
  if (span.status.code === 'error') count += span.status.message ? 2 : 1;
  if (span.trace.traceState !== '') count++;
  return count + (span.droppedProperties.length >> 1);
};

const writeTags = (writer: ThriftWriter, span: SpanRecord, keepNanoseconds: boolean): void => {
  const count = countTags(span, keepNanoseconds);
  if (count === 0) return;
  writer.listField(10);
  writer.structListHeader(count);
  if (span.propertyList !== null) writePropertyTags(writer, span.propertyList);
  if (keepNanoseconds) {
    writeIntegerTag(writer, NANOSECONDS_KEY, span.startNano % 1000);
    writeIntegerTag(writer, DURATION_KEY, span.durationNs);
  }
  if (span.kind !== 'internal') writeStringTag(writer, 'span.kind', span.kind);
  const { code, message } = span.status;
  if (code !== 'unset') writeStringTag(writer, 'otel.status_code', code === 'error' ? 'ERROR' : 'OK');
  if (code === 'error') {
    writeBoolTag(writer, 'error', true);
    if (message) writeStringTag(writer, 'otel.status_description', message);
  }
  if (span.trace.traceState !== '') writeStringTag(writer, 'w3c.tracestate', span.trace.traceState);
  writePropertyTags(writer, span.droppedProperties);
};

const writeEventLog = (writer: ThriftWriter, event: EventRecord, keepNanoseconds: boolean): void => {
  const outer = writer.beginStruct();
  writeI64(writer, 1, toMicroseconds(event.sec, event.nano));
  writer.listField(2);
  const list = event.propertyList;
  const dropped = droppedProperties(event.droppedAttributesCount);
  const tags = ((list?.length ?? 0) + dropped.length) >> 1;
  writer.structListHeader(1 + tags + (keepNanoseconds ? 1 : 0));
  writeStringTag(writer, 'event', event.name);
  if (list !== null) writePropertyTags(writer, list);
  writePropertyTags(writer, dropped);
  if (keepNanoseconds) writeIntegerTag(writer, NANOSECONDS_KEY, event.nano % 1000);
  writer.endStruct(outer);
};

/** A reference holds ids only; the link's properties and tracestate go into a log at the span's start. */
const writeLinkLog = (writer: ThriftWriter, link: Link, startUs: number): void => {
  const properties = Object.entries(link.properties ?? {}).filter(([, value]) => value !== undefined);
  const dropped = droppedProperties(link.droppedAttributesCount ?? 0);
  const outer = writer.beginStruct();
  writeI64(writer, 1, startUs);
  writer.listField(2);
  writer.structListHeader(3 + properties.length + (dropped.length >> 1) + (link.traceState ? 1 : 0));
  writeStringTag(writer, 'event', LINK_EVENT);
  writeStringTag(writer, 'link.trace_id', link.traceId);
  writeStringTag(writer, 'link.span_id', link.spanId);
  if (link.traceState) writeStringTag(writer, 'w3c.tracestate', link.traceState);
  for (const [key, value] of properties) writeTag(writer, key, value as PropertyValue);
  writePropertyTags(writer, dropped);
  writer.endStruct(outer);
};

const writeLogs = (writer: ThriftWriter, span: SpanRecord, startUs: number, keepNanoseconds: boolean): void => {
  const links = span.links.length === 0 ? span.links : span.links.filter(needsLog);
  const count = span.events.length + links.length;
  if (count === 0) return;
  writer.listField(11);
  writer.structListHeader(count);
  for (const event of span.events) writeEventLog(writer, event, keepNanoseconds);
  for (const link of links) writeLinkLog(writer, link, startUs);
};

/** Writes one `struct Span`, as an element of `Batch.spans`. */
export const writeSpan = (writer: ThriftWriter, span: SpanRecord, keepNanoseconds: boolean): void => {
  const { trace } = span;
  const outer = writer.beginStruct();
  writer.i64Field(1, trace.w2, trace.w3);
  writer.i64Field(2, trace.w0, trace.w1);
  writer.i64Field(3, span.idHi, span.idLo);
  writer.i64Field(4, span.parentHi, span.parentLo);
  writer.stringField(5, span.name);
  if (span.links.length > 0) writeReferences(writer, span.links);
  writer.i32Field(7, SAMPLED);
  const startUs = toMicroseconds(span.startSec, span.startNano);
  writeI64(writer, 8, startUs);
  writeI64(writer, 9, durationMicroseconds(span, startUs));
  writeTags(writer, span, keepNanoseconds);
  writeLogs(writer, span, startUs, keepNanoseconds);
  writer.endStruct(outer);
};
