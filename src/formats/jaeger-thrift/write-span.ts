// A finished span as jaeger.thrift's struct Span, straight from its numbers.
// What the format has no field for goes into tags and logs; nothing of a span is left out silently.

import type { FinishedEvent, FinishedLink, FinishedSpan } from '../../record/finished-span.js';
import {
  DROPPED_ATTRIBUTES,
  DROPPED_EVENTS,
  DROPPED_LINKS,
  ERROR,
  EVENT,
  KIND,
  LINK_SPAN_ID,
  LINK_TRACE_ID,
  SCOPE_NAME,
  SCOPE_VERSION,
  STATUS_CODE,
  STATUS_MESSAGE,
  TRACE_STATE,
} from '../jaeger-json/keys.js';
import { OWN_SCOPE } from '../library.js';
import type { ThriftWriter } from './thrift-writer.js';
import { writeBoolTag, writeIntegerTag, writePropertyTags, writeStringTag, writeTag } from './write-tag.js';

const FOLLOWS_FROM = 1;
/** `Span.flags`: bit 0 says sampled, and only sampled spans get here. */
const SAMPLED = 1;

/** Nanoseconds beyond the whole microsecond of `startTime`, or of a log's `timestamp`. */
export const NANOSECONDS_KEY = 'spanline.ns';
/** The exact duration in nanoseconds. */
export const DURATION_KEY = 'spanline.duration_ns';
/** The `event` field of the log that keeps what a reference has no place for. */
export const LINK_EVENT = 'spanline.link';

/** Whole microseconds since 1970. Rounding down keeps every child inside its parent. */
export const toMicroseconds = (sec: number, nano: number): number => sec * 1e6 + Math.floor(nano / 1000);

/** To an end rounded up: no child leaves its parent, and no span lasts nothing, which Jaeger takes for a clock that went backwards. */
const durationMicroseconds = ({ endSec, endNano }: FinishedSpan, startUs: number): number =>
  Math.max(1, endSec * 1e6 + Math.ceil(endNano / 1000) - startUs);

/** As a number where that is exact: `durationNs` of a view is a bigint. */
const durationNs = ({ startSec, startNano, endSec, endNano }: FinishedSpan): number =>
  (endSec - startSec) * 1e9 + (endNano - startNano);

const writeCountTag = (writer: ThriftWriter, key: string, count: number): void => {
  if (count > 0) writeIntegerTag(writer, key, count);
};

const needsLog = (link: FinishedLink): boolean =>
  link.traceState !== '' || link.droppedAttributesCount > 0 || link.properties.size > 0;

const writeReferences = (writer: ThriftWriter, span: FinishedSpan): void => {
  const { linkCount } = span;
  writer.listField(6);
  writer.structListHeader(linkCount);
  for (let i = 0; i < linkCount; i++) {
    const link = span.link(i);
    const outer = writer.beginStruct();
    writer.i32Field(1, FOLLOWS_FROM);
    writer.i64Field(2, link.trace2, link.trace3);
    writer.i64Field(3, link.trace0, link.trace1);
    writer.i64Field(4, link.idHi, link.idLo);
    writer.endStruct(outer);
  }
};

const countTags = (span: FinishedSpan, keepNanoseconds: boolean): number => {
  let count = span.properties.size;
  if (keepNanoseconds) count += 2;
  if (span.kind !== 'internal') count++;
  if (span.statusCode !== 'unset') count++;
  if (span.statusCode === 'error') count++;
  if (span.statusMessage !== '') count++;
  if (span.traceState !== '') count++;
  if (span.scope !== OWN_SCOPE) {
    if (span.scope.name !== '') count++;
    if (span.scope.version !== '') count++;
  }
  if (span.droppedAttributesCount > 0) count++;
  if (span.droppedEventsCount > 0) count++;
  if (span.droppedLinksCount > 0) count++;
  return count;
};

const writeTags = (writer: ThriftWriter, span: FinishedSpan, keepNanoseconds: boolean): void => {
  const count = countTags(span, keepNanoseconds);
  if (count === 0) return;
  const { kind, statusCode, statusMessage, traceState, scope } = span;
  writer.listField(10);
  writer.structListHeader(count);
  writePropertyTags(writer, span.properties);
  if (keepNanoseconds) {
    writeIntegerTag(writer, NANOSECONDS_KEY, span.startNano % 1000);
    writeTag(writer, DURATION_KEY, durationNs(span));
  }
  // No kind means "internal", beside nanoseconds: most spans are, and the tag would cost each of them.
  if (kind !== 'internal') writeStringTag(writer, KIND, kind);
  if (statusCode !== 'unset') writeStringTag(writer, STATUS_CODE, statusCode === 'error' ? 'ERROR' : 'OK');
  if (statusCode === 'error') writeBoolTag(writer, ERROR, true);
  if (statusMessage !== '') writeStringTag(writer, STATUS_MESSAGE, statusMessage);
  if (traceState !== '') writeStringTag(writer, TRACE_STATE, traceState);
  if (scope !== OWN_SCOPE) {
    if (scope.name !== '') writeStringTag(writer, SCOPE_NAME, scope.name);
    if (scope.version !== '') writeStringTag(writer, SCOPE_VERSION, scope.version);
  }
  writeCountTag(writer, DROPPED_ATTRIBUTES, span.droppedAttributesCount);
  writeCountTag(writer, DROPPED_EVENTS, span.droppedEventsCount);
  writeCountTag(writer, DROPPED_LINKS, span.droppedLinksCount);
};

const writeEventLog = (writer: ThriftWriter, event: FinishedEvent, keepNanoseconds: boolean): void => {
  const { properties, droppedAttributesCount, nano } = event;
  const outer = writer.beginStruct();
  writer.wholeField(1, toMicroseconds(event.sec, nano));
  writer.listField(2);
  writer.structListHeader(1 + properties.size + (droppedAttributesCount > 0 ? 1 : 0) + (keepNanoseconds ? 1 : 0));
  writeStringTag(writer, EVENT, event.name);
  writePropertyTags(writer, properties);
  writeCountTag(writer, DROPPED_ATTRIBUTES, droppedAttributesCount);
  if (keepNanoseconds) writeIntegerTag(writer, NANOSECONDS_KEY, nano % 1000);
  writer.endStruct(outer);
};

/** A reference holds ids only; the link's properties and tracestate go into a log at the span's start. */
const writeLinkLog = (writer: ThriftWriter, link: FinishedLink, startUs: number): void => {
  const { properties, traceState, droppedAttributesCount } = link;
  const outer = writer.beginStruct();
  writer.wholeField(1, startUs);
  writer.listField(2);
  writer.structListHeader(3 + properties.size + (droppedAttributesCount > 0 ? 1 : 0) + (traceState === '' ? 0 : 1));
  writeStringTag(writer, EVENT, LINK_EVENT);
  writeStringTag(writer, LINK_TRACE_ID, link.traceId);
  writeStringTag(writer, LINK_SPAN_ID, link.spanId);
  if (traceState !== '') writeStringTag(writer, TRACE_STATE, traceState);
  writePropertyTags(writer, properties);
  writeCountTag(writer, DROPPED_ATTRIBUTES, droppedAttributesCount);
  writer.endStruct(outer);
};

const writeLogs = (writer: ThriftWriter, span: FinishedSpan, startUs: number, keepNanoseconds: boolean): void => {
  const { eventCount, linkCount } = span;
  let count = eventCount;
  for (let i = 0; i < linkCount; i++) if (needsLog(span.link(i))) count++;
  if (count === 0) return;
  writer.listField(11);
  writer.structListHeader(count);
  for (let i = 0; i < eventCount; i++) writeEventLog(writer, span.event(i), keepNanoseconds);
  for (let i = 0; i < linkCount; i++) {
    const link = span.link(i);
    if (needsLog(link)) writeLinkLog(writer, link, startUs);
  }
};

/** Writes one `struct Span`, as an element of `Batch.spans`. */
export const writeSpan = (writer: ThriftWriter, span: FinishedSpan, keepNanoseconds: boolean): void => {
  const outer = writer.beginStruct();
  writer.i64Field(1, span.trace2, span.trace3);
  writer.i64Field(2, span.trace0, span.trace1);
  writer.i64Field(3, span.idHi, span.idLo);
  writer.i64Field(4, span.parentHi, span.parentLo);
  writer.stringField(5, span.name);
  if (span.linkCount > 0) writeReferences(writer, span);
  writer.i32Field(7, SAMPLED);
  const startUs = toMicroseconds(span.startSec, span.startNano);
  writer.wholeField(8, startUs);
  writer.wholeField(9, durationMicroseconds(span, startUs));
  writeTags(writer, span, keepNanoseconds);
  writeLogs(writer, span, startUs, keepNanoseconds);
  writer.endStruct(outer);
};
