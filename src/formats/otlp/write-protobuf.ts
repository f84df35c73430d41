// OTLP's ExportTraceServiceRequest in protobuf. The lengths of the enclosing messages are known only at the end, so room
// is left before the first span and the head is written backwards into it: spans are never moved for it.

import type { Resource } from '../../collector/reporter.js';
import type { SpanRecord } from '../../trace/record.js';
import type { ByteWriter } from './byte-writer.js';
import type { OtlpFormat } from './format.js';
import { LIBRARY_NAME, LIBRARY_VERSION, resourceProperties } from './library.js';
import { BYTES, beginMessage, endMessage, tag, varintSize, writeString, writeVarint32 } from './protobuf-writer.js';
import { writeSpanFields } from './write-protobuf-span.js';
import { writeProperties } from './write-protobuf-value.js';

/** ExportTraceServiceRequest */
const RESOURCE_SPANS = tag(1, BYTES);
/** ResourceSpans */
const RESOURCE = tag(1, BYTES);
const SCOPE_SPANS = tag(2, BYTES);
/** ScopeSpans */
const SCOPE = tag(1, BYTES);
const SPANS = tag(2, BYTES);
/** Resource */
const RESOURCE_ATTRIBUTES = tag(1, BYTES);
/** InstrumentationScope */
const SCOPE_NAME = tag(1, BYTES);
const SCOPE_VERSION = tag(2, BYTES);

/** A tag and the longest length of a message. */
const HEAD_ROOM = 6;

const encodeResource = (writer: ByteWriter, resource: Resource): Buffer => {
  writer.at = 0;
  writer.ensure(64);
  writer.bytes[writer.at++] = RESOURCE;
  const start = beginMessage(writer, 2);
  writeProperties(writer, RESOURCE_ATTRIBUTES, resourceProperties(resource));
  endMessage(writer, start, 2);
  return writer.copy(0, writer.at);
};

const encodeScope = (writer: ByteWriter): Buffer => {
  writer.at = 0;
  writer.ensure(64);
  writer.bytes[writer.at++] = SCOPE;
  const start = beginMessage(writer, 1);
  writeString(writer, SCOPE_NAME, LIBRARY_NAME);
  writeString(writer, SCOPE_VERSION, LIBRARY_VERSION);
  endMessage(writer, start, 1);
  return writer.copy(0, writer.at);
};

export class ProtobufFormat implements OtlpFormat {
  readonly contentType = 'application/x-protobuf';
  readonly endBytes = 0;
  private resource: Buffer = Buffer.alloc(0);
  private scope: Buffer = Buffer.alloc(0);
  private spansStart = 0;

  begin(writer: ByteWriter, resource: Resource): void {
    this.resource = encodeResource(writer, resource);
    this.scope = encodeScope(writer);
    this.spansStart = HEAD_ROOM + this.resource.length + HEAD_ROOM + this.scope.length;
    writer.at = 0;
    writer.ensure(this.spansStart);
    writer.at = this.spansStart;
  }

  span(writer: ByteWriter, span: SpanRecord): void {
    writer.ensure(HEAD_ROOM);
    writer.bytes[writer.at++] = SPANS;
    const isSmall = span.propertyList === null && span.events.length === 0 && span.name.length < 50;
    const guess = isSmall ? 1 : 2;
    const start = beginMessage(writer, guess);
    writeSpanFields(writer, span);
    endMessage(writer, start, guess);
  }

  end(writer: ByteWriter): number {
    const { resource, scope } = this;
    const end = writer.at;
    const scopeSpans = scope.length + end - this.spansStart;
    const resourceSpans = resource.length + 1 + varintSize(scopeSpans) + scopeSpans;
    const start = end - resourceSpans - varintSize(resourceSpans) - 1;
    writer.at = start;
    writer.bytes[writer.at++] = RESOURCE_SPANS;
    writeVarint32(writer, resourceSpans);
    resource.copy(writer.bytes, writer.at);
    writer.at += resource.length;
    writer.bytes[writer.at++] = SCOPE_SPANS;
    writeVarint32(writer, scopeSpans);
    scope.copy(writer.bytes, writer.at);
    writer.at = end;
    return start;
  }
}
