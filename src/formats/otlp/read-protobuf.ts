// OTLP's ExportTraceServiceRequest in protobuf as archived spans. A sender is not trusted: nothing is taken by its word, and one bad
// span does not cost the others.

import type { ArchivedResource, ArchivedScope } from '../../record/archived-span.js';
import { extrasOf } from '../../record/finished-span.js';
import { NO_PROPERTIES, PropertyDraft } from '../../record/properties.js';
import {
  DecodeContext,
  type DecodedTraces,
  type DecodeLimits,
  type KnownParts,
  newKnownParts,
  type SharedParts,
} from '../decode-context.js';
import * as Field from './fields.js';
import { ProtobufReader } from './protobuf-reader.js';
import { readKeyValue, readSpan } from './read-protobuf-span.js';

const readResource = (reader: ProtobufReader, context: DecodeContext, schemaUrl: string): ArchivedResource => {
  const outer = reader.enter();
  const properties = new PropertyDraft();
  let dropped = 0;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.RESOURCE_ATTRIBUTES) readKeyValue(reader, context, properties);
    else if (field === Field.RESOURCE_DROPPED) dropped = reader.uint32();
    else reader.skip(field);
  }
  reader.leave(outer);
  return { properties: properties.done(), ...extrasOf({ droppedAttributesCount: dropped, schemaUrl }) };
};

const readScope = (reader: ProtobufReader, context: DecodeContext, schemaUrl: string): ArchivedScope => {
  const outer = reader.enter();
  let name = '';
  let version = '';
  let dropped = 0;
  const properties = new PropertyDraft();
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.SCOPE_NAME) name = reader.text();
    else if (field === Field.SCOPE_VERSION) version = reader.text();
    else if (field === Field.SCOPE_ATTRIBUTES) readKeyValue(reader, context, properties);
    else if (field === Field.SCOPE_DROPPED) dropped = reader.uint32();
    else reader.skip(field);
  }
  reader.leave(outer);
  return { name, version, properties: properties.done(), ...extrasOf({ droppedAttributesCount: dropped, schemaUrl }) };
};

/** The field `wanted` of the current message, which may stand behind what it describes. The last one counts. */
const findMessage = <T>(reader: ProtobufReader, wanted: number, none: T, read: () => T): T => {
  const start = reader.at;
  let found = none;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === wanted) found = read();
    else reader.skip(field);
  }
  reader.at = start;
  return found;
};

/** A message that was read before, maybe for another request, is not read again. */
const readOnce = <T extends object>(
  reader: ProtobufReader,
  schemaUrl: string,
  known: SharedParts<T>,
  context: DecodeContext,
  read: () => T,
): T => {
  const start = reader.at;
  const key = `${schemaUrl}\n${reader.raw()}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  reader.at = start;
  const made = read();
  if (reader.takeBadText()) context.flaw('text is not UTF-8');
  if (context.isSound(context.shared(made))) known.set(key, made);
  return made;
};

const NO_RESOURCE: ArchivedResource = Object.freeze({ properties: NO_PROPERTIES });
const NO_SCOPE: ArchivedScope = Object.freeze({ name: '', version: '', properties: NO_PROPERTIES });

const readScopeSpans = (
  reader: ProtobufReader,
  context: DecodeContext,
  resource: ArchivedResource,
  known: KnownParts,
): void => {
  const outer = reader.enter();
  const schemaUrl = findMessage(reader, Field.SCHEMA_URL, '', () => reader.text());
  const none = schemaUrl === '' ? NO_SCOPE : { ...NO_SCOPE, schemaUrl };
  const scope = findMessage(reader, Field.SCOPE, none, () =>
    readOnce(reader, schemaUrl, known.scopes, context, () => readScope(reader, context, schemaUrl)),
  );
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.SPANS) readSpan(reader, context, resource, scope);
    else reader.skip(field);
  }
  reader.leave(outer);
};

const readResourceSpans = (reader: ProtobufReader, context: DecodeContext, known: KnownParts): void => {
  const outer = reader.enter();
  const schemaUrl = findMessage(reader, Field.SCHEMA_URL, '', () => reader.text());
  const none = schemaUrl === '' ? NO_RESOURCE : { ...NO_RESOURCE, schemaUrl };
  const resource = findMessage(reader, Field.RESOURCE, none, () =>
    readOnce(reader, schemaUrl, known.resources, context, () => readResource(reader, context, schemaUrl)),
  );
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.SCOPE_SPANS) readScopeSpans(reader, context, resource, known);
    else reader.skip(field);
  }
  reader.leave(outer);
};

/**
 * The spans of an OTLP trace request in protobuf. Use it for bodies of `application/x-protobuf` and for files of `TracesData`, which has
 * the same fields. A span that cannot be kept is counted in `refused` and `reasons`; the others are in `spans`, those of equal resources
 * with one and the same resource object. Entity references, which OpenTelemetry has not settled, are not kept. Throws {@link TraceFormatError} when the
 * bytes are no such message or beyond a bound. Source of the format: opentelemetry-proto, trace/v1.
 *
 * @example
 * ```ts
 * import { decodeOtlpProtobuf } from '@spanline/archive';
 * const { spans, refused } = decodeOtlpProtobuf(Buffer.alloc(0));
 * console.assert(spans.length === 0 && refused === 0);
 * ```
 */
export const decodeOtlpProtobuf = (
  bytes: Uint8Array,
  limits?: DecodeLimits,
  known: KnownParts = newKnownParts(),
): DecodedTraces => {
  const context = new DecodeContext(limits);
  const reader = new ProtobufReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.RESOURCE_SPANS) readResourceSpans(reader, context, known);
    else reader.skip(field);
  }
  return context.done();
};
