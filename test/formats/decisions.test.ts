// What all formats decide alike, from records of the collector and from archived spans: integers beyond 64 bits, minus zero, the kind
// `internal`, text of a status without an error, and `__proto__` as a key.
import { describe, expect, test } from 'vitest';
import { encodeJaegerJson, encodeOtlpJson } from '../../packages/archive/src/formats/encode.js';
import { decodeJaegerJson } from '../../packages/archive/src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../packages/archive/src/formats/otlp/read-json.js';
import { decodeOtlpProtobuf } from '../../packages/archive/src/formats/otlp/read-protobuf.js';
import { FULL_SPAN } from '../../packages/archive/test/support/any-span.js';
import { ByteWriter } from '../../src/base/bytes/byte-writer.js';
import { processJson, spanJson } from '../../src/formats/jaeger-json/write-traces.js';
import { BatchPacker } from '../../src/formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../src/formats/jaeger-thrift/binary-writer.js';
import { NO_SCOPE, OWN_SCOPE, ownResource } from '../../src/formats/library.js';
import type { OtlpFormat } from '../../src/formats/otlp/messages.js';
import { JsonFormat } from '../../src/formats/otlp/write-json.js';
import { ProtobufFormat } from '../../src/formats/otlp/write-protobuf.js';
import type { FinishedSpan } from '../../src/record/finished-span.js';
import { ObjectView } from '../../src/record/object-view.js';
import { decodeHttpBody } from '../exporters/jaeger/support/decode.js';
import { RESOURCE, record, viewOf } from '../exporters/support/records.js';
import { archivedSpan } from '../support/archived-span.js';

const SPAN = record({
  kind: 'internal',
  status: { code: 'ok', message: 'said all the same' },
  properties: [
    'beyond',
    2n ** 64n,
    'below',
    -(2n ** 63n) - 1n,
    'largest',
    2n ** 63n - 1n,
    'minus',
    -0,
    '__proto__',
    'own',
  ],
});
const resource = ownResource(RESOURCE);
const archived = archivedSpan(SPAN, resource);
const views: readonly (readonly [string, FinishedSpan])[] = [
  ['a record', new ObjectView(resource, OWN_SCOPE).of(SPAN)],
  ['a copy of a record by spreading', new ObjectView(resource, OWN_SCOPE).of({ ...SPAN })],
  ['a structured clone of a record', new ObjectView(resource, OWN_SCOPE).of(structuredClone(SPAN))],
  ['an archived span', new ObjectView().of(archived)],
];

const write = (format: OtlpFormat, span: FinishedSpan): Buffer => {
  const writer = new ByteWriter();
  format.begin(writer, span.resource, span.scope);
  format.span(writer, span, true);
  const start = format.end(writer);
  return Buffer.from(writer.bytes.subarray(start, writer.length));
};

/** Numbers too big for OTLP and Jaeger are their digits. */
const READ = {
  kind: 'internal',
  status: { code: 'ok', message: 'said all the same' },
  properties: Object.defineProperty(
    { beyond: String(2n ** 64n), below: String(-(2n ** 63n) - 1n), largest: 2n ** 63n - 1n, minus: -0 },
    '__proto__',
    { value: 'own', enumerable: true, writable: true, configurable: true },
  ),
};
const isRead = ({ kind, status, properties }: { kind: string; status: object; properties: object }): void => {
  expect({ kind, status, properties }).toStrictEqual(READ);
  expect(Object.keys(properties)).toEqual(Object.keys(READ.properties));
};

describe.each(views)('%s', (_name, view) => {
  test('OTLP/JSON', () => isRead(decodeOtlpJson(write(new JsonFormat(), view)).spans[0]));
  test('OTLP in protobuf', () => isRead(decodeOtlpProtobuf(write(new ProtobufFormat(), view)).spans[0]));
  test('Jaeger JSON', () => {
    const document = `{"data":[{"traceID":"${view.traceId}","spans":[${spanJson(view, 'p1')}],"processes":{"p1":${processJson(resource)}}}]}`;
    expect(document).not.toContain('span.kind');
    isRead(decodeJaegerJson(Buffer.from(document)).spans[0]);
  });
});

test('both views give the same bytes', () => {
  for (const format of [new JsonFormat(), new ProtobufFormat()]) {
    expect(write(format, views[0][1])).toEqual(write(format, views[1][1]));
  }
  expect(spanJson(views[0][1], 'p1')).toBe(spanJson(views[1][1], 'p1'));
});

test('Thrift', () => {
  const packer = new BatchPacker(new BinaryWriter(), 'batch', 1e6, true);
  packer.begin(RESOURCE);
  packer.add(viewOf(SPAN));
  const { spans } = decodeHttpBody(packer.finish()?.bytes as Buffer);
  const tags = spans[0].tags;
  expect(tags).toContainEqual(['beyond', 'STRING', String(2n ** 64n)]);
  expect(tags).toContainEqual(['largest', 'LONG', 2n ** 63n - 1n]);
  expect(tags).toContainEqual(['minus', 'DOUBLE', -0]);
  expect(tags).toContainEqual(['__proto__', 'STRING', 'own']);
  expect(tags).toContainEqual(['otel.status_description', 'STRING', 'said all the same']);
  expect(tags.some(([key]) => key === 'span.kind')).toBe(false);
});

test('all that an archived span has goes through OTLP in protobuf as through OTLP/JSON', () => {
  const bytes = write(new ProtobufFormat(), new ObjectView().of(FULL_SPAN));
  expect(decodeOtlpProtobuf(bytes).spans).toEqual([FULL_SPAN]);
  expect(decodeOtlpJson(Buffer.from(encodeOtlpJson([FULL_SPAN]))).spans).toEqual([FULL_SPAN]);
});

test('a span of Jaeger with whole microseconds names the kind internal, and leaves out one that is not known', () => {
  const whole = { ...archived, startUnixNs: 1000n, endUnixNs: 2000n, flags: undefined, scope: NO_SCOPE };
  const text = (kind: 'internal' | 'unspecified'): string =>
    encodeJaegerJson(new Map([[whole.traceId, [{ ...whole, kind }]]]));
  expect(text('internal')).toContain('{"key":"span.kind","type":"string","value":"internal"}');
  expect(text('unspecified')).not.toContain('span.kind');
  for (const kind of ['internal', 'unspecified'] as const) {
    expect(decodeJaegerJson(Buffer.from(text(kind))).spans[0].kind).toBe(kind);
  }
});
