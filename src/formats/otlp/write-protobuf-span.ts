// A finished span as OTLP's message Span, straight from its numbers. Fields that hold proto3's default
// are left out, as the format asks.

import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { FinishedEvent, FinishedLink, FinishedSpan } from '../../record/finished-span.js';
import { RowProperties } from '../../record/row-view.js';
import * as Field from './fields.js';
import { KIND_NUMBERS, STATUS_NUMBERS } from './kinds.js';
import { beginMessage, endMessage, writeCount, writeString, writeUnixNanos } from './protobuf-writer.js';
import { writeProperties } from './write-protobuf-value.js';
import type { RowPropertyWriter } from './write-row-properties.js';

/** More than all fixed fields of a span together, or of an event or a link. */
const FIXED_ROOM = 96;

const writeId = (writer: ByteWriter, hi: number, lo: number): void => {
  const { data, length } = writer;
  data.setUint32(length, hi);
  data.setUint32(length + 4, lo);
  writer.length = length + 8;
};

const writeEvent = (writer: ByteWriter, event: FinishedEvent): void => {
  const { properties } = event;
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = Field.EVENTS;
  const guess = properties.size === 0 ? 1 : 2;
  const start = beginMessage(writer, guess);
  writer.bytes[writer.length++] = Field.EVENT_TIME;
  writeUnixNanos(writer, event.sec, event.nano);
  writeString(writer, Field.EVENT_NAME, event.name);
  writeProperties(writer, Field.EVENT_ATTRIBUTES, properties);
  writeCount(writer, Field.EVENT_DROPPED, event.droppedAttributesCount);
  endMessage(writer, start, guess);
};

const writeIds = (writer: ByteWriter, span: FinishedSpan | FinishedLink): void => {
  writer.bytes[writer.length++] = Field.TRACE_ID;
  writer.bytes[writer.length++] = 16;
  writeId(writer, span.trace0, span.trace1);
  writeId(writer, span.trace2, span.trace3);
  writer.bytes[writer.length++] = Field.SPAN_ID;
  writer.bytes[writer.length++] = 8;
  writeId(writer, span.idHi, span.idLo);
};

const writeLink = (writer: ByteWriter, link: FinishedLink): void => {
  const { properties, traceState, flags } = link;
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = Field.LINKS;
  const guess = properties.size === 0 ? 1 : 2;
  const start = beginMessage(writer, guess);
  writeIds(writer, link);
  if (flags !== 0) {
    writer.bytes[writer.length++] = Field.LINK_FLAGS;
    writer.uint32(flags);
  }
  if (traceState !== '') writeString(writer, Field.TRACE_STATE, traceState);
  writeProperties(writer, Field.LINK_ATTRIBUTES, properties);
  writeCount(writer, Field.LINK_DROPPED, link.droppedAttributesCount);
  endMessage(writer, start, guess);
};

const writeStatus = (writer: ByteWriter, code: number, message: string): void => {
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = Field.STATUS;
  const start = beginMessage(writer, 1);
  if (message !== '') writeString(writer, Field.STATUS_MESSAGE, message);
  writer.bytes[writer.length++] = Field.STATUS_CODE;
  writer.bytes[writer.length++] = code;
  endMessage(writer, start, 1);
};

/** Writes the content of a Span message, without its tag and length. */
export const writeSpanFields = (writer: ByteWriter, span: FinishedSpan, rowProperties: RowPropertyWriter): void => {
  // Each field is read where it is written: to read all of them first costs 5 % of the whole.
  const { parentHi, parentLo } = span;
  writer.reserve(FIXED_ROOM);
  const { bytes } = writer;
  writeIds(writer, span);
  if (parentHi !== 0 || parentLo !== 0) {
    bytes[writer.length++] = Field.PARENT_SPAN_ID;
    bytes[writer.length++] = 8;
    writeId(writer, parentHi, parentLo);
  }
  bytes[writer.length++] = Field.KIND;
  bytes[writer.length++] = KIND_NUMBERS[span.kind];
  bytes[writer.length++] = Field.START;
  writeUnixNanos(writer, span.startSec, span.startNano);
  bytes[writer.length++] = Field.END;
  writeUnixNanos(writer, span.endSec, span.endNano);
  const { flags } = span;
  if (flags !== 0) {
    bytes[writer.length++] = (Field.FLAGS & 0x7f) | 0x80;
    bytes[writer.length++] = Field.FLAGS >> 7;
    writer.uint32(flags);
  }
  writeString(writer, Field.NAME, span.name);
  const { traceState, eventCount, linkCount, statusCode, statusMessage } = span;
  if (traceState !== '') writeString(writer, Field.TRACE_STATE, traceState);
  const { properties } = span;
  if (properties instanceof RowProperties) rowProperties.write(writer, Field.ATTRIBUTES, properties);
  else writeProperties(writer, Field.ATTRIBUTES, properties);
  for (let i = 0; i < eventCount; i++) writeEvent(writer, span.event(i));
  for (let i = 0; i < linkCount; i++) writeLink(writer, span.link(i));
  if (statusCode !== 'unset' || statusMessage !== '') writeStatus(writer, STATUS_NUMBERS[statusCode], statusMessage);
  writeCount(writer, Field.DROPPED_ATTRIBUTES, span.droppedAttributesCount);
  writeCount(writer, Field.DROPPED_EVENTS, span.droppedEventsCount);
  writeCount(writer, Field.DROPPED_LINKS, span.droppedLinksCount);
};
