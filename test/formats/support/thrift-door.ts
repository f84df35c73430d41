// Thrift as a door: it takes what our collector recorded, and is read by thriftrw and shown as Jaeger's UI shows it, in no code of ours. What
// it loses, as docs/formats.md says, is written as a function of a record.
import { type ArchivedProperties, type ArchivedSpan, decodeJaegerJson } from '../../../packages/archive/src/index.js';
import { BatchPacker } from '../../../src/formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../../src/formats/jaeger-thrift/binary-writer.js';
import type { SpanRecord } from '../../../src/record/record.js';
import type { PropertyList, PropertyValue } from '../../../src/rows/property.js';
import { type DecodedSpan, type DecodedTag, decodeHttpBody } from '../../exporters/jaeger/support/decode.js';
import { RESOURCE, viewOf } from '../../exporters/support/records.js';
import { jsonText } from './codecs.js';

const hex = (id: bigint): string => BigInt.asUintN(64, id).toString(16).padStart(16, '0');

const TYPES: Readonly<Record<string, string>> = { STRING: 'string', DOUBLE: 'float64', BOOL: 'bool', LONG: 'int64' };

/** As Jaeger's server writes them: integers that JavaScript would round are text of that type. */
const shownTag = ([key, type, value]: DecodedTag): object => {
  if (typeof value !== 'bigint') return { key, type: TYPES[type], value };
  return { key, type: 'int64', value: Number.isSafeInteger(Number(value)) ? Number(value) : String(value) };
};

const shownSpan = (span: DecodedSpan): object => {
  const traceID = hex(span.traceIdHigh) + hex(span.traceIdLow);
  const links = span.references.map(({ refType, traceIdHigh, traceIdLow, spanId }) => ({
    refType,
    traceID: hex(traceIdHigh) + hex(traceIdLow),
    spanID: hex(spanId),
  }));
  const parent = { refType: 'CHILD_OF', traceID, spanID: hex(span.parentSpanId) };
  return {
    traceID,
    spanID: hex(span.spanId),
    operationName: span.operationName,
    references: span.parentSpanId === 0n ? links : [parent, ...links],
    startTime: Number(span.startTime),
    duration: Number(span.duration),
    tags: span.tags.map(shownTag),
    logs: span.logs.map(({ timestamp, fields }) => ({ timestamp: Number(timestamp), fields: fields.map(shownTag) })),
    processID: 'p1',
    warnings: null,
  };
};

/** A minus zero as a number, which `JSON.stringify` would write as zero. */
const jsonOf = (document: object): string =>
  JSON.stringify(document, (_, value) => (Object.is(value, -0) ? '-0 as a number' : value)).replaceAll(
    '"-0 as a number"',
    '-0',
  );

export const throughThrift = (record: SpanRecord): ArchivedSpan | 'refused' => {
  const packer = new BatchPacker(new BinaryWriter(), 'batch', 1e8, true);
  packer.begin(RESOURCE);
  packer.add(viewOf(record));
  const { serviceName, processTags, spans } = decodeHttpBody(Buffer.from(packer.finish()?.bytes ?? []));
  const processes = { p1: { serviceName, tags: processTags.map(shownTag) } };
  const decoded = decodeJaegerJson(Buffer.from(jsonOf({ data: [{ spans: spans.map(shownSpan), processes }] })));
  return decoded.refused > 0 ? 'refused' : decoded.spans[0];
};

/** Thrift has texts, doubles, truth values and 64-bit integers. */
const thriftValue = (value: PropertyValue) => {
  if (Array.isArray(value)) return jsonText(value);
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) !== value) return String(value);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value !== 'number') return value as string | boolean;
  return Number.isFinite(value) ? value : String(value);
};

const listed = (list: PropertyList | null): ArchivedProperties => {
  const entries: [string, string | number | bigint | boolean][] = [];
  for (let i = 0; i < (list?.length ?? 0); i += 2)
    entries.push([list?.[i] as string, thriftValue(list?.[i + 1] as PropertyValue)]);
  return Object.fromEntries(entries);
};

const dropped = (count = 0): { droppedAttributesCount?: number } =>
  count === 0 ? {} : { droppedAttributesCount: count };

/** What is left of a record. */
export const expectedOfThrift = (record: SpanRecord): ArchivedSpan | 'refused' => {
  // An id of zero is none.
  if (/^0*$/.test(record.traceId) || /^0*$/.test(record.spanId)) return 'refused';
  const { code, message = '' } = { message: '', ...record.status };
  const { droppedEventsCount, droppedLinksCount } = record;
  return {
    traceId: record.traceId,
    spanId: record.spanId,
    parentSpanId: record.parentSpanId,
    traceState: record.trace.traceState,
    name: record.name,
    kind: record.kind,
    startUnixNs: record.startUnixNs,
    endUnixNs: record.endUnixNs,
    status: { code, message },
    properties: listed(record.propertyList),
    events: record.events.map(({ name, timeUnixNs, propertyList, droppedAttributesCount }) => ({
      name,
      timeUnixNs,
      properties: listed(propertyList),
      ...dropped(droppedAttributesCount),
    })),
    links: record.links.map(({ traceId, spanId, traceState = '', properties = {}, droppedAttributesCount }) => ({
      traceId,
      spanId,
      traceState,
      properties: listed(Object.entries(properties).flatMap(([key, value]) => [key, value as PropertyValue])),
      ...dropped(droppedAttributesCount),
    })),
    resource: {
      properties: {
        'service.name': RESOURCE.serviceName,
        ...listed(Object.entries(RESOURCE.attributes).flatMap(([key, value]) => [key, value as PropertyValue])),
      },
    },
    scope: { name: '', version: '', properties: {} },
    ...dropped(record.droppedAttributesCount),
    ...(droppedEventsCount > 0 ? { droppedEventsCount } : {}),
    ...(droppedLinksCount > 0 ? { droppedLinksCount } : {}),
  };
};
