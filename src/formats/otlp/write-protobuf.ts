// OTLP's ExportTraceServiceRequest in protobuf: spans straight from their numbers, and requests of them. Fields that hold proto3's default are left out, as
// the format asks. The lengths of the enclosing messages are known only at the end, so room is left before the first span and the head is written
// backwards into it: spans are never moved for it.
import {
  ByteWriter,
  beginMessage,
  endMessage,
  varintLength,
  writeCount,
  writeString,
  writeUnixNanos,
  writeVarint32,
} from '../../base/bytes/byte-writer.js';
import type { ArchivedResource, ArchivedScope } from '../../record/archived-span.js';
import type { FinishedEvent, FinishedLink, FinishedSpan } from '../../record/finished-span.js';
import { RowProperties } from '../../record/row-view.js';
import { KIND_NUMBERS, type OtlpFormat, type ScopedSpans, STATUS_NUMBERS, TAGS } from './messages.js';
import { RowPropertyWriter, writeOwnProperties, writeProperties } from './write-protobuf-properties.js';

const {
  span: Span,
  event: Event,
  link: Link,
  status: Status,
  resourceSpans: ResourceSpans,
  resource: Resource,
  scopeSpans: ScopeSpans,
  scope: Scope,
  traces: Traces,
} = TAGS;

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
  writer.bytes[writer.length++] = Span.events;
  const guess = properties.size === 0 ? 1 : 2;
  const start = beginMessage(writer, guess);
  writer.bytes[writer.length++] = Event.timeUnixNano;
  writeUnixNanos(writer, event.sec, event.nano);
  writeString(writer, Event.name, event.name);
  writeProperties(writer, Event.attributes, properties);
  writeCount(writer, Event.droppedAttributesCount, event.droppedAttributesCount);
  endMessage(writer, start, guess);
};

const writeIds = (writer: ByteWriter, span: FinishedSpan | FinishedLink): void => {
  writer.bytes[writer.length++] = Span.traceId;
  writer.bytes[writer.length++] = 16;
  writeId(writer, span.trace0, span.trace1);
  writeId(writer, span.trace2, span.trace3);
  writer.bytes[writer.length++] = Span.spanId;
  writer.bytes[writer.length++] = 8;
  writeId(writer, span.idHi, span.idLo);
};

const writeLink = (writer: ByteWriter, link: FinishedLink): void => {
  const { properties, traceState, flags } = link;
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = Span.links;
  const guess = properties.size === 0 ? 1 : 2;
  const start = beginMessage(writer, guess);
  writeIds(writer, link);
  if (flags !== 0) {
    writer.bytes[writer.length++] = Link.flags;
    writer.uint32(flags);
  }
  if (traceState !== '') writeString(writer, Span.traceState, traceState);
  writeProperties(writer, Link.attributes, properties);
  writeCount(writer, Link.droppedAttributesCount, link.droppedAttributesCount);
  endMessage(writer, start, guess);
};

const writeStatus = (writer: ByteWriter, code: number, message: string): void => {
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = Span.status;
  const start = beginMessage(writer, 1);
  if (message !== '') writeString(writer, Status.message, message);
  writer.bytes[writer.length++] = Status.code;
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
    bytes[writer.length++] = Span.parentSpanId;
    bytes[writer.length++] = 8;
    writeId(writer, parentHi, parentLo);
  }
  bytes[writer.length++] = Span.kind;
  bytes[writer.length++] = KIND_NUMBERS[span.kind];
  bytes[writer.length++] = Span.startTimeUnixNano;
  writeUnixNanos(writer, span.startSec, span.startNano);
  bytes[writer.length++] = Span.endTimeUnixNano;
  writeUnixNanos(writer, span.endSec, span.endNano);
  const { flags } = span;
  if (flags !== 0) {
    bytes[writer.length++] = (Span.flags & 0x7f) | 0x80;
    bytes[writer.length++] = Span.flags >> 7;
    writer.uint32(flags);
  }
  writeString(writer, Span.name, span.name);
  const { traceState, eventCount, linkCount, statusCode, statusMessage } = span;
  if (traceState !== '') writeString(writer, Span.traceState, traceState);
  const { properties } = span;
  if (properties instanceof RowProperties) rowProperties.write(writer, Span.attributes, properties);
  else writeProperties(writer, Span.attributes, properties);
  for (let i = 0; i < eventCount; i++) writeEvent(writer, span.event(i));
  for (let i = 0; i < linkCount; i++) writeLink(writer, span.link(i));
  if (statusCode !== 'unset' || statusMessage !== '') writeStatus(writer, STATUS_NUMBERS[statusCode], statusMessage);
  writeCount(writer, Span.droppedAttributesCount, span.droppedAttributesCount);
  writeCount(writer, Span.droppedEventsCount, span.droppedEventsCount);
  writeCount(writer, Span.droppedLinksCount, span.droppedLinksCount);
};

/** A tag and the longest length of a message. */
const HEAD_ROOM = 6;

/** A message of its own: where the reader shows it is told by `fieldTag`. The schema URL stands behind what it describes. */
const encodePart = (
  writer: ByteWriter,
  fieldTag: number,
  schemaUrl: string | undefined,
  writeFields: () => void,
): Buffer => {
  writer.length = 0;
  writer.reserve(64);
  writer.bytes[writer.length++] = fieldTag;
  const start = beginMessage(writer, 2);
  writeFields();
  endMessage(writer, start, 2);
  if (schemaUrl) writeString(writer, ResourceSpans.schemaUrl, schemaUrl);
  return writer.copy(0, writer.length);
};

const encodeResource = (
  writer: ByteWriter,
  { properties, schemaUrl, droppedAttributesCount = 0 }: ArchivedResource,
): Buffer =>
  encodePart(writer, ResourceSpans.resource, schemaUrl, () => {
    writeOwnProperties(writer, Resource.attributes, properties);
    writeCount(writer, Resource.droppedAttributesCount, droppedAttributesCount);
  });

const encodeScope = (
  writer: ByteWriter,
  { name, version, properties, schemaUrl, droppedAttributesCount = 0 }: ArchivedScope,
): Buffer =>
  encodePart(writer, ScopeSpans.scope, schemaUrl, () => {
    if (name !== '') writeString(writer, Scope.name, name);
    if (version !== '') writeString(writer, Scope.version, version);
    writeOwnProperties(writer, Scope.attributes, properties);
    writeCount(writer, Scope.droppedAttributesCount, droppedAttributesCount);
  });

export class ProtobufFormat implements OtlpFormat {
  readonly contentType = 'application/x-protobuf';
  readonly endBytes = 0;
  readonly separatorBytes = 0;
  #resource: Buffer = Buffer.alloc(0);
  #scope: Buffer = Buffer.alloc(0);
  #spansStart = 0;
  readonly #rowProperties = new RowPropertyWriter();
  // Where the last span ended. A span that does not begin there follows one that failed or was taken back.
  #end = 0;

  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void {
    this.#resource = encodeResource(writer, resource);
    this.#scope = encodeScope(writer, scope);
    this.#spansStart = HEAD_ROOM + this.#resource.length + HEAD_ROOM + this.#scope.length;
    writer.length = 0;
    writer.reserve(this.#spansStart);
    writer.length = this.#spansStart;
    this.#rowProperties.forget();
    this.#end = writer.length;
  }

  span(writer: ByteWriter, span: FinishedSpan): void {
    if (writer.length !== this.#end) this.#rowProperties.forget();
    this.#end = -1;
    writer.reserve(HEAD_ROOM);
    writer.bytes[writer.length++] = ScopeSpans.spans;
    const isSmall = span.properties.size === 0 && span.eventCount === 0 && span.name.length < 50;
    const guess = isSmall ? 1 : 2;
    const start = beginMessage(writer, guess);
    writeSpanFields(writer, span, this.#rowProperties);
    this.#rowProperties.settle(endMessage(writer, start, guess));
    this.#end = writer.length;
  }

  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void {
    const part = new ByteWriter();
    const heads = groups.map(({ scope }) => encodeScope(part, scope));
    const sizes = groups.map(({ spans }, i) => spans.reduce((sum, { length }) => sum + length, heads[i].length));
    writer.byte(Traces.resourceSpans);
    writer.reserve(HEAD_ROOM);
    writeVarint32(
      writer,
      sizes.reduce((sum, size) => sum + 1 + varintLength(size) + size, this.#resource.length),
    );
    writer.raw(this.#resource);
    groups.forEach(({ spans }, i) => {
      writer.byte(ResourceSpans.scopeSpans);
      writer.reserve(HEAD_ROOM);
      writeVarint32(writer, sizes[i]);
      writer.raw(heads[i]);
      for (const bytes of spans) writer.raw(bytes);
    });
  }

  end(writer: ByteWriter): number {
    const resource = this.#resource;
    const scope = this.#scope;
    const end = writer.length;
    const scopeSpans = scope.length + end - this.#spansStart;
    const resourceSpans = resource.length + 1 + varintLength(scopeSpans) + scopeSpans;
    const start = end - resourceSpans - varintLength(resourceSpans) - 1;
    writer.length = start;
    writer.bytes[writer.length++] = Traces.resourceSpans;
    writeVarint32(writer, resourceSpans);
    resource.copy(writer.bytes, writer.length);
    writer.length += resource.length;
    writer.bytes[writer.length++] = ResourceSpans.scopeSpans;
    writeVarint32(writer, scopeSpans);
    scope.copy(writer.bytes, writer.length);
    writer.length = end;
    return start;
  }
}
