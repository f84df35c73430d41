// Whatever a span holds, an independent Thrift decoder reads it back from all three envelopes, field for field.

import { describe, expect, test } from 'vitest';
import { BatchPacker } from '../../../src/formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../../src/formats/jaeger-thrift/binary-writer.js';
import { CompactWriter } from '../../../src/formats/jaeger-thrift/compact-writer.js';
import { EventRecord, type SpanRecord, TraceIdentity } from '../../../src/record/record.js';
import type { PropertyList, PropertyValue } from '../../../src/rows/property.js';
import { anySpan } from '../../exporters/jaeger/support/any-span.js';
import {
  type DecodedBatch,
  type DecodedSpan,
  type DecodedTag,
  decodeBinaryPacket,
  decodeCompactPacket,
  decodeHttpBody,
} from '../../exporters/jaeger/support/decode.js';
import { numberedRecords, RESOURCE, record, viewOf } from '../../exporters/support/records.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';

const pack = (packer: BatchPacker, spans: readonly SpanRecord[], resource = RESOURCE): Buffer => {
  packer.begin(resource);
  for (const one of spans) expect(packer.add(viewOf(one))).toBeNull();
  return Buffer.from(packer.finish()?.bytes ?? []);
};

const FORMATS: [string, (keepNanoseconds: boolean) => BatchPacker, (bytes: Buffer) => DecodedBatch][] = [
  ['compact UDP', (keep) => new BatchPacker(new CompactWriter(), 'agent-call', 1e8, keep), decodeCompactPacket],
  ['binary UDP', (keep) => new BatchPacker(new BinaryWriter(), 'agent-call', 1e8, keep), decodeBinaryPacket],
  ['HTTP', (keep) => new BatchPacker(new BinaryWriter(), 'batch', 1e8, keep), decodeHttpBody],
];

const signed = (hi: number, lo: number): bigint => BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo));
const fromHex = (hex: string): bigint => BigInt.asIntN(64, BigInt(`0x${hex}`));

const jsonOf = (value: readonly unknown[]): string =>
  `[${value.map((item) => (typeof item === 'bigint' ? `${item}` : Object.is(item, -0) ? '-0' : JSON.stringify(item))).join(',')}]`;

const expectedTag = (key: string, value: PropertyValue): DecodedTag => {
  if (typeof value === 'string') return [key, 'STRING', value];
  if (typeof value === 'boolean') return [key, 'BOOL', value];
  if (typeof value === 'bigint') {
    return BigInt.asIntN(64, value) === value ? [key, 'LONG', value] : [key, 'STRING', `${value}`];
  }
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) return [key, 'LONG', BigInt(value)];
    return Number.isFinite(value) ? [key, 'DOUBLE', value] : [key, 'STRING', `${value}`];
  }
  return [key, 'STRING', jsonOf(value)];
};

const expectedTags = (list: PropertyList | null): DecodedTag[] => {
  const tags: DecodedTag[] = [];
  if (list !== null) {
    for (let i = 0; i < list.length; i += 2) tags.push(expectedTag(list[i] as string, list[i + 1] as PropertyValue));
  }
  return tags;
};

const expectedDropped = (...counts: number[]): DecodedTag[] =>
  counts.flatMap((n, i): DecodedTag[] =>
    n > 0 ? [[`otel.dropped_${['attributes', 'events', 'links'][i]}_count`, 'LONG', BigInt(n)]] : [],
  );

/** What a reader of the documentation expects of a span, written with bigints and hex, unlike the encoder. */
const expectedSpan = (one: SpanRecord, keepNanoseconds: boolean): DecodedSpan => {
  const startTime = one.startUnixNs / 1000n;
  const tags = expectedTags(one.propertyList);
  if (keepNanoseconds) {
    tags.push(['spanline.ns', 'LONG', one.startUnixNs % 1000n]);
    tags.push(['spanline.duration_ns', 'LONG', one.endUnixNs - one.startUnixNs]);
  }
  if (one.kind !== 'internal') tags.push(['span.kind', 'STRING', one.kind]);
  if (one.status.code === 'ok') tags.push(['otel.status_code', 'STRING', 'OK']);
  if (one.status.code === 'error') {
    tags.push(['otel.status_code', 'STRING', 'ERROR'], ['error', 'BOOL', true]);
  }
  if (one.status.message) tags.push(['otel.status_description', 'STRING', one.status.message]);
  if (one.trace.traceState) tags.push(['w3c.tracestate', 'STRING', one.trace.traceState]);
  tags.push(...expectedDropped(one.droppedAttributesCount, one.droppedEventsCount, one.droppedLinksCount));
  const logs = one.events.map((event) => {
    const fields: DecodedTag[] = [
      ['event', 'STRING', event.name],
      ...expectedTags(event.propertyList),
      ...expectedDropped(event.droppedAttributesCount),
    ];
    if (keepNanoseconds) fields.push(['spanline.ns', 'LONG', event.timeUnixNs % 1000n]);
    return { timestamp: event.timeUnixNs / 1000n, fields };
  });
  for (const link of one.links) {
    const properties = Object.entries(link.properties ?? {});
    if (properties.length === 0 && !link.traceState && !link.droppedAttributesCount) continue;
    const fields: DecodedTag[] = [
      ['event', 'STRING', 'spanline.link'],
      ['link.trace_id', 'STRING', link.traceId],
      ['link.span_id', 'STRING', link.spanId],
    ];
    if (link.traceState) fields.push(['w3c.tracestate', 'STRING', link.traceState]);
    fields.push(...properties.map(([key, value]) => expectedTag(key, value as PropertyValue)));
    fields.push(...expectedDropped(link.droppedAttributesCount ?? 0));
    logs.push({ timestamp: startTime, fields });
  }
  return {
    traceIdHigh: fromHex(one.traceId.slice(0, 16)),
    traceIdLow: fromHex(one.traceId.slice(16)),
    spanId: fromHex(one.spanId),
    parentSpanId: signed(one.parentHi, one.parentLo),
    operationName: one.name,
    flags: 1,
    startTime,
    duration: (one.endUnixNs + 999n) / 1000n - startTime || 1n,
    references: one.links.map((link) => ({
      refType: 'FOLLOWS_FROM',
      traceIdHigh: fromHex(link.traceId.slice(0, 16)),
      traceIdLow: fromHex(link.traceId.slice(16)),
      spanId: fromHex(link.spanId),
    })),
    tags,
    logs,
  };
};

describe.each(FORMATS)('%s', (_name, makePacker, decode) => {
  test.each([true, false])('random spans, nanoseconds kept: %s', (keepNanoseconds) => {
    const packer = makePacker(keepNanoseconds);
    fc.assert(
      fc.property(fc.array(anySpan, { minLength: 1, maxLength: 20 }), (spans) => {
        const { spans: decoded } = decode(pack(packer, spans));
        expect(decoded).toEqual(spans.map((one) => expectedSpan(one, keepNanoseconds)));
      }),
      { numRuns: samples(8, 20, 600) },
    );
  });

  const tagsOf = (properties: PropertyList): DecodedTag[] =>
    decode(pack(makePacker(false), [record({ properties })])).spans[0].tags;

  test('integers at the ends of their range', () => {
    const values = [
      -(2n ** 63n),
      2n ** 63n - 1n,
      -1n,
      0n,
      2n ** 32n,
      -(2n ** 32n),
      2n ** 31n,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      -1,
      2 ** 32,
      -(2 ** 32),
      2 ** 31,
    ];
    const tags = tagsOf(values.flatMap((value, i) => [`k${i}`, value]));
    expect(tags).toEqual(values.map((value, i) => [`k${i}`, 'LONG', BigInt(value)]));
  });

  test('integers beyond 64 bits and numbers that JSON cannot hold become text, fractions stay doubles', () => {
    const beyond = [2n ** 63n, -(2n ** 63n) - 1n, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 0.1];
    expect(tagsOf(beyond.flatMap((value, i) => [`k${i}`, value]))).toEqual([
      ['k0', 'STRING', '9223372036854775808'],
      ['k1', 'STRING', '-9223372036854775809'],
      ['k2', 'STRING', 'NaN'],
      ['k3', 'STRING', 'Infinity'],
      ['k4', 'DOUBLE', 2 ** 53],
      ['k5', 'DOUBLE', 0.1],
    ]);
  });

  test('arrays become JSON text with all their digits', () => {
    expect(tagsOf(['a', ['x"y', 'é'], 'b', [1, 2.5, Number.NaN], 'c', [2n ** 63n - 1n], 'd', [true], 'e', []])).toEqual(
      [
        ['a', 'STRING', '["x\\"y","é"]'],
        ['b', 'STRING', '[1,2.5,"NaN"]'],
        ['c', 'STRING', '[9223372036854775807]'],
        ['d', 'STRING', '[true]'],
        ['e', 'STRING', '[]'],
      ],
    );
  });

  test('strings: empty, long, astral, and a lone surrogate as the replacement character', () => {
    const words = ['', 'x'.repeat(70_000), '𝄞'.repeat(30), 'é', `${'a'.repeat(40)}é`, '\ud800'];
    const tags = tagsOf(words.flatMap((value, i) => [`${i}`, value]));
    expect(tags.map(([, , value]) => value)).toEqual([...words.slice(0, 5), '\ufffd']);
  });

  test('list headers on both sides of their short form', () => {
    for (const count of [1, 14, 15, 127, 128, samples(129, 16_384)]) {
      expect(decode(pack(makePacker(false), numberedRecords(count))).spans.map((one) => one.operationName)).toEqual(
        Array.from({ length: count }, (_, i) => `span ${i}`),
      );
    }
  });

  test('the process is that of the batch', () => {
    const packer = makePacker(true);
    const first = decode(pack(packer, numberedRecords(1)));
    const second = decode(
      pack(packer, numberedRecords(1), { serviceName: '', attributes: { big: 2n ** 60n, gone: undefined } }),
    );
    expect(first).toMatchObject({ serviceName: 'shop' });
    expect(first.processTags).toEqual([
      ['host.name', 'STRING', 'h1'],
      ['process.pid', 'LONG', 42n],
      ['cpu.ids', 'STRING', '[0,1]'],
      ['disk.bytes', 'LONG', 9_007_199_254_740_993n],
    ]);
    expect(second).toMatchObject({ serviceName: '', processTags: [['big', 'LONG', 2n ** 60n]] });
  });

  test('a child never sticks out of its parent, for all that microseconds round', () => {
    const instant = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 5000 }));
    const packer = makePacker(false);
    fc.assert(
      fc.property(fc.array(instant, { minLength: 4, maxLength: 4 }), (instants) => {
        const [a, b, c, d] = instants.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
        // A span without a length, at the very end of its parent, has to last a microsecond too.
        fc.pre(b[0] !== c[0] || b[1] !== c[1]);
        const [outer, inner] = decode(pack(packer, [record({ start: a, end: d }), record({ start: b, end: c })])).spans;
        expect(inner.startTime).toBeGreaterThanOrEqual(outer.startTime);
        expect(inner.startTime + inner.duration).toBeLessThanOrEqual(outer.startTime + outer.duration);
      }),
    );
  });
});

test.each<[what: string, startNano: number, endNano: number, duration: bigint]>([
  ['one nanosecond', 5000, 5001, 1n],
  ['less than a microsecond, inside of one', 5100, 5900, 1n],
  ['less than a microsecond, across two', 5900, 6100, 2n],
  ['nothing, inside of a microsecond', 5500, 5500, 1n],
  ['nothing, between two microseconds', 5000, 5000, 1n],
  ['whole microseconds', 5000, 8000, 3n],
  ['up to the next second', 999_999_001, 1_000_000_000, 1n],
])('a span of %s lasts so many microseconds that its end is rounded up', (_what, startNano, endNano, duration) => {
  const end: [number, number] = [7 + Math.floor(endNano / 1e9), endNano % 1e9];
  const packer = new BatchPacker(new CompactWriter(), 'agent-call', 1e8, true);
  const { spans } = decodeCompactPacket(pack(packer, [record({ start: [7, startNano], end })]));
  expect(spans[0].duration).toBe(duration);
});

test('a call in the compact protocol is byte for byte what the protocol describes', () => {
  const packer = new BatchPacker(new CompactWriter(), 'agent-call', 1000, false);
  const one = record({
    trace: new TraceIdentity(0, 1, 0xffffffff, 0xffffffff, ''),
    id: [0, 1],
    name: 'a',
    start: [0, 64_000],
    end: [0, 65_000],
    properties: ['b', false],
    events: [new EventRecord('e', 0, 1000, null)],
  });
  const expected = [
    '82 81 00 09 656d69744261746368', // one-way call 0 of emitBatch
    '1c 1c 18 01 73 00', // arguments, batch, process s
    '19 1c', // one span
    '16 01 16 02 16 02 16 00 18 01 61', // trace -1, 1; span 1; parent 0; name a
    '25 02 16 8001 16 02', // flags 1, start 64, duration 1
    '19 1c 18 01 62 15 04 32 00', // tag b: BOOL false
    '19 1c 16 02 19 1c 18 05 6576656e74 15 00 18 01 65 00 00', // log at 1 with event e
    '00 00 00', // span, batch, arguments
  ];
  const actual = pack(packer, [one], { serviceName: 's', attributes: {} }).toString('hex');
  expect(actual).toBe(expected.join('').replaceAll(' ', ''));
});
