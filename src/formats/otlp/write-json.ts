// OTLP's ExportTraceServiceRequest in OTLP/JSON: ids in hex, enums as numbers, times as strings, camelCase names. The
// document has no line break in it, so that one request is one line of a file.

import type { Resource } from '../../collector/reporter.js';
import type { Link, SpanStatus } from '../../span/span-types.js';
import type { EventRecord, SpanRecord } from '../../trace/record.js';
import type { ByteWriter } from './byte-writer.js';
import type { OtlpFormat } from './format.js';
import { writeHex8, writeIntegerDigits, writeQuoted, writeQuotedNanos, writeRaw } from './json-writer.js';
import { LIBRARY_NAME, LIBRARY_VERSION, resourceProperties } from './library.js';
import { writeProperties, writePropertyList } from './write-json-value.js';
import { flagsOf, KIND_NUMBER, STATUS_NUMBER } from './write-protobuf-span.js';

const SCOPE = JSON.stringify({ name: LIBRARY_NAME, version: LIBRARY_VERSION });

const writeDropped = (writer: ByteWriter, key: string, count: number): void => {
  if (count === 0) return;
  writeRaw(writer, key);
  writeIntegerDigits(writer, count);
};

const writeEvent = (writer: ByteWriter, event: EventRecord): void => {
  writeRaw(writer, '{"timeUnixNano":');
  writeQuotedNanos(writer, event.sec, event.nano);
  writeRaw(writer, ',"name":');
  writeQuoted(writer, event.name);
  if (event.propertyList !== null) writePropertyList(writer, event.propertyList);
  writeDropped(writer, ',"droppedAttributesCount":', event.droppedAttributesCount);
  writeRaw(writer, '}');
};

// Without flags: whether the other span is in another process is not known, and OTLP has "unknown" for that.
const writeLink = (writer: ByteWriter, link: Link): void => {
  writeRaw(writer, '{"traceId":');
  writeQuoted(writer, link.traceId);
  writeRaw(writer, ',"spanId":');
  writeQuoted(writer, link.spanId);
  if (link.traceState) {
    writeRaw(writer, ',"traceState":');
    writeQuoted(writer, link.traceState);
  }
  if (link.properties !== undefined) {
    writeRaw(writer, ',"attributes":');
    writeProperties(writer, link.properties);
  }
  writeDropped(writer, ',"droppedAttributesCount":', link.droppedAttributesCount ?? 0);
  writeRaw(writer, '}');
};

const writeList = <T>(
  writer: ByteWriter,
  list: readonly T[],
  writeOne: (writer: ByteWriter, item: T) => void,
): void => {
  for (let i = 0; i < list.length; i++) {
    if (i > 0) writeRaw(writer, ',');
    writeOne(writer, list[i]);
  }
  writeRaw(writer, ']');
};

const writeStatus = (writer: ByteWriter, { code, message }: SpanStatus): void => {
  writeRaw(writer, ',"status":{');
  if (message) {
    writeRaw(writer, '"message":');
    writeQuoted(writer, message);
    writeRaw(writer, ',');
  }
  writeRaw(writer, `"code":${STATUS_NUMBER[code]}}`);
};

const KIND_AND_START: Readonly<Record<keyof typeof KIND_NUMBER, string>> = {
  internal: `,"kind":${KIND_NUMBER.internal},"startTimeUnixNano":`,
  server: `,"kind":${KIND_NUMBER.server},"startTimeUnixNano":`,
  client: `,"kind":${KIND_NUMBER.client},"startTimeUnixNano":`,
  producer: `,"kind":${KIND_NUMBER.producer},"startTimeUnixNano":`,
  consumer: `,"kind":${KIND_NUMBER.consumer},"startTimeUnixNano":`,
};

const writeIds = (writer: ByteWriter, span: SpanRecord): void => {
  const { trace } = span;
  writeRaw(writer, '{"traceId":"');
  writeHex8(writer, trace.w0);
  writeHex8(writer, trace.w1);
  writeHex8(writer, trace.w2);
  writeHex8(writer, trace.w3);
  writeRaw(writer, '","spanId":"');
  writeHex8(writer, span.idHi);
  writeHex8(writer, span.idLo);
  if (span.parentHi !== 0 || span.parentLo !== 0) {
    writeRaw(writer, '","parentSpanId":"');
    writeHex8(writer, span.parentHi);
    writeHex8(writer, span.parentLo);
  }
  writeRaw(writer, '","name":');
};

export class JsonFormat implements OtlpFormat {
  readonly contentType = 'application/json';
  readonly ending: string = ']}]}]}';
  readonly endBytes = 8;

  begin(writer: ByteWriter, resource: Resource): void {
    writeRaw(writer, '{"resourceSpans":[{"resource":{"attributes":');
    writeProperties(writer, resourceProperties(resource));
    writeRaw(writer, `},"scopeSpans":[{"scope":${SCOPE},"spans":[`);
  }

  span(writer: ByteWriter, span: SpanRecord, isFirst: boolean): void {
    const { trace, propertyList, events, links } = span;
    if (!isFirst) writeRaw(writer, ',');
    writeIds(writer, span);
    writeQuoted(writer, span.name);
    writeRaw(writer, KIND_AND_START[span.kind]);
    writeQuotedNanos(writer, span.startSec, span.startNano);
    writeRaw(writer, ',"endTimeUnixNano":');
    writeQuotedNanos(writer, span.endSec, span.endNano);
    writeRaw(writer, ',"flags":');
    writeIntegerDigits(writer, flagsOf(span));
    if (trace.traceState !== '') {
      writeRaw(writer, ',"traceState":');
      writeQuoted(writer, trace.traceState);
    }
    if (propertyList !== null) writePropertyList(writer, propertyList);
    if (events.length > 0) {
      writeRaw(writer, ',"events":[');
      writeList(writer, events, writeEvent);
    }
    if (links.length > 0) {
      writeRaw(writer, ',"links":[');
      writeList(writer, links, writeLink);
    }
    if (span.status.code !== 'unset') writeStatus(writer, span.status);
    writeDropped(writer, ',"droppedAttributesCount":', span.droppedAttributesCount);
    writeDropped(writer, ',"droppedEventsCount":', span.droppedEventsCount);
    writeDropped(writer, ',"droppedLinksCount":', span.droppedLinksCount);
    writeRaw(writer, '}');
  }

  end(writer: ByteWriter): number {
    writeRaw(writer, this.ending);
    return 0;
  }
}
