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

/** The tags of the fields of a message, by their names in JSON. */
const tags = <K extends string>(
  fields: Readonly<Record<K, readonly [number: number, wireType: number]>>,
): Readonly<Record<K, number>> =>
  Object.fromEntries(
    Object.entries<readonly [number, number]>(fields).map(([name, [number, wireType]]) => [
      name,
      tag(number, wireType),
    ]),
  ) as Record<K, number>;

export const TAGS = {
  /** ExportTraceServiceRequest and TracesData. */
  traces: tags({ resourceSpans: [1, BYTES] }),
  resourceSpans: tags({ resource: [1, BYTES], scopeSpans: [2, BYTES], schemaUrl: [3, BYTES] }),
  resource: tags({ attributes: [1, BYTES], droppedAttributesCount: [2, VARINT] }),
  scopeSpans: tags({ scope: [1, BYTES], spans: [2, BYTES], schemaUrl: [3, BYTES] }),
  scope: tags({
    name: [1, BYTES],
    version: [2, BYTES],
    attributes: [3, BYTES],
    droppedAttributesCount: [4, VARINT],
  }),
  span: tags({
    traceId: [1, BYTES],
    spanId: [2, BYTES],
    parentSpanId: [4, BYTES],
    traceState: [3, BYTES],
    name: [5, BYTES],
    kind: [6, VARINT],
    startTimeUnixNano: [7, FIXED64],
    endTimeUnixNano: [8, FIXED64],
    status: [15, BYTES],
    attributes: [9, BYTES],
    events: [11, BYTES],
    links: [13, BYTES],
    flags: [16, FIXED32],
    droppedAttributesCount: [10, VARINT],
    droppedEventsCount: [12, VARINT],
    droppedLinksCount: [14, VARINT],
  }),
  event: tags({
    timeUnixNano: [1, FIXED64],
    name: [2, BYTES],
    attributes: [3, BYTES],
    droppedAttributesCount: [4, VARINT],
  }),
  link: tags({
    traceId: [1, BYTES],
    spanId: [2, BYTES],
    traceState: [3, BYTES],
    attributes: [4, BYTES],
    flags: [6, FIXED32],
    droppedAttributesCount: [5, VARINT],
  }),
  status: tags({ message: [2, BYTES], code: [3, VARINT] }),
  keyValue: tags({ key: [1, BYTES], value: [2, BYTES] }),
  value: tags({
    stringValue: [1, BYTES],
    boolValue: [2, VARINT],
    intValue: [3, VARINT],
    doubleValue: [4, FIXED64],
    arrayValue: [5, BYTES],
    kvlistValue: [6, BYTES],
    bytesValue: [7, BYTES],
  }),
  /** ArrayValue and KeyValueList. */
  values: tags({ values: [1, BYTES] }),
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
