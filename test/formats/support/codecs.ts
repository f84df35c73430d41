// The formats as pairs of writer and reader: a span is written and read back, or is refused. And what each of them loses, as docs/formats.md
// says, written as a function of a span in no code of src/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Archive,
  ArchivedDouble,
  type ArchivedProperties,
  type ArchivedSpan,
  type ArchivedValue,
  type DecodedTraces,
  decodeJaegerJson,
  decodeOtlpJson,
  decodeOtlpProtobuf,
  encodeJaegerJson,
  encodeOtlpJson,
  Segment,
  writeSegment,
} from '../../../packages/archive/src/index.js';
import { newDirectory } from '../../../packages/archive/test/archive/support/directory.js';
import { BufferSink } from '../../../packages/graph/src/index.js';
import { ByteWriter } from '../../../src/base/bytes/byte-writer.js';
import { ProtobufFormat } from '../../../src/formats/otlp/write-protobuf.js';
import { ObjectView } from '../../../src/record/object-view.js';

/** What comes out of a door: a span, or that it was refused; `inexact` where the page promises no exact times. */
export type Outcome = ArchivedSpan | 'refused' | 'inexact';

/** A format. */
export interface Door {
  readonly name: string;
  /** Through the format and back. */
  pass(span: ArchivedSpan): Promise<Outcome> | Outcome;
  /** What comes out, by the page. */
  expected(span: ArchivedSpan): Outcome;
}

const decoded = ({ spans, refused }: DecodedTraces): Outcome => (refused > 0 ? 'refused' : spans[0]);

const throughProtobuf = (span: ArchivedSpan): Outcome => {
  const writer = new ByteWriter();
  const format = new ProtobufFormat();
  format.begin(writer, span.resource, span.scope);
  format.span(writer, new ObjectView().of(span));
  const start = format.end(writer);
  return decoded(decodeOtlpProtobuf(Buffer.from(writer.bytes.subarray(start, writer.length))));
};

const throughSegment = async (span: ArchivedSpan): Promise<Outcome> => {
  const sink = new BufferSink();
  writeSegment(sink, [span]);
  const segment = await Segment.open(sink.toBuffer());
  return (await segment.traces([span.traceId])).get(span.traceId)?.[0] ?? 'refused';
};

/** Read by another archive while the first still holds it. */
const throughWriteAhead = async (span: ArchivedSpan): Promise<Outcome> => {
  const directory = newDirectory();
  const writer = await Archive.open(directory, { maintain: false, worker: false });
  try {
    writer.append([span]);
    const [name] = readdirSync(directory).filter((file) => file.startsWith('wal-'));
    if (readFileSync(join(directory, name)).length <= 8) return 'refused';
    const reader = await Archive.open(directory, { readOnly: true });
    const [found] = await reader.trace(span.traceId);
    await reader.close();
    return found;
  } finally {
    await writer.close();
  }
};

type Change = (value: ArchivedValue) => ArchivedValue;

const isMap = (value: ArchivedValue): value is ArchivedProperties =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof ArchivedDouble);

const mapProperties = (properties: ArchivedProperties, text: (text: string) => string, change: Change) =>
  Object.fromEntries(Object.entries(properties).map(([key, value]) => [text(key), change(value)]));

/** A span with all its texts and values changed. */
const mapSpan = (span: ArchivedSpan, text: (text: string) => string, change: Change): ArchivedSpan => {
  const of = (properties: ArchivedProperties): ArchivedProperties => mapProperties(properties, text, change);
  const inside = <T extends { readonly properties: ArchivedProperties }>(thing: T): T => ({
    ...thing,
    properties: of(thing.properties),
    ...('schemaUrl' in thing ? { schemaUrl: text(thing.schemaUrl as string) } : {}),
  });
  return {
    ...inside(span),
    traceState: text(span.traceState),
    name: text(span.name),
    status: { ...span.status, message: text(span.status.message) },
    events: span.events.map((event) => ({ ...inside(event), name: text(event.name) })),
    links: span.links.map((link) => ({ ...inside(link), traceState: text(link.traceState) })),
    resource: inside(span.resource),
    scope: { ...inside(span.scope), name: text(span.scope.name), version: text(span.scope.version) },
  };
};

/** The number of keys and of what they become: fewer where two become one. */
const keysOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0;
  const items = Object.values(value);
  return items.reduce((sum: number, item) => sum + keysOf(item), items.length);
};

const NO_ID = /^0*$/;
const hasIds = ({ traceId, spanId, links }: ArchivedSpan): boolean =>
  [traceId, spanId, ...links.flatMap((link) => [link.traceId, link.spanId])].every((id) => !NO_ID.test(id));

const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString();
const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** One integer has one form: a number where it is exact. */
const integer = (value: bigint): ArchivedValue => {
  if (Number.isSafeInteger(Number(value))) return Number(value);
  return isInt64(value) ? value : String(value);
};

type Text = (text: string) => string;

const otlpValue =
  (text: Text): Change =>
  (value) => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'bigint') return integer(value);
    if (Array.isArray(value)) return value.map(otlpValue(text));
    return isMap(value) ? mapProperties(value, text, otlpValue(text)) : value;
  };

const withoutZeroParent = (span: ArchivedSpan): ArchivedSpan =>
  NO_ID.test(span.parentSpanId) ? { ...span, parentSpanId: '' } : span;

const otlp =
  (text: Text) =>
  (span: ArchivedSpan): Outcome => {
    const mapped = mapSpan(span, text, otlpValue(text));
    return hasIds(span) && keysOf(mapped) === keysOf(span) ? withoutZeroParent(mapped) : 'refused';
  };

/** A value inside a list or a map as JSON text: integers with all digits, minus zero with its sign, what has no number as text. */
export const jsonText = (value: ArchivedValue): string => {
  if (value instanceof ArchivedDouble) return jsonText(value.value);
  if (typeof value === 'bigint' || Object.is(value, -0)) return value === 0 ? '-0' : String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (!isMap(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item)}`)}}`;
};

const jaegerValue = (value: ArchivedValue): ArchivedValue => {
  if (value === null) return '';
  if (typeof value === 'bigint') return integer(value);
  return Array.isArray(value) || isMap(value) ? jsonText(value) : value;
};

/** Microseconds that are exact numbers. */
const MAX_TIME = (2n ** 53n - 1n) * 1000n;

const jaeger = (span: ArchivedSpan): Outcome => {
  const { startUnixNs, endUnixNs, events } = span;
  const times = [startUnixNs, endUnixNs, ...events.map(({ timeUnixNs }) => timeUnixNs)];
  if (!hasIds(span)) return 'refused';
  if (times.some((time) => time > MAX_TIME)) return 'inexact';
  return withoutZeroParent(mapSpan(span, (text) => text, jaegerValue));
};

const same = (span: ArchivedSpan): Outcome => span;

export const CODECS: readonly Door[] = [
  { name: 'OTLP protobuf', pass: throughProtobuf, expected: otlp(wellFormed) },
  {
    name: 'OTLP JSON',
    pass: (span) => decoded(decodeOtlpJson(Buffer.from(encodeOtlpJson([span])))),
    expected: otlp((text) => text),
  },
  {
    name: 'Jaeger JSON',
    pass: (span) => decoded(decodeJaegerJson(Buffer.from(encodeJaegerJson(new Map([[span.traceId, [span]]]))))),
    expected: jaeger,
  },
  { name: 'segment', pass: throughSegment, expected: same },
  { name: 'write-ahead file', pass: throughWriteAhead, expected: same },
];
