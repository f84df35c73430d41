// OTLP's messages: their fields, which writers and readers share, and the numbers of its enums. A further field of a span is a line here, one in each
// writer, which are tuned by hand, and one in the table of @spanline/archive, by which protobuf and JSON are read. Source: opentelemetry-proto, trace/v1,
// resource/v1, common/v1.

import { BYTES, type ByteWriter, FIXED32, FIXED64, tag, VARINT } from '../../base/bytes/byte-writer.js';
import type { ArchivedKind, ArchivedResource, ArchivedScope, ArchivedStatusCode } from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';

/** OTLP's numbers for kinds and status codes. */
export const KIND_NUMBERS: Readonly<Record<ArchivedKind, number>> = {
  unspecified: 0,
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};
export const STATUS_NUMBERS: Readonly<Record<ArchivedStatusCode, number>> = { unset: 0, ok: 1, error: 2 };

/** By number. */
export const KINDS = Object.keys(KIND_NUMBERS) as readonly ArchivedKind[];
export const STATUS_CODES = Object.keys(STATUS_NUMBERS) as readonly ArchivedStatusCode[];

/** The tags of the fields of each message, by their names in JSON. */
export const TAGS = {
  /** ExportTraceServiceRequest and TracesData. */
  traces: { resourceSpans: tag(1, BYTES) },
  resourceSpans: { resource: tag(1, BYTES), scopeSpans: tag(2, BYTES), schemaUrl: tag(3, BYTES) },
  resource: { attributes: tag(1, BYTES), droppedAttributesCount: tag(2, VARINT) },
  scopeSpans: { scope: tag(1, BYTES), spans: tag(2, BYTES), schemaUrl: tag(3, BYTES) },
  scope: {
    name: tag(1, BYTES),
    version: tag(2, BYTES),
    attributes: tag(3, BYTES),
    droppedAttributesCount: tag(4, VARINT),
  },
  span: {
    traceId: tag(1, BYTES),
    spanId: tag(2, BYTES),
    parentSpanId: tag(4, BYTES),
    traceState: tag(3, BYTES),
    name: tag(5, BYTES),
    kind: tag(6, VARINT),
    startTimeUnixNano: tag(7, FIXED64),
    endTimeUnixNano: tag(8, FIXED64),
    status: tag(15, BYTES),
    attributes: tag(9, BYTES),
    events: tag(11, BYTES),
    links: tag(13, BYTES),
    flags: tag(16, FIXED32),
    droppedAttributesCount: tag(10, VARINT),
    droppedEventsCount: tag(12, VARINT),
    droppedLinksCount: tag(14, VARINT),
  },
  event: {
    timeUnixNano: tag(1, FIXED64),
    name: tag(2, BYTES),
    attributes: tag(3, BYTES),
    droppedAttributesCount: tag(4, VARINT),
  },
  link: {
    traceId: tag(1, BYTES),
    spanId: tag(2, BYTES),
    traceState: tag(3, BYTES),
    attributes: tag(4, BYTES),
    flags: tag(6, FIXED32),
    droppedAttributesCount: tag(5, VARINT),
  },
  status: { message: tag(2, BYTES), code: tag(3, VARINT) },
  keyValue: { key: tag(1, BYTES), value: tag(2, BYTES) },
  value: {
    stringValue: tag(1, BYTES),
    boolValue: tag(2, VARINT),
    intValue: tag(3, VARINT),
    doubleValue: tag(4, FIXED64),
    arrayValue: tag(5, BYTES),
    kvlistValue: tag(6, BYTES),
    bytesValue: tag(7, BYTES),
  },
  /** ArrayValue and KeyValueList. */
  values: { values: tag(1, BYTES) },
};

/** The spans of a request that were recorded by one library, as they were written. */
export interface ScopedSpans {
  readonly scope: ArchivedScope;
  readonly spans: readonly Uint8Array[];
}

/** One form of OTLP's ExportTraceServiceRequest: one resource, spans by scope. */
export interface OtlpFormat {
  readonly contentType: string;
  /** Bytes that {@link OtlpFormat.end} may add. */
  readonly endBytes: number;
  /** Write what comes before the spans, into an empty writer. */
  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void;
  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void;
  /** Bytes between two spans. */
  readonly separatorBytes: number;
  /** A whole request for the resource of the last `begin`, of spans that were written after it. */
  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void;
  /** Complete the request of one scope; gives the position where it begins. */
  end(writer: ByteWriter): number;
}
