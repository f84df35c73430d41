// What protobufjs and the official OpenTelemetry exporter write is read back whole and exactly; bad spans are counted and cost no others.
import { type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { newKnownParts } from '../../src/formats/decode-context.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { decodeOtlpProtobuf } from '../../src/formats/otlp/read-protobuf.js';
import { anySpan, FULL_SPAN } from '../support/any-span.js';
import { message, toProtobuf } from '../support/otlp-protobuf.js';

const requestOf = (...spans: object[]): Buffer =>
  toProtobuf(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
const GOOD = {
  traceId: FULL_SPAN.traceId,
  spanId: FULL_SPAN.spanId,
  startTimeUnixNano: '5',
  endTimeUnixNano: '6',
};
describe('what protobufjs writes', () => {
  test('a span with everything', () => {
    const { spans, refused } = decodeOtlpProtobuf(toProtobuf(encodeOtlpJson([FULL_SPAN])));
    expect(spans).toEqual([FULL_SPAN]);
    expect(refused).toBe(0);
  });

  test('any spans', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { maxLength: 4 }), (spans) => {
        expect(decodeOtlpProtobuf(toProtobuf(encodeOtlpJson(spans))).spans).toEqual(spans);
      }),
      { numRuns: samples(40, 250, 2500) },
    );
  });

  test('a schema URL that is not UTF-8 refuses its spans, also where its replacement was known', () => {
    const known = newKnownParts();
    const withUrl = (schemaUrl: string): Buffer =>
      toProtobuf(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [GOOD, GOOD], schemaUrl }] }] }));
    const good = withUrl('\ufffd');
    // Its three bytes by one that begins nothing, and two of ASCII.
    const bad = Buffer.from(good.toString('latin1').replace('\xef\xbf\xbd', '\xffab'), 'latin1');
    const replaced = Buffer.from(withUrl('\ufffdab').toString('latin1'), 'latin1');
    expect(decodeOtlpProtobuf(replaced, undefined, known).refused).toBe(0);
    expect(decodeOtlpProtobuf(bad, undefined, known)).toMatchObject({
      spans: [],
      refused: 2,
      reasons: { 'text is not UTF-8': 2 },
    });
  });

  test('a resource and a scope behind what they describe', () => {
    const parts = decodeOtlpProtobuf(toProtobuf(encodeOtlpJson([FULL_SPAN])));
    const body = toProtobuf(encodeOtlpJson([FULL_SPAN]));
    // The one ResourceSpans, taken apart: resource first, then scopeSpans.
    const fields = (bytes: Buffer): Buffer[] => {
      const out: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        let next = at + 1;
        let length = 0;
        for (let shift = 0; ; shift += 7) {
          const byte = bytes[next++];
          length += (byte & 0x7f) << shift;
          if (byte < 0x80) break;
        }
        out.push(bytes.subarray(at, next + length));
        at = next + length;
      }
      return out;
    };
    const inside = (bytes: Buffer): Buffer => {
      let next = 1;
      while (bytes[next] >= 0x80) next++;
      return bytes.subarray(next + 1);
    };
    const [resource, scopeSpans, schema] = fields(inside(body));
    const [scope, span, scopeSchema] = fields(inside(scopeSpans));
    const turned = message(1, schema, message(2, scopeSchema, span, scope), resource);
    expect(turned.equals(body)).toBe(false);
    expect(decodeOtlpProtobuf(turned).spans).toEqual(parts.spans);
  });
});

describe('what the official exporter writes', () => {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  const tracer = provider.getTracer('lib', '1.0');
  const linked: SpanContext = {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    traceFlags: TraceFlags.SAMPLED,
  };
  const span = tracer.startSpan('GET /', {
    kind: SpanKind.CLIENT,
    startTime: [1_700_000_000, 123_456_789],
    attributes: { a: 1, b: -1.5, c: true, d: 'x', e: ['p', 'q'], f: [1, 2.5], g: 2 ** 40 },
    links: [{ context: linked, attributes: { why: 'batch' } }],
  });
  span.addEvent('miss', { key: 'k' }, [1_700_000_000, 123_500_007]);
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
  span.end([1_700_000_000, 123_999_001]);

  test.each([
    ['protobuf', () => decodeOtlpProtobuf(ProtobufTraceSerializer.serializeRequest(memory.getFinishedSpans())!)],
    ['JSON', () => decodeOtlpJson(JsonTraceSerializer.serializeRequest(memory.getFinishedSpans())!)],
  ])('%s', (_, decode) => {
    const { spans, refused } = decode();
    expect(refused).toBe(0);
    expect(spans).toHaveLength(1);
    const { traceId, spanId } = span.spanContext();
    expect(spans[0]).toMatchObject({
      traceId,
      spanId,
      parentSpanId: '',
      name: 'GET /',
      kind: 'client',
      startUnixNs: 1_700_000_000_123_456_789n,
      endUnixNs: 1_700_000_000_123_999_001n,
      status: { code: 'error', message: 'no' },
      properties: { a: 1, b: -1.5, c: true, d: 'x', e: ['p', 'q'], f: [1, 2.5], g: 2 ** 40 },
      events: [{ name: 'miss', timeUnixNs: 1_700_000_000_123_500_007n, properties: { key: 'k' } }],
      links: [{ traceId: linked.traceId, spanId: linked.spanId, traceState: '', properties: { why: 'batch' } }],
      scope: { name: 'lib', version: '1.0', properties: {} },
    });
    expect(spans[0].resource.properties).toHaveProperty(['telemetry.sdk.language'], 'nodejs');
  });
});

describe('refusals', () => {
  test.each<[string, object]>([
    ['bad trace id', { traceId: '0'.repeat(32) }],
    ['bad trace id', { traceId: 'abcd' }],
    ['bad trace id', { traceId: 'ab'.repeat(5000) }],
    ['bad span id', { spanId: '' }],
    ['bad span id', { spanId: '00'.repeat(8) }],
    ['bad parent span id', { parentSpanId: 'ab' }],
    ['bad link', { links: [{ spanId: 'ab' }] }],
    ['end before start', { endTimeUnixNano: '4' }],
  ])('%s', (reason, change) => {
    const decoded = decodeOtlpProtobuf(requestOf(GOOD, { ...GOOD, ...change }, GOOD));
    expect(decoded.spans).toHaveLength(2);
    expect(decoded).toMatchObject({ refused: 1, reasons: { [reason]: 1 } });
  });

  test('zero parents are none, links to nothing are kept', () => {
    const { spans } = decodeOtlpProtobuf(requestOf({ ...GOOD, parentSpanId: '00'.repeat(8), links: [{}] }));
    expect(spans[0]).toMatchObject({ parentSpanId: '', links: [{ traceId: '0'.repeat(32), spanId: '0'.repeat(16) }] });
  });

  test('values nested too deep cost their span only, and are not walked', () => {
    const nested = (depth: number): Buffer => {
      let value: Buffer = Buffer.from([0x18, 1]);
      for (let i = 0; i < depth; i++) value = message(5, message(1, value));
      return value;
    };
    const span = (depth: number) =>
      message(
        2,
        message(1, Buffer.from(GOOD.traceId, 'hex')),
        message(2, Buffer.from(GOOD.spanId, 'hex')),
        message(9, message(2, nested(depth))),
      );
    const body = message(1, message(2, span(64), span(65), span(500), span(0)));
    const decoded = decodeOtlpProtobuf(body);
    expect(decoded.spans).toHaveLength(2);
    expect(decoded.reasons).toEqual({ 'values nested too deep': 2 });
  });

  test.each<[string, Buffer]>([
    ['cut off in a length', Buffer.from([0x0a, 0x80])],
    ['longer than the request', Buffer.from([0x0a, 0x05, 0x00])],
    ['longer than its message', message(1, Buffer.from([0x12, 0x05, 0x0a]))],
    ['a length of 2^63', Buffer.from([0x0a, ...Array(9).fill(0xff), 0x01])],
    ['a varint of eleven bytes', Buffer.from([0x50, ...Array(11).fill(0xff), 0x01])],
    ['a group', Buffer.from([0x0b])],
    ['no field number', Buffer.from([0x02, 0x00])],
    ['text', Buffer.from('nonsense')],
  ])('no such message: %s', (_, body) => {
    expect(() => decodeOtlpProtobuf(body)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_FORMAT' }));
  });

  test('too many values are refused', () => {
    const links = Array(30).fill({});
    expect(() => decodeOtlpProtobuf(requestOf({ ...GOOD, links }), { maxItems: 30 })).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_TOO_LARGE' }),
    );
    expect(decodeOtlpProtobuf(requestOf({ ...GOOD, links }), { maxItems: 31 }).spans).toHaveLength(1);
  });

  test('unknown fields and known ones of another wire type are passed over', () => {
    const extra = Buffer.from([0x7d, 1, 2, 3, 4, 0xf9, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 0x28, 5]);
    const span = message(
      2,
      message(1, Buffer.from(GOOD.traceId, 'hex')),
      extra,
      message(2, Buffer.from(GOOD.spanId, 'hex')),
    );
    expect(decodeOtlpProtobuf(message(1, message(2, span), message(9, extra))).spans).toHaveLength(1);
  });
});

test('equal resources of many requests are one object, and the memory for them is bounded', () => {
  const known = newKnownParts();
  const body = (i: number) =>
    toProtobuf(encodeOtlpJson([{ ...FULL_SPAN, resource: { properties: { 'service.name': `s${i}` } } }]));
  const [first] = decodeOtlpProtobuf(body(0), undefined, known).spans;
  const [again] = decodeOtlpProtobuf(body(0), undefined, known).spans;
  expect(again.resource).toBe(first.resource);
  expect(again.scope).toBe(first.scope);
  for (let i = 1; i < 1000; i++) known.resources.set(`other ${i}`, first.resource);
  decodeOtlpProtobuf(body(1), undefined, known);
  expect(known.resources.size).toBeLessThanOrEqual(1000);
});
