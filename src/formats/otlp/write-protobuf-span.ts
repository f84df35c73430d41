// A finished span as OTLP's message Span, straight from the record's numeric fields. Fields that hold proto3's default
// are left out, as the format asks.

import type { Link, SpanKind, SpanStatus } from '../../span/span-types.js';
import type { EventRecord, SpanRecord } from '../../trace/record.js';
import type { ByteWriter } from './byte-writer.js';
import {
  BYTES,
  beginMessage,
  endMessage,
  FIXED32,
  FIXED64,
  tag,
  VARINT,
  writeString,
  writeUnixNanos,
  writeVarint32,
} from './protobuf-writer.js';
import { writeProperties, writePropertyList } from './write-protobuf-value.js';

/** Span */
const TRACE_ID = tag(1, BYTES);
const SPAN_ID = tag(2, BYTES);
const TRACE_STATE = tag(3, BYTES);
const PARENT_SPAN_ID = tag(4, BYTES);
const NAME = tag(5, BYTES);
const KIND = tag(6, VARINT);
const START = tag(7, FIXED64);
const END = tag(8, FIXED64);
const ATTRIBUTES = tag(9, BYTES);
const DROPPED_ATTRIBUTES = tag(10, VARINT);
const EVENTS = tag(11, BYTES);
const DROPPED_EVENTS = tag(12, VARINT);
const LINKS = tag(13, BYTES);
const DROPPED_LINKS = tag(14, VARINT);
const STATUS = tag(15, BYTES);
/** Field 16: its tag takes two bytes. */
const FLAGS = tag(16, FIXED32);

/** Event */
const EVENT_TIME = tag(1, FIXED64);
const EVENT_NAME = tag(2, BYTES);
const EVENT_ATTRIBUTES = tag(3, BYTES);
const EVENT_DROPPED = tag(4, VARINT);
/** Link */
const LINK_ATTRIBUTES = tag(4, BYTES);
const LINK_DROPPED = tag(5, VARINT);
/** Status */
const STATUS_MESSAGE = tag(2, BYTES);
const STATUS_CODE = tag(3, VARINT);

export const KIND_NUMBER: Readonly<Record<SpanKind, number>> = {
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};
export const STATUS_NUMBER = { unset: 0, ok: 1, error: 2 } as const;

/** W3C "sampled", for only sampled spans get here, and OTLP's "it is known whether the parent is remote". */
const LOCAL_PARENT = 0x101;
const REMOTE_PARENT = 0x301;
/** W3C "random trace id". */
const RANDOM_ID = 2;

/** `Span.flags`. */
export const flagsOf = ({ trace, hasRemoteParent }: SpanRecord): number =>
  (hasRemoteParent ? REMOTE_PARENT : LOCAL_PARENT) | (trace.isRandom ? RANDOM_ID : 0);

/** More than all fixed fields of a span together, or of an event or a link. */
const FIXED_ROOM = 96;

const wordOf = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 8), 16);

const writeId = (writer: ByteWriter, hi: number, lo: number): void => {
  writer.view.setUint32(writer.at, hi);
  writer.view.setUint32(writer.at + 4, lo);
  writer.at += 8;
};

const writeDropped = (writer: ByteWriter, field: number, count: number): void => {
  if (count === 0) return;
  writer.ensure(FIXED_ROOM);
  writer.bytes[writer.at++] = field;
  writeVarint32(writer, count);
};

const writeEvent = (writer: ByteWriter, event: EventRecord): void => {
  writer.ensure(FIXED_ROOM);
  writer.bytes[writer.at++] = EVENTS;
  const guess = event.propertyList === null ? 1 : 2;
  const start = beginMessage(writer, guess);
  writer.bytes[writer.at++] = EVENT_TIME;
  writeUnixNanos(writer, event.sec, event.nano);
  writeString(writer, EVENT_NAME, event.name);
  if (event.propertyList !== null) writePropertyList(writer, EVENT_ATTRIBUTES, event.propertyList);
  writeDropped(writer, EVENT_DROPPED, event.droppedAttributesCount);
  endMessage(writer, start, guess);
};

// Without flags: whether the other span is in another process is not known, and OTLP has "unknown" for that.
const writeLink = (writer: ByteWriter, link: Link): void => {
  writer.ensure(FIXED_ROOM);
  writer.bytes[writer.at++] = LINKS;
  const guess = link.properties === undefined ? 1 : 2;
  const start = beginMessage(writer, guess);
  writer.bytes[writer.at++] = TRACE_ID;
  writer.bytes[writer.at++] = 16;
  writeId(writer, wordOf(link.traceId, 0), wordOf(link.traceId, 8));
  writeId(writer, wordOf(link.traceId, 16), wordOf(link.traceId, 24));
  writer.bytes[writer.at++] = SPAN_ID;
  writer.bytes[writer.at++] = 8;
  writeId(writer, wordOf(link.spanId, 0), wordOf(link.spanId, 8));
  if (link.traceState) writeString(writer, TRACE_STATE, link.traceState);
  if (link.properties !== undefined) writeProperties(writer, LINK_ATTRIBUTES, link.properties);
  writeDropped(writer, LINK_DROPPED, link.droppedAttributesCount ?? 0);
  endMessage(writer, start, guess);
};

const writeStatus = (writer: ByteWriter, { code, message }: SpanStatus): void => {
  writer.ensure(FIXED_ROOM);
  writer.bytes[writer.at++] = STATUS;
  const start = beginMessage(writer, 1);
  if (message) writeString(writer, STATUS_MESSAGE, message);
  writer.bytes[writer.at++] = STATUS_CODE;
  writer.bytes[writer.at++] = STATUS_NUMBER[code];
  endMessage(writer, start, 1);
};

/** Writes the content of a Span message, without its tag and length. */
export const writeSpanFields = (writer: ByteWriter, span: SpanRecord): void => {
  const { trace } = span;
  writer.ensure(FIXED_ROOM);
  const { bytes } = writer;
  bytes[writer.at++] = TRACE_ID;
  bytes[writer.at++] = 16;
  writeId(writer, trace.w0, trace.w1);
  writeId(writer, trace.w2, trace.w3);
  bytes[writer.at++] = SPAN_ID;
  bytes[writer.at++] = 8;
  writeId(writer, span.idHi, span.idLo);
  if (span.parentHi !== 0 || span.parentLo !== 0) {
    bytes[writer.at++] = PARENT_SPAN_ID;
    bytes[writer.at++] = 8;
    writeId(writer, span.parentHi, span.parentLo);
  }
  bytes[writer.at++] = KIND;
  bytes[writer.at++] = KIND_NUMBER[span.kind];
  bytes[writer.at++] = START;
  writeUnixNanos(writer, span.startSec, span.startNano);
  bytes[writer.at++] = END;
  writeUnixNanos(writer, span.endSec, span.endNano);
  bytes[writer.at++] = (FLAGS & 0x7f) | 0x80;
  bytes[writer.at++] = FLAGS >> 7;
  writer.view.setUint32(writer.at, flagsOf(span), true);
  writer.at += 4;
  writeString(writer, NAME, span.name);
  if (trace.traceState !== '') writeString(writer, TRACE_STATE, trace.traceState);
  if (span.propertyList !== null) writePropertyList(writer, ATTRIBUTES, span.propertyList);
  for (let i = 0; i < span.events.length; i++) writeEvent(writer, span.events[i]);
  for (let i = 0; i < span.links.length; i++) writeLink(writer, span.links[i]);
  if (span.status.code !== 'unset') writeStatus(writer, span.status);
  writeDropped(writer, DROPPED_ATTRIBUTES, span.droppedAttributesCount);
  writeDropped(writer, DROPPED_EVENTS, span.droppedEventsCount);
  writeDropped(writer, DROPPED_LINKS, span.droppedLinksCount);
};
