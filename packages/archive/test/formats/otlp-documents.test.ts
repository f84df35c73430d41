// A document of OpenTelemetry that goes in by any door, and lies in any file of an archive, comes out as it was: no value of another type,
// nothing left out.

import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { sectionReader } from '../../../graph/src/container/layout.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { decodeOtlpProtobuf } from '../../src/formats/otlp/read-protobuf.js';
import { SpanRows } from '../../src/rows/span-rows.js';
import { readRows } from '../../src/wal/read-spans.js';
import { SpanEncoder } from '../../src/wal/write-spans.js';
import { collect, openSegment } from '../segment/support/segments.js';
import { message, toProtobuf } from '../support/otlp-protobuf.js';

type Json = Readonly<Record<string, unknown>>;

const hex = (digits: number) =>
  fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
    .filter((id) => !/^0*$/.test(id));
const text = fc.oneof(
  fc.constantFrom('a', '10', '2', '1', '__proto__', '\0flags', '\0\0', 'service.name'),
  fc.string({ maxLength: 6 }),
);
const some = text.filter((one) => one !== '');
const uint32 = fc.oneof(fc.integer({ min: 1, max: 2 ** 32 - 1 }), fc.constantFrom(0x101, 0x300, 2 ** 32 - 1));
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 2n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n),
);
/** As JSON of OTLP has doubles. */
const double = fc
  .oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(0, -0, 2, 2 ** 52, 2 ** 53, 2 ** 53 - 1, 1e300, Number.NaN, Infinity, -Infinity),
  )
  .map((value) => (Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value)));

const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    int64.map((int) => ({ intValue: String(int) })),
    double.map((doubleValue) => ({ doubleValue })),
    fc.uint8Array({ maxLength: 5 }).map((bytes) => ({ bytesValue: Buffer.from(bytes).toString('base64') })),
    fc.constant({}),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
    fc
      .uniqueArray(fc.record({ key: text, value: tie('value') }), { selector: ({ key }) => key, maxLength: 3 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
}));

/** Members that may be left out. */
const members = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Json> =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true });
const all = (...parts: readonly fc.Arbitrary<Json>[]): fc.Arbitrary<Json> =>
  fc.tuple(...parts).map((list) => Object.assign({}, ...list) as Json);

const attributes = fc.uniqueArray(fc.record({ key: text, value: anyValue }), {
  selector: ({ key }) => key,
  minLength: 1,
  maxLength: 4,
});
const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const event = all(
  fc.record({ timeUnixNano: time.map(String), name: text }),
  members({ attributes, droppedAttributesCount: uint32 }),
);
const link = all(
  fc.record({ traceId: hex(32), spanId: hex(16) }),
  members({ traceState: some, attributes, droppedAttributesCount: uint32, flags: uint32 }),
);
const span = all(
  fc
    .tuple(hex(32), hex(16), text, fc.integer({ min: 0, max: 5 }), time, time)
    .map(([traceId, spanId, name, kind, a, b]) => ({
      traceId,
      spanId,
      name,
      kind,
      startTimeUnixNano: String(a < b ? a : b),
      endTimeUnixNano: String(a < b ? b : a),
    })),
  fc.record({ status: members({ message: some, code: fc.constantFrom(1, 2) }) }),
  members({
    parentSpanId: hex(16),
    traceState: some,
    attributes,
    droppedAttributesCount: uint32,
    events: fc.array(event, { minLength: 1, maxLength: 3 }),
    droppedEventsCount: uint32,
    links: fc.array(link, { minLength: 1, maxLength: 3 }),
    droppedLinksCount: uint32,
    flags: uint32,
  }),
);
const document = all(
  fc.record({ resource: members({ attributes, droppedAttributesCount: uint32 }) }),
  members({ schemaUrl: some }),
  fc.record({
    scopeSpans: all(
      fc.record({
        scope: members({ name: some, version: some, attributes, droppedAttributesCount: uint32 }),
        spans: span.map((one) => [one]),
      }),
      members({ schemaUrl: some }),
    ).map((one) => [one]),
  }),
).map((one) => ({ resourceSpans: [one] }));

/** Members in one order; keys of lists and maps that look like numbers too. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const list = value.map(sorted);
    const isPairs = list.length > 0 && list.every((item) => typeof item === 'object' && item !== null && 'key' in item);
    return isPairs ? list.sort((a, b) => (((a as Json).key as string) < ((b as Json).key as string) ? -1 : 1)) : list;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
};

/** Through both files of an archive. */
const throughFiles = async (spans: readonly ArchivedSpan[]): Promise<ArchivedSpan[]> => {
  const writer = new ByteWriter();
  const encoder = new SpanEncoder(writer);
  for (const one of spans) encoder.add(one);
  const rows = new SpanRows();
  readRows(sectionReader(writer.view(), 'a write-ahead file', 'wal'), rows);
  const segment = await openSegment(rows.spans());
  return (await collect(segment.scan())).flat();
};

const isSame = (spans: readonly ArchivedSpan[], text: string): void =>
  expect(sorted(JSON.parse(encodeOtlpJson(spans)))).toEqual(sorted(JSON.parse(text)));

test('any document, by JSON and by protobuf, through the files of an archive', async () => {
  await fc.assert(
    fc.asyncProperty(document, async (made) => {
      const json = JSON.stringify(made);
      for (const { spans, reasons } of [decodeOtlpJson(Buffer.from(json)), decodeOtlpProtobuf(toProtobuf(json))]) {
        expect(reasons).toEqual({});
        isSame(spans, json);
        isSame(await throughFiles(spans), json);
      }
    }),
    { numRuns: samples(15, 200, 3000) },
  );
}, 120_000);

test('keys stay in their order, those that are numbers too, in every place and file', async () => {
  const list = ['b', '10', '2', '__proto__', '1', '\0flags'].map((key, i) => ({ key, value: { intValue: String(i) } }));
  const value = { kvlistValue: { values: list } };
  const attributes = [...list, { key: '0', value }];
  const ids = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
  const made = {
    resourceSpans: [
      {
        resource: { attributes },
        scopeSpans: [
          {
            scope: { name: 's', attributes },
            spans: [
              {
                ...ids,
                name: 'n',
                kind: 1,
                startTimeUnixNano: '5',
                endTimeUnixNano: '5',
                attributes,
                events: [{ timeUnixNano: '5', name: 'e', attributes }],
                links: [{ ...ids, attributes }],
                flags: 1,
              },
            ],
          },
        ],
      },
    ],
  };
  const keysIn = (json: string): string[] => [...json.matchAll(/"key":("[^"]*")/g)].map(([, key]) => key);
  const json = JSON.stringify(made);
  for (const { spans } of [decodeOtlpJson(Buffer.from(json)), decodeOtlpProtobuf(toProtobuf(json))]) {
    for (const some of [spans, await throughFiles(spans)]) {
      expect(keysIn(encodeOtlpJson(some))).toEqual(keysIn(json));
      expect(Object.keys(some[0].properties)).toEqual(attributes.map(({ key }) => key));
      const again = decodeOtlpJson(Buffer.from(encodeOtlpJson(some)));
      expect(keysIn(encodeOtlpJson(again.spans))).toEqual(keysIn(json));
    }
  }
});

describe('refused, and counted', () => {
  const good = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), startTimeUnixNano: '5', endTimeUnixNano: '5' };
  const of = (one: object, resource: object = {}): string =>
    JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [one, good] }] }] });

  test.each<[string, object]>([
    ['end before start', { endTimeUnixNano: '4' }],
    ['bad trace id', { traceId: '0'.repeat(32) }],
    ['bad span id', { spanId: '0'.repeat(16) }],
    ['a key comes twice', { attributes: [{ key: 'a' }, { key: 'a' }] }],
    ['a key comes twice', { events: [{ attributes: [{ key: 'a' }, { key: 'a' }] }] }],
    ['unknown kind', { kind: 6 }],
    ['unknown status code', { status: { code: 3 } }],
  ])('%s, in both forms', (reason, change) => {
    const json = of({ ...good, ...change });
    for (const decoded of [decodeOtlpJson(Buffer.from(json)), decodeOtlpProtobuf(toProtobuf(json))]) {
      expect(decoded.reasons).toEqual({ [reason]: 1 });
      expect(decoded.spans).toHaveLength(1);
    }
  });

  test('a key twice in a resource refuses its spans, and no others', () => {
    const twice = JSON.parse(of(good, { attributes: [{ key: 'a' }, { key: 'a' }] })).resourceSpans[0];
    const once = JSON.parse(of(good)).resourceSpans[0];
    const json = JSON.stringify({ resourceSpans: [twice, once, twice] });
    for (const decoded of [decodeOtlpJson(Buffer.from(json)), decodeOtlpProtobuf(toProtobuf(json))]) {
      expect(decoded.reasons).toEqual({ 'a key comes twice': 4 });
      expect(decoded.spans).toHaveLength(2);
    }
  });

  test('text that is not UTF-8', () => {
    const body = toProtobuf(of({ ...good, name: 'name ~' }));
    const at = body.indexOf('name ~') + 5;
    body[at] = 0xff;
    const decoded = decodeOtlpProtobuf(body);
    expect(decoded.reasons).toEqual({ 'text is not UTF-8': 1 });
    expect(decoded.spans).toHaveLength(1);
    // The replacement character itself is text.
    expect(decodeOtlpProtobuf(toProtobuf(of({ ...good, name: '\ufffd' }))).refused).toBe(0);
    // A document of JSON is one text.
    const json = Buffer.from(of({ ...good, name: 'name ~' }));
    json[json.indexOf('name ~') + 5] = 0xff;
    const malformed = expect.objectContaining({
      code: 'ERR_SPANLINE_TRACE_FORMAT',
      message: expect.stringContaining('not UTF-8'),
    });
    expect(() => decodeOtlpJson(json)).toThrow(malformed);
    expect(decodeOtlpJson(Buffer.from(of({ ...good, name: '\ufffd' }))).refused).toBe(0);
  });

  test('values that are two, or beyond what they can be', () => {
    const values = [{ intValue: 1, stringValue: 'a' }, { doubleValue: '1e999' }, { intValue: '9223372036854775808' }];
    const refusal = { spans: [{}], reasons: { 'bad field': 1 } };
    for (const value of values)
      expect(decodeOtlpJson(Buffer.from(of({ ...good, attributes: [{ key: 'a', value }] })))).toMatchObject(refusal);
    const written = of(good).replace(
      '"endTimeUnixNano":"5"',
      '"endTimeUnixNano":"5","attributes":[{"key":"a","value":{"doubleValue":1e999}}]',
    );
    expect(decodeOtlpJson(Buffer.from(written))).toMatchObject({
      ...refusal,
      badField: expect.stringContaining('range'),
    });
  });

  test('a span that ends before it starts, by append', () => {
    const [one] = decodeOtlpProtobuf(message(1, Buffer.alloc(0))).spans;
    expect(one).toBeUndefined();
    const [span] = decodeOtlpJson(Buffer.from(of(good))).spans;
    const encoder = new SpanEncoder(new ByteWriter());
    expect(() => encoder.add({ ...span, endUnixNs: 4n })).toThrow(/ends before it starts/);
  });
});
