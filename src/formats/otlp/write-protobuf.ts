// OTLP's ExportTraceServiceRequest in protobuf. The lengths of the enclosing messages are known only at the end, so room
// is left before the first span and the head is written backwards into it: spans are never moved for it.

import { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { ArchivedResource, ArchivedScope } from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';
import * as Field from './fields.js';
import { beginMessage, endMessage, varintSize, writeCount, writeString, writeVarint32 } from './protobuf-writer.js';
import type { OtlpFormat, ScopedSpans } from './request-builder.js';
import { writeSpanFields } from './write-protobuf-span.js';
import { writeProperties } from './write-protobuf-value.js';
import { RowPropertyWriter } from './write-row-properties.js';

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
  if (schemaUrl) writeString(writer, Field.SCHEMA_URL, schemaUrl);
  return writer.copy(0, writer.length);
};

const encodeResource = (
  writer: ByteWriter,
  { properties, schemaUrl, droppedAttributesCount = 0 }: ArchivedResource,
): Buffer =>
  encodePart(writer, Field.RESOURCE, schemaUrl, () => {
    writeProperties(writer, Field.RESOURCE_ATTRIBUTES, new ObjectProperties().of(properties));
    writeCount(writer, Field.RESOURCE_DROPPED, droppedAttributesCount);
  });

const encodeScope = (
  writer: ByteWriter,
  { name, version, properties, schemaUrl, droppedAttributesCount = 0 }: ArchivedScope,
): Buffer =>
  encodePart(writer, Field.SCOPE, schemaUrl, () => {
    if (name !== '') writeString(writer, Field.SCOPE_NAME, name);
    if (version !== '') writeString(writer, Field.SCOPE_VERSION, version);
    writeProperties(writer, Field.SCOPE_ATTRIBUTES, new ObjectProperties().of(properties));
    writeCount(writer, Field.SCOPE_DROPPED, droppedAttributesCount);
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
    writer.bytes[writer.length++] = Field.SPANS;
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
    writer.byte(Field.RESOURCE_SPANS);
    writer.reserve(HEAD_ROOM);
    writeVarint32(
      writer,
      sizes.reduce((sum, size) => sum + 1 + varintSize(size) + size, this.#resource.length),
    );
    writer.raw(this.#resource);
    groups.forEach(({ spans }, i) => {
      writer.byte(Field.SCOPE_SPANS);
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
    const resourceSpans = resource.length + 1 + varintSize(scopeSpans) + scopeSpans;
    const start = end - resourceSpans - varintSize(resourceSpans) - 1;
    writer.length = start;
    writer.bytes[writer.length++] = Field.RESOURCE_SPANS;
    writeVarint32(writer, resourceSpans);
    resource.copy(writer.bytes, writer.length);
    writer.length += resource.length;
    writer.bytes[writer.length++] = Field.SCOPE_SPANS;
    writeVarint32(writer, scopeSpans);
    scope.copy(writer.bytes, writer.length);
    writer.length = end;
    return start;
  }
}
