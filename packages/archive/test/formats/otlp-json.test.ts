// What is encoded as OTLP/JSON comes back equal, whatever it holds, and what others may write is read as they meant it.

import { describe, expect, test } from 'vitest';
import { ArchivedDouble, type ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { describeRefusals } from '../../src/formats/decode-context.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { anySpan, FULL_SPAN } from '../support/any-span.js';

const decode = (text: string) => decodeOtlpJson(Buffer.from(text));
const decodeSpan = (span: object): ArchivedSpan => {
  const decoded = decode(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...IDS, ...span }] }] }] }));
  expect(decoded.reasons).toEqual({});
  return decoded.spans[0];
};
const IDS = { traceId: '0AF7651916CD43DD8448EB211C80319C', spanId: 'B7AD6B7169203331' };
const decodeValue = (value: object | null) => decodeSpan({ attributes: [{ key: 'k', value }] }).properties.k;

describe('round trip', () => {
  test('a span with everything', () => {
    const line = encodeOtlpJson([FULL_SPAN]);
    expect(line).not.toContain('\n');
    const { spans, refused } = decode(line);
    expect(spans).toEqual([FULL_SPAN]);
    expect(Object.keys(spans[0].properties)).toEqual(Object.keys(FULL_SPAN.properties));
    expect(refused).toBe(0);
  });

  test('any spans', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { maxLength: 4 }), (spans) => {
        expect(decode(encodeOtlpJson(spans)).spans).toEqual(spans);
      }),
      { numRuns: samples(40, 250, 2500) },
    );
  });

  test('spans of one resource stay spans of one resource', () => {
    const { resource, scope } = FULL_SPAN;
    const other = { ...FULL_SPAN, resource: { properties: { 'service.name': 'other' } } };
    const text = encodeOtlpJson([FULL_SPAN, other, { ...FULL_SPAN, resource, scope }]);
    expect(JSON.parse(text).resourceSpans).toHaveLength(2);
    const { spans } = decode(text);
    expect(spans[0].resource).toBe(spans[1].resource);
    expect(spans[0].scope).toBe(spans[1].scope);
    expect(spans[2].resource).not.toBe(spans[0].resource);
  });
});

describe('what others write', () => {
  test('the form of the specification', () => {
    expect(JSON.parse(encodeOtlpJson([FULL_SPAN])).resourceSpans[0]).toMatchObject({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }, {}, {}, {}] },
      scopeSpans: [
        {
          scope: { name: 'http', version: '1.2.3' },
          spans: [
            {
              traceId: FULL_SPAN.traceId,
              parentSpanId: FULL_SPAN.parentSpanId,
              kind: 2,
              startTimeUnixNano: '1700000000123456789',
              status: { code: 2, message: 'nepovedlo se: 🐎' },
              droppedAttributesCount: 3,
              droppedLinksCount: 1,
            },
          ],
        },
      ],
    });
  });

  test('64-bit numbers as text or as numbers, exactly', () => {
    const span = (start: string, value: string) =>
      `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${IDS.traceId}","spanId":"${IDS.spanId}",
      "startTimeUnixNano":${start},"endTimeUnixNano": 1700000000123999001 ,"name":"a:1700000000123456789, \\"2\\"",
      "attributes":[{"key":"k","value":{"intValue":${value}}}]}]}]}]}`;
    for (const quote of ['', '"']) {
      const text = span(`${quote}1700000000123456789${quote}`, `${quote}-9223372036854775808${quote}`);
      const [{ startUnixNs, endUnixNs, name, properties }] = decode(text).spans;
      expect(startUnixNs).toBe(1_700_000_000_123_456_789n);
      expect(endUnixNs).toBe(1_700_000_000_123_999_001n);
      expect(name).toBe('a:1700000000123456789, "2"');
      expect(properties.k).toBe(-(2n ** 63n));
    }
  });

  test.each<[object | null, unknown]>([
    [{ intValue: 5 }, 5],
    [{ intValue: '5' }, 5],
    [{ intValue: 1e3 }, 1000],
    [{ intValue: '1e3' }, 1000],
    [{ intValue: '9007199254740993' }, 9007199254740993n],
    [{ doubleValue: 1.5 }, 1.5],
    [{ doubleValue: '1.5' }, 1.5],
    [{ doubleValue: 'NaN' }, Number.NaN],
    [{ doubleValue: '-Infinity' }, Number.NEGATIVE_INFINITY],
    [{ boolValue: false }, false],
    [{ stringValue: '' }, ''],
    [{ bytesValue: 'AAH+/w==' }, Uint8Array.from([0, 1, 254, 255])],
    [{ bytesValue: 'AAH-_w' }, Uint8Array.from([0, 1, 254, 255])],
    [{ arrayValue: {} }, []],
    [{ arrayValue: { values: [{}, { intValue: 1 }] } }, [null, 1]],
    [{ kvlistValue: { values: [{ key: 'a' }] } }, { a: null }],
    [{}, null],
    [null, null],
    [{ unknownValue: 1 }, null],
    [{ doubleValue: 2 }, new ArchivedDouble(2)],
    [{ doubleValue: '-0' }, -0],
    [{ doubleValue: 2 ** 60 }, 2 ** 60],
  ])('the value %j', (value, expected) => {
    expect(decodeValue(value)).toEqual(expected);
  });

  test('ids in capitals, zero parents, enum names, unknown members, null members', () => {
    const { traceId, spanId, parentSpanId, kind, status, links, events } = decodeSpan({
      parentSpanId: '0000000000000000',
      kind: 'SPAN_KIND_CLIENT',
      status: { code: 'STATUS_CODE_ERROR', more: 1 },
      links: [{ attributes: null }],
      events: null,
      something: [1],
    });
    expect({ traceId, spanId, parentSpanId }).toEqual({
      traceId: IDS.traceId.toLowerCase(),
      spanId: IDS.spanId.toLowerCase(),
      parentSpanId: '',
    });
    expect({ kind, status, events }).toEqual({ kind: 'client', status: { code: 'error', message: '' }, events: [] });
    expect(links).toEqual([{ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceState: '', properties: {} }]);
  });

  test('half a surrogate pair stays what it is', () => {
    expect(decodeSpan({ name: 'a\ud800b\udc00\u{1f40e}' }).name).toBe('a\ud800b\udc00🐎');
  });

  test('an empty request, an empty document, a byte order mark', () => {
    expect(decode('{}').spans).toEqual([]);
    expect(decode('\ufeff{"resourceSpans":[{}]}').spans).toEqual([]);
  });
});

describe('refusals', () => {
  const good = { ...IDS, startTimeUnixNano: '5', endTimeUnixNano: '5' };
  test.each<[string, object]>([
    ['unknown kind', { kind: 9 }],
    ['unknown kind', { kind: 'SPAN_KIND_OTHER' }],
    ['unknown status code', { status: { code: 7 } }],
    ['a key comes twice', { attributes: [{ key: 'a' }, { key: 'b' }, { key: 'a', value: { intValue: 1 } }] }],
    ['bad trace id', { traceId: '0'.repeat(32) }],
    ['bad trace id', { traceId: 'abc' }],
    ['bad trace id', { traceId: `${IDS.traceId}00` }],
    ['bad trace id', { traceId: 'CvdlGRbNQ92ESOshHIAxnA==' }],
    ['bad span id', { spanId: '' }],
    ['bad span id', { spanId: 'zzzzzzzzzzzzzzzz' }],
    ['bad parent span id', { parentSpanId: 'ab' }],
    ['bad link', { links: [{ traceId: 'ab' }] }],
    ['end before start', { endTimeUnixNano: '4' }],
    ['unknown kind', { kind: 'CLIENT' }],
    ['unknown kind', { kind: 1.5 }],
    ['unknown kind', { kind: -1 }],
    ['unknown status code', { status: { code: 'ERROR' } }],
    ['bad field', { name: 5 }],
    ['bad field', { startTimeUnixNano: '1.5' }],
    ['bad field', { startTimeUnixNano: -1 }],
    ['bad field', { endTimeUnixNano: '18446744073709551616' }],
    ['bad field', { flags: -1 }],
    ['bad field', { events: [{ timeUnixNano: -5 }] }],
    ['bad field', { links: [5] }],
    ['bad field', { attributes: [{ key: 'a', value: { intValue: '9223372036854775808' } }] }],
  ])('%s', (reason, change) => {
    const spans = [good, { ...good, ...change }, good];
    const decoded = decode(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
    expect(decoded.spans).toHaveLength(2);
    expect(decoded.refused).toBe(1);
    expect(decoded.reasons).toEqual({ [reason]: 1 });
  });

  test.each([
    ['intValue', '9223372036854775808'],
    ['boolValue', 'true'],
    ['bytesValue', '*'],
  ])('a bad %s of a resource or scope costs its spans, and no others', (member, value) => {
    const part = { attributes: [{ key: 'a', value: { [member]: value } }] };
    const decoded = decode(
      JSON.stringify({
        resourceSpans: [
          { resource: part, scopeSpans: [{ spans: [good, good] }] },
          { scopeSpans: [{ scope: part, spans: [good, 5] }, { spans: [good] }] },
        ],
      }),
    );
    expect(decoded.spans).toHaveLength(1);
    expect(decoded.reasons).toEqual({ 'bad field': 4 });
    expect(describeRefusals(decoded)).toMatch(new RegExp(`^4 bad field \\(.*${member}.* must be .*\\)$`));
  });

  test('values nested too deep cost their span only', () => {
    const nested = (depth: number): object =>
      depth === 0 ? { intValue: 1 } : { arrayValue: { values: [nested(depth - 1)] } };
    const span = (depth: number) => ({ ...good, attributes: [{ key: 'k', value: nested(depth) }] });
    const decoded = decode(
      JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span(64), span(65), good] }] }] }),
    );
    expect(decoded.spans).toHaveLength(2);
    expect(decoded.reasons).toEqual({ 'values nested too deep': 1 });
  });

  test.each([
    'nonsense',
    '[]',
    'null',
    '{"resourceSpans":5}',
    '{"resourceSpans":[null]}',
    `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ])('no such document: %#', (text) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_FORMAT' }));
  });

  test('too many values are refused before they are built', () => {
    const text = `{"a":[${'{},'.repeat(100)}{}]}`;
    expect(() => decodeOtlpJson(Buffer.from(text), { maxItems: 50 })).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_TOO_LARGE' }),
    );
    expect(decodeOtlpJson(Buffer.from(text), { maxItems: 200 }).spans).toEqual([]);
    const spans = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: Array(50).fill(good) }] }] });
    expect(() => decodeOtlpJson(Buffer.from(spans), { maxItems: 49 * 3 })).not.toThrow();
  });
});
