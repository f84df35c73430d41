// OTLP's messages in protobuf, read by the table of their fields. A sender is not trusted: nothing is taken by its word, one bad span does not cost
// the others, and recursion is bounded by the context.
import { TAGS } from 'spanline/internal/formats';
import { type ArchivedValue, doubleValue, PropertyDraft } from 'spanline/internal/record';
import {
  DecodeContext,
  type DecodedTraces,
  type DecodeLimits,
  type KnownParts,
  newKnownParts,
  type SharedParts,
} from '../decode-context.js';
import {
  ANY_VALUE,
  type Enum,
  type Field,
  idOf,
  type Message,
  makerOnce,
  NOTHING,
  nameOf,
  RESOURCE,
  RESOURCE_SPANS,
  SCOPE,
  SCOPE_SPANS,
  SPAN,
  type Table,
} from './messages.js';
import { ProtobufReader } from './protobuf-reader.js';

const { key: KEY, value: VALUE } = TAGS.keyValue;
const { values: LIST_VALUES } = TAGS.values;

/** Calls `read` for each field of this tag in the message that begins here. */
const readEach = (reader: ProtobufReader, tag: number, read: () => void): void => {
  const outer = reader.enter();
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === tag) read();
    else reader.skip(field);
  }
  reader.leave(outer);
};

const readContent = (
  reader: ProtobufReader,
  { kind, tag }: Field,
  context: DecodeContext,
  depth: number,
): ArchivedValue => {
  switch (kind) {
    case 'text':
      return reader.text();
    case 'bool':
      return reader.int64() !== 0;
    case 'integer':
      return reader.int64();
    case 'double':
      return doubleValue(reader.double());
    case 'bytes':
      return reader.blob();
    default: {
      if (depth >= context.maxDepth) {
        context.flaw('values nested too deep');
        reader.skip(tag);
        return null;
      }
      const list: ArchivedValue[] = [];
      const map = new PropertyDraft();
      readEach(reader, LIST_VALUES, () => {
        if (kind === 'array') list.push(readValue(reader, context, depth + 1));
        else readPair(reader, context, map, depth + 1);
      });
      return kind === 'array' ? list : map.done();
    }
  }
};

/** The message AnyValue; one without content is null: the key is kept. */
const readValue = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  const outer = reader.enter();
  let value: ArchivedValue = null;
  while (reader.hasMore) {
    const tag = reader.tag();
    const field = ANY_VALUE.byTag[tag];
    if (field === undefined) reader.skip(tag);
    else value = readContent(reader, field, context, depth);
  }
  reader.leave(outer);
  return value;
};

/** The message KeyValue, into `properties`. */
const readPair = (reader: ProtobufReader, context: DecodeContext, properties: PropertyDraft, depth: number): void => {
  const outer = reader.enter();
  let key = '';
  let value: ArchivedValue | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === KEY) key = reader.text();
    else if (tag === VALUE) value = readValue(reader, context, depth);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (value === undefined) {
    context.item();
    value = null;
  }
  if (!properties.set(key, value)) context.flaw('a key comes twice');
};

/** A field that comes once a message. */
const readField = (reader: ProtobufReader, field: Field, context: DecodeContext): unknown => {
  switch (field.kind) {
    case 'id':
      return idOf(field, reader.hex(), context);
    case 'nanos':
      return reader.fixed64();
    case 'text':
      return reader.text();
    case 'flags':
      return reader.fixed32();
    case 'enum':
      return nameOf(field.enum as Enum, reader.uint32(), context);
    case 'message':
      return readMessage(reader, field.message as Message<object>, context);
    default:
      return reader.uint32();
  }
};

/** Of a field that does not repeat the last one counts; a bad one before it refuses the span all the same. */
const readMessage = <T extends object>(reader: ProtobufReader, message: Message<T>, context: DecodeContext): T => {
  const outer = reader.enter();
  const made = message.make();
  const draft = made as Record<string, unknown>;
  let properties: PropertyDraft | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    const field = message.byTag[tag];
    if (field === undefined) reader.skip(tag);
    else if (field.kind === 'attributes') {
      properties ??= new PropertyDraft();
      readPair(reader, context, properties, 0);
    } else if (field.kind === 'messages') {
      context.item();
      if (draft[field.to] === NOTHING) draft[field.to] = [];
      (draft[field.to] as object[]).push(readMessage(reader, field.message as Message<object>, context));
    } else {
      const value = readField(reader, field, context);
      // Counts and flags of nothing are left out.
      if (value !== 0) draft[field.to] = value;
      else delete draft[field.to];
    }
  }
  reader.leave(outer);
  if (properties !== undefined) draft.properties = properties.done();
  message.finish?.(made);
  return made;
};

/** A message with a maker, which may stand behind what it made, as may its schema URL. The last one counts. */
const readGroup = <T extends { schemaUrl?: string }>(
  reader: ProtobufReader,
  context: DecodeContext,
  { fields: [maker, members, schema] }: Table,
  message: Message<T>,
  makers: SharedParts<T>,
  readMember: (made: T) => void,
): void => {
  const outer = reader.enter();
  const start = reader.at;
  let place = -1;
  let raw = '';
  let schemaUrl = '';
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === maker.tag) {
      place = reader.at;
      raw = reader.raw();
    } else if (tag === schema.tag) schemaUrl = reader.text();
    else reader.skip(tag);
  }
  // Its text is that of another one, which is good.
  const isBadUrl = reader.takeBadText();
  const made = makerOnce(makers, context, `${isBadUrl ? '\0' : ''}${schemaUrl}\n${raw}`, schemaUrl, () => {
    reader.at = place;
    const read = place < 0 ? message.make() : readMessage(reader, message, context);
    if (reader.takeBadText() || isBadUrl) context.flaw('text is not UTF-8');
    return read;
  });
  reader.at = start;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === members.tag) readMember(made);
    else reader.skip(tag);
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
    const tag = reader.tag();
    if (tag !== TAGS.traces.resourceSpans) reader.skip(tag);
    else
      readGroup(reader, context, RESOURCE_SPANS, RESOURCE, known.resources, (resource) =>
        readGroup(reader, context, SCOPE_SPANS, SCOPE, known.scopes, (scope) => {
          context.item();
          const span = readMessage(reader, SPAN, context);
          if (reader.takeBadText()) context.flaw('text is not UTF-8');
          span.resource = resource;
          span.scope = scope;
          context.take(span);
        }),
      );
  }
  return context.done();
};
