// OTLP's messages in JSON, read by the table of their fields: ids in hex, 64-bit numbers as text or number, unknown members ignored. One bad span does
// not cost the others. Recursion is bounded by the context, not by the sender.
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
  hexOf,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  toBytes,
  toDouble,
  toInteger,
  toObject,
  toText,
  uint32Of,
  uint64Of,
} from '../json-fields.js';
import { parseJson } from '../parse-json.js';
import { malformed } from '../trace-format-error.js';
import {
  ANY_VALUE,
  type Enum,
  type Field,
  idOf,
  KEY_VALUE,
  type Message,
  makerOnce,
  nameOf,
  RESOURCE,
  RESOURCE_SPANS,
  SCOPE,
  SCOPE_SPANS,
  SPAN,
  type Table,
  TRACES,
  VALUES,
} from './messages.js';

/** Digits that no double holds, such as 1e999, are not taken for infinity. */
const finite = (value: number, written: unknown): number => {
  const isWritten = typeof written === 'string' && /^[+-]?Infinity$|^NaN$/.test(written);
  if (Number.isFinite(value) || isWritten) return value;
  throw malformed('doubleValue must be within the range of a double');
};

const INT64_END = 2n ** 63n;

const toInt64 = (value: unknown): number | bigint => {
  const number = toInteger(value, 'intValue');
  if (typeof number === 'bigint' && (number >= INT64_END || number < -INT64_END))
    throw malformed('intValue must be within 64 bits');
  return number;
};

const toBool = (value: unknown): boolean => {
  if (typeof value !== 'boolean') throw malformed('boolValue must be true or false');
  return value;
};

/** Lists and maps inside each other. */
const toNested = (value: unknown, { kind, name }: Field, context: DecodeContext, depth: number): ArchivedValue => {
  if (depth >= context.maxDepth) {
    context.flaw('values nested too deep');
    return '';
  }
  const values = listOf(toObject(value, name), VALUES.fields[0].name);
  if (kind === 'map') return toPairs(values, context, depth + 1).done();
  return values.map((item) => toValue(item, context, depth + 1));
};

const toContent = (value: unknown, field: Field, context: DecodeContext, depth: number): ArchivedValue => {
  switch (field.kind) {
    case 'text':
      return toText(value, field.name);
    case 'bool':
      return toBool(value);
    case 'integer':
      return toInt64(value);
    case 'double':
      return doubleValue(finite(toDouble(value, field.name), value));
    case 'bytes':
      return toBytes(value, field.name);
    default:
      return toNested(value, field, context, depth);
  }
};

/** The one member of a value; one without content is null: the key is kept. */
const toValue = (raw: unknown, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  if (raw === undefined || raw === null) return null;
  const value = toObject(raw, ANY_VALUE.title);
  let member: Field | undefined;
  for (const field of ANY_VALUE.fields) {
    if (value[field.name] == null) continue;
    if (member !== undefined) throw malformed('a value has several members, of which only one may be there');
    member = field;
  }
  return member === undefined ? null : toContent(value[member.name], member, context, depth);
};

const toPairs = (list: readonly unknown[], context: DecodeContext, depth: number): PropertyDraft => {
  const properties = new PropertyDraft();
  for (const item of list) {
    const pair = toObject(item, KEY_VALUE.title);
    if (!properties.set(textOf(pair, 'key'), toValue(pair.value, context, depth))) context.flaw('a key comes twice');
  }
  return properties;
};

/** OTLP asks for numbers; senders that use protobuf's own JSON write the names. -1 for what is neither. */
const enumOf = (value: unknown, { prefix, names }: Enum): number => {
  if (typeof value === 'string' && value.startsWith(prefix))
    return names.indexOf(value.slice(prefix.length).toLowerCase());
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : -1;
};

const toMessages = (list: readonly unknown[], message: Message<object>, context: DecodeContext): readonly object[] =>
  list.map((raw) => {
    context.item();
    return readMessage(toObject(raw, message.title), message, context);
  });

const readMember = (holder: JsonObject, field: Field, context: DecodeContext): unknown => {
  const { name } = field;
  switch (field.kind) {
    case 'text':
      return textOf(holder, name);
    case 'id':
      return idOf(field, hexOf(holder, name), context);
    case 'nanos':
      return uint64Of(holder, name);
    case 'enum':
      return nameOf(field.enum as Enum, enumOf(holder[name], field.enum as Enum), context);
    case 'attributes':
      return toPairs(listOf(holder, name), context, 0).done();
    case 'message':
      return readMessage(toObject(holder[name], name), field.message as Message<object>, context);
    case 'messages':
      return toMessages(listOf(holder, name), field.message as Message<object>, context);
    default:
      return uint32Of(holder, name);
  }
};

const readMessage = <T extends object>(raw: JsonObject, message: Message<T>, context: DecodeContext): T => {
  const made = message.make();
  for (const field of message.fields) {
    if (raw[field.name] === undefined || raw[field.name] === null) continue;
    const value = readMember(raw, field, context);
    // Counts and flags of nothing are left out.
    if (value !== 0) (made as Record<string, unknown>)[field.to] = value;
  }
  message.finish?.(made);
  return made;
};

/** What reading throws costs the spans that share the maker, or the one span, and no others. */
const readGroup = <T extends { schemaUrl?: string }>(
  raw: unknown,
  context: DecodeContext,
  { title, fields: [maker, members, schema] }: Table,
  message: Message<T>,
  makers: SharedParts<T>,
  readMember: (raw: unknown, made: T) => void,
): void => {
  const holder = toObject(raw, title);
  const rawMaker = objectOf(holder, maker.name) ?? {};
  const url = textOf(holder, schema.name);
  const made = makerOnce(makers, context, JSON.stringify([rawMaker, url]), url, () => {
    try {
      return readMessage(rawMaker, message, context);
    } catch (error) {
      context.flawBy(error);
      return message.make();
    }
  });
  for (const member of listOf(holder, members.name)) readMember(member, made);
};

/** The spans of a parsed document: kept in the context, or refused there. */
export const readOtlp = (document: unknown, context: DecodeContext, known: KnownParts): void => {
  for (const raw of listOf(toObject(document, TRACES.title), TRACES.fields[0].name))
    readGroup(raw, context, RESOURCE_SPANS, RESOURCE, known.resources, (rawScope, resource) =>
      readGroup(rawScope, context, SCOPE_SPANS, SCOPE, known.scopes, (rawSpan, scope) => {
        try {
          context.item();
          const span = readMessage(toObject(rawSpan, SPAN.title), SPAN, context);
          span.resource = resource;
          span.scope = scope;
          context.take(span);
        } catch (error) {
          context.refuse(error);
        }
      }),
    );
};

/**
 * The spans of an OTLP trace request in JSON, or of one line of a file of them. Use it for bodies of `application/json` and to import what
 * `encodeOtlpJson` wrote. A span that cannot be kept is counted in `refused` and `reasons`; the others are in `spans`. Numbers are exact
 * to 64 bits, written as text or as numbers. Entity references, which OpenTelemetry has not settled, are not kept. Throws {@link TraceFormatError} when
 * the bytes are no such document or beyond a bound. Source of the format: opentelemetry-proto, OTLP/JSON.
 *
 * @example
 * ```ts
 * import { decodeOtlpJson } from '@spanline/archive';
 * const { spans } = decodeOtlpJson(Buffer.from('{"resourceSpans":[]}'));
 * console.assert(spans.length === 0);
 * ```
 */
export const decodeOtlpJson = (
  bytes: Uint8Array,
  limits?: DecodeLimits,
  known: KnownParts = newKnownParts(),
): DecodedTraces => {
  const context = new DecodeContext(limits);
  readOtlp(parseJson(bytes, limits), context, known);
  return context.done();
};
