// OTLP's messages Span, Event, Link and Status in protobuf, as an archived span.
//
// OTLP's KeyValue and AnyValue messages as archived values. Recursion is bounded by the context, not by the sender.
import { doubleValue } from '../../record/archived-double.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedValue,
} from '../../record/archived-span.js';
import { extrasOf } from '../../record/finished-span.js';
import { NO_PROPERTIES, PropertyDraft } from '../../record/properties.js';
import { type DecodeContext, NO_SPAN_ID } from '../decode-context.js';
import * as Field from './fields.js';
import { kindOf, statusCodeOf } from './kinds.js';
import type { ProtobufReader } from './protobuf-reader.js';

/** The message AnyValue. */
const readValue = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  const outer = reader.enter();
  // Without content, as OTLP allows: the key is kept.
  let value: ArchivedValue = null;
  while (reader.hasMore) {
    const field = reader.tag();
    switch (field) {
      case Field.STRING_VALUE:
        value = reader.text();
        break;
      case Field.BOOL_VALUE:
        value = reader.int64() !== 0;
        break;
      case Field.INT_VALUE:
        value = reader.int64();
        break;
      case Field.DOUBLE_VALUE:
        value = doubleValue(reader.double());
        break;
      case Field.ARRAY_VALUE:
      case Field.KEY_VALUE_LIST:
        if (depth >= context.maxDepth) {
          context.flaw('values nested too deep');
          reader.skip(field);
        } else
          value =
            field === Field.ARRAY_VALUE ? readArray(reader, context, depth + 1) : readMap(reader, context, depth + 1);
        break;
      case Field.BYTES_VALUE:
        value = reader.blob();
        break;
      default:
        reader.skip(field);
    }
  }
  reader.leave(outer);
  return value;
};

const readArray = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  const outer = reader.enter();
  const values: ArchivedValue[] = [];
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.VALUES) values.push(readValue(reader, context, depth));
    else reader.skip(field);
  }
  reader.leave(outer);
  return values;
};

const readMap = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  const outer = reader.enter();
  const properties = new PropertyDraft();
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.VALUES) readKeyValue(reader, context, properties, depth);
    else reader.skip(field);
  }
  reader.leave(outer);
  return properties.done();
};

/** The message KeyValue, into `properties`. */
export const readKeyValue = (
  reader: ProtobufReader,
  context: DecodeContext,
  properties: PropertyDraft,
  depth = 0,
): void => {
  const outer = reader.enter();
  let key = '';
  let value: ArchivedValue | undefined;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.KEY) key = reader.text();
    else if (field === Field.VALUE) value = readValue(reader, context, depth);
    else reader.skip(field);
  }
  reader.leave(outer);
  if (value === undefined) {
    context.item();
    value = null;
  }
  if (!properties.set(key, value)) context.flaw('a key comes twice');
};

const NO_EVENTS: readonly ArchivedEvent[] = Object.freeze([]);
const NO_LINKS: readonly ArchivedLink[] = Object.freeze([]);
const UNSET = Object.freeze({ code: 'unset', message: '' } as const);

const readStatus = (reader: ProtobufReader, context: DecodeContext): ArchivedSpan['status'] => {
  const outer = reader.enter();
  let code = 0;
  let message = '';
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.STATUS_MESSAGE) message = reader.text();
    else if (field === Field.STATUS_CODE) code = reader.uint32();
    else reader.skip(field);
  }
  reader.leave(outer);
  return code === 0 && message === '' ? UNSET : { code: statusCodeOf(code, context), message };
};

const readEvent = (reader: ProtobufReader, context: DecodeContext): ArchivedEvent => {
  context.item();
  const outer = reader.enter();
  let name = '';
  let timeUnixNs = 0n;
  let dropped = 0;
  let properties: PropertyDraft | undefined;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.EVENT_TIME) timeUnixNs = reader.fixed64();
    else if (field === Field.EVENT_NAME) name = reader.text();
    else if (field === Field.EVENT_ATTRIBUTES) {
      properties ??= new PropertyDraft();
      readKeyValue(reader, context, properties);
    } else if (field === Field.EVENT_DROPPED) dropped = reader.uint32();
    else reader.skip(field);
  }
  reader.leave(outer);
  const extras = extrasOf({ droppedAttributesCount: dropped });
  return { name, timeUnixNs, properties: properties?.done() ?? NO_PROPERTIES, ...extras };
};

/** OpenTelemetry allows links to nothing, whose ids are left out or zero. */
const linkId = (hex: string, digits: number, context: DecodeContext): string => {
  if (hex === '') return '0'.repeat(digits);
  if (hex.length !== digits) context.flaw('bad link');
  return hex;
};

const readLink = (reader: ProtobufReader, context: DecodeContext): ArchivedLink => {
  context.item();
  const outer = reader.enter();
  let traceId = '';
  let spanId = '';
  let traceState = '';
  let dropped = 0;
  let flags = 0;
  let properties: PropertyDraft | undefined;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.TRACE_ID) traceId = reader.hex();
    else if (field === Field.SPAN_ID) spanId = reader.hex();
    else if (field === Field.TRACE_STATE) traceState = reader.text();
    else if (field === Field.LINK_ATTRIBUTES) {
      properties ??= new PropertyDraft();
      readKeyValue(reader, context, properties);
    } else if (field === Field.LINK_DROPPED) dropped = reader.uint32();
    else if (field === Field.LINK_FLAGS) flags = reader.fixed32();
    else reader.skip(field);
  }
  reader.leave(outer);
  return {
    traceId: linkId(traceId, 32, context),
    spanId: linkId(spanId, 16, context),
    traceState,
    properties: properties?.done() ?? NO_PROPERTIES,
    ...extrasOf({ flags, droppedAttributesCount: dropped }),
  };
};

/** The message Span: kept in the context, or refused there. */
export const readSpan = (
  reader: ProtobufReader,
  context: DecodeContext,
  resource: ArchivedResource,
  scope: ArchivedScope,
): void => {
  context.item();
  const outer = reader.enter();
  let traceId = '';
  let spanId = '';
  let parentSpanId = '';
  let traceState = '';
  let name = '';
  let kind = 0;
  let startUnixNs = 0n;
  let endUnixNs = 0n;
  let status: ArchivedSpan['status'] = UNSET;
  let properties: PropertyDraft | undefined;
  let events: ArchivedEvent[] | undefined;
  let links: ArchivedLink[] | undefined;
  let flags = 0;
  const dropped = { attributes: 0, events: 0, links: 0 };
  while (reader.hasMore) {
    const field = reader.tag();
    switch (field) {
      case Field.TRACE_ID:
        traceId = reader.hex();
        break;
      case Field.SPAN_ID:
        spanId = reader.hex();
        break;
      case Field.PARENT_SPAN_ID:
        parentSpanId = reader.hex();
        break;
      case Field.TRACE_STATE:
        traceState = reader.text();
        break;
      case Field.NAME:
        name = reader.text();
        break;
      case Field.KIND:
        kind = reader.uint32();
        break;
      case Field.START:
        startUnixNs = reader.fixed64();
        break;
      case Field.END:
        endUnixNs = reader.fixed64();
        break;
      case Field.ATTRIBUTES:
        properties ??= new PropertyDraft();
        readKeyValue(reader, context, properties);
        break;
      case Field.EVENTS:
        events ??= [];
        events.push(readEvent(reader, context));
        break;
      case Field.LINKS:
        links ??= [];
        links.push(readLink(reader, context));
        break;
      case Field.STATUS:
        status = readStatus(reader, context);
        break;
      case Field.DROPPED_ATTRIBUTES:
        dropped.attributes = reader.uint32();
        break;
      case Field.DROPPED_EVENTS:
        dropped.events = reader.uint32();
        break;
      case Field.DROPPED_LINKS:
        dropped.links = reader.uint32();
        break;
      case Field.FLAGS:
        flags = reader.fixed32();
        break;
      default:
        reader.skip(field);
    }
  }
  reader.leave(outer);
  if (reader.takeBadText()) context.flaw('text is not UTF-8');
  if (parentSpanId === NO_SPAN_ID) parentSpanId = '';
  if (parentSpanId !== '' && parentSpanId.length !== 16) context.flaw('bad parent span id');
  context.take({
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name,
    kind: kindOf(kind, context),
    startUnixNs,
    endUnixNs,
    status,
    properties: properties?.done() ?? NO_PROPERTIES,
    events: events ?? NO_EVENTS,
    links: links ?? NO_LINKS,
    resource,
    scope,
    ...extrasOf({
      flags,
      droppedAttributesCount: dropped.attributes,
      droppedEventsCount: dropped.events,
      droppedLinksCount: dropped.links,
    }),
  });
};
