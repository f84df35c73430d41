// OTLP's ExportTraceServiceRequest and TracesData in OTLP/JSON as archived spans: ids in hex, 64-bit numbers as text or number, unknown
// members ignored. One bad span does not cost the others.
//
// OTLP's KeyValue and AnyValue in JSON as archived values. Recursion is bounded by the context, not by the sender.
import { doubleValue } from '../../record/archived-double.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedValue,
} from '../../record/archived-span.js';
import { type Extras, extrasOf } from '../../record/finished-span.js';
import { NO_PROPERTIES, PropertyDraft } from '../../record/properties.js';
import {
  DecodeContext,
  type DecodedTraces,
  type DecodeLimits,
  type KnownParts,
  NO_SPAN_ID,
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
import { KINDS, kindOf, STATUS_CODES, statusCodeOf } from './kinds.js';

const MEMBERS = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'];

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

const toNested = (value: unknown, context: DecodeContext, depth: number, isMap: boolean): ArchivedValue => {
  if (depth >= context.maxDepth) {
    context.flaw('values nested too deep');
    return '';
  }
  const values = listOf(toObject(value, isMap ? 'kvlistValue' : 'arrayValue'), 'values');
  return isMap ? toProperties(values, context, depth + 1) : values.map((item) => toValue(item, context, depth + 1));
};

/** The one member of a value; one without content is null: the key is kept. */
const toValue = (raw: unknown, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  if (raw === undefined || raw === null) return null;
  const value = toObject(raw, 'value');
  const { stringValue, boolValue, intValue, doubleValue: double, arrayValue, kvlistValue, bytesValue } = value;
  if (MEMBERS.filter((member) => value[member] != null).length > 1)
    throw malformed('a value has several members, of which only one may be there');
  if (stringValue != null) return toText(stringValue, 'stringValue');
  if (intValue != null) return toInt64(intValue);
  if (boolValue != null) return toBool(boolValue);
  if (double != null) return doubleValue(finite(toDouble(double, 'doubleValue'), double));
  if (arrayValue != null) return toNested(arrayValue, context, depth, false);
  if (kvlistValue != null) return toNested(kvlistValue, context, depth, true);
  if (bytesValue != null) return toBytes(bytesValue, 'bytesValue');
  return null;
};

const toProperties = (
  list: readonly unknown[],
  context: DecodeContext,
  depth: number,
): Record<string, ArchivedValue> => {
  const properties = new PropertyDraft();
  for (const item of list) {
    const pair = toObject(item, 'an attribute');
    if (!properties.set(textOf(pair, 'key'), toValue(pair.value, context, depth))) context.flaw('a key comes twice');
  }
  return properties.done();
};

/** The member `attributes`; a new object. */
export const attributesOf = (holder: JsonObject, context: DecodeContext): Record<string, ArchivedValue> =>
  toProperties(listOf(holder, 'attributes'), context, 0);

/** Counts and flags, those that say something. */
const countsOf = (holder: JsonObject, ...fields: readonly (keyof Extras)[]): Extras =>
  extrasOf(Object.fromEntries(fields.map((field) => [field, uint32Of(holder, field)])));

const propertiesOf = (holder: JsonObject, context: DecodeContext): ArchivedProperties => {
  const properties = attributesOf(holder, context);
  return Object.keys(properties).length === 0 ? NO_PROPERTIES : properties;
};

/** OTLP asks for numbers; senders that use protobuf's own JSON write the names. -1 for what is neither. */
const enumOf = (holder: JsonObject, key: string, prefix: string, names: readonly string[]): number => {
  const value = holder[key];
  if (value === undefined || value === null) return 0;
  if (typeof value === 'string' && value.startsWith(prefix)) {
    const name = value.slice(prefix.length).toLowerCase();
    return names.indexOf(name);
  }
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : -1;
};

const eventOf = (raw: unknown, context: DecodeContext): ArchivedEvent => {
  context.item();
  const event = toObject(raw, 'an event');
  return {
    name: textOf(event, 'name'),
    timeUnixNs: uint64Of(event, 'timeUnixNano'),
    properties: propertiesOf(event, context),
    ...countsOf(event, 'droppedAttributesCount'),
  };
};

/** OpenTelemetry allows links to nothing, whose ids are left out or zero. */
const linkIdOf = (link: JsonObject, key: string, digits: number, context: DecodeContext): string => {
  const id = hexOf(link, key);
  if (id === '') return '0'.repeat(digits);
  if (id.length !== digits) context.flaw('bad link');
  return id;
};

const linkOf = (raw: unknown, context: DecodeContext): ArchivedLink => {
  context.item();
  const link = toObject(raw, 'a link');
  return {
    traceId: linkIdOf(link, 'traceId', 32, context),
    spanId: linkIdOf(link, 'spanId', 16, context),
    traceState: textOf(link, 'traceState'),
    properties: propertiesOf(link, context),
    ...countsOf(link, 'flags', 'droppedAttributesCount'),
  };
};

const UNSET = Object.freeze({ code: 'unset', message: '' } as const);

const statusOf = (span: JsonObject, context: DecodeContext): ArchivedSpan['status'] => {
  const status = objectOf(span, 'status');
  if (status === undefined) return UNSET;
  const code = statusCodeOf(enumOf(status, 'code', 'STATUS_CODE_', STATUS_CODES), context);
  return { code, message: textOf(status, 'message') };
};

const parentOf = (span: JsonObject, context: DecodeContext): string => {
  const parent = hexOf(span, 'parentSpanId');
  if (parent === NO_SPAN_ID) return '';
  if (parent !== '' && parent.length !== 16) context.flaw('bad parent span id');
  return parent;
};

const readSpan = (raw: unknown, context: DecodeContext, resource: ArchivedResource, scope: ArchivedScope): void => {
  context.item();
  const span = toObject(raw, 'a span');
  context.take({
    traceId: hexOf(span, 'traceId'),
    spanId: hexOf(span, 'spanId'),
    parentSpanId: parentOf(span, context),
    traceState: textOf(span, 'traceState'),
    name: textOf(span, 'name'),
    kind: kindOf(enumOf(span, 'kind', 'SPAN_KIND_', KINDS), context),
    startUnixNs: uint64Of(span, 'startTimeUnixNano'),
    endUnixNs: uint64Of(span, 'endTimeUnixNano'),
    status: statusOf(span, context),
    properties: propertiesOf(span, context),
    events: listOf(span, 'events').map((event) => eventOf(event, context)),
    links: listOf(span, 'links').map((link) => linkOf(link, context)),
    resource,
    scope,
    ...countsOf(span, 'flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'),
  });
};

/** Keep the span in the context, or refuse it there. */
const takeSpan = (raw: unknown, context: DecodeContext, resource: ArchivedResource, scope: ArchivedScope): void => {
  try {
    readSpan(raw, context, resource, scope);
  } catch (error) {
    context.refuse(error);
  }
};

/** A part that was read before, maybe for another request, is not made again. */
const readOnce = <T extends object>(
  raw: JsonObject | undefined,
  schemaUrl: string,
  known: SharedParts<T>,
  context: DecodeContext,
  make: (part: JsonObject, extras: Extras) => T,
): T => {
  const key = JSON.stringify([raw ?? {}, schemaUrl]);
  const found = known.get(key);
  if (found !== undefined) return found;
  let made: T;
  try {
    made = make(raw ?? {}, extrasOf({ ...countsOf(raw ?? {}, 'droppedAttributesCount'), schemaUrl }));
  } catch (error) {
    // It costs the spans that share it, and no others.
    context.flawBy(error);
    made = make({}, {});
  }
  context.shared(made);
  if (context.isSound(made)) known.set(key, made);
  return made;
};

/** The spans of a parsed document: kept in the context, or refused there. */
export const readOtlp = (document: unknown, context: DecodeContext, known: KnownParts): void => {
  const request = toObject(document, 'the document');
  for (const raw of listOf(request, 'resourceSpans')) {
    const resourceSpans = toObject(raw, 'an element of resourceSpans');
    const resource = readOnce(
      objectOf(resourceSpans, 'resource'),
      textOf(resourceSpans, 'schemaUrl'),
      known.resources,
      context,
      (part, extras): ArchivedResource => ({ properties: propertiesOf(part, context), ...extras }),
    );
    for (const rawScope of listOf(resourceSpans, 'scopeSpans')) {
      const scopeSpans = toObject(rawScope, 'an element of scopeSpans');
      const scope = readOnce(
        objectOf(scopeSpans, 'scope'),
        textOf(scopeSpans, 'schemaUrl'),
        known.scopes,
        context,
        (part, extras): ArchivedScope => ({
          name: textOf(part, 'name'),
          version: textOf(part, 'version'),
          properties: propertiesOf(part, context),
          ...extras,
        }),
      );
      for (const span of listOf(scopeSpans, 'spans')) takeSpan(span, context, resource, scope);
    }
  }
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
