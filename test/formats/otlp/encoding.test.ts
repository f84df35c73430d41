// Every span arrives field by field as it was recorded, in protobuf and in JSON, and as the official exporter sends it.
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { nanosWords, toNanosWords } from '../../../src/base/bytes/byte-writer.js';
import type { Resource } from '../../../src/collector/reporter.js';
import { RequestBuilder } from '../../../src/exporters/batch-spans.js';
import { toSdkResource, toSdkSpan } from '../../../src/exporters/otel-sdk/sdk-span.js';
import { LIBRARY_VERSION, OWN_SCOPE, ownResource } from '../../../src/formats/library.js';
import { JsonFormat } from '../../../src/formats/otlp/write-json.js';
import { ProtobufFormat } from '../../../src/formats/otlp/write-protobuf.js';
import { ObjectView } from '../../../src/record/object-view.js';
import { type SpanRecord, TraceIdentity } from '../../../src/record/record.js';
import { anySpan } from '../../exporters/jaeger/support/any-span.js';
import { decodeJson, decodeProtobuf } from '../../exporters/support/otlp-decode.js';
import { modelOf } from '../../exporters/support/otlp-model.js';
import { EVERY_VALUE, fullRecord, RESOURCE, randomTraces, record, TRACE } from '../../exporters/support/records.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';

const view = (span: SpanRecord): ObjectView => new ObjectView(ownResource(RESOURCE), OWN_SCOPE).of(span);

const protobufBuilder = new RequestBuilder(new ProtobufFormat(), 4 << 20);
const jsonBuilder = new RequestBuilder(new JsonFormat(), 4 << 20);

const encode = (builder: RequestBuilder, spans: readonly SpanRecord[], resource: Resource = RESOURCE): Buffer => {
  builder.begin(resource);
  for (const span of spans) expect(builder.add(view(span))).toBe('added');
  return builder.end();
};

const forms = [
  { form: 'protobuf', send: (spans: readonly SpanRecord[]) => decodeProtobuf(encode(protobufBuilder, spans)) },
  { form: 'json', send: (spans: readonly SpanRecord[]) => decodeJson(encode(jsonBuilder, spans)) },
];

describe.each(forms)('$form', ({ send }) => {
  test('a span with everything, every value type and its edges', () => {
    expect(send([fullRecord()]).spans).toEqual([modelOf(fullRecord())]);
  });

  test('any span (property-based)', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { minLength: 1, maxLength: 5 }), (spans) => {
        expect(send(spans).spans).toEqual(spans.map(modelOf));
      }),
      { numRuns: samples(20, 150, 1500) },
    );
  });

  test('texts of every length around the steps of a length prefix and of the writers', () => {
    const lengths = [
      0, 1, 38, 39, 40, 41, 63, 64, 65, 100, 118, 119, 125, 126, 127, 128, 129, 340, 1023, 1024, 16_383, 16_384, 70_000,
    ];
    const texts = lengths.flatMap((length) => ['a'.repeat(length), 'ž'.repeat(length), `${'a'.repeat(length)}🐎`]);
    const spans = texts.map((text) =>
      fullRecord({
        name: text,
        properties: [`k${text}`, text, 'list', [text, text]],
        status: { code: 'error', message: text },
      }),
    );
    expect(send(spans).spans).toEqual(spans.map(modelOf));
  });

  test('who sent it: service and resource of the batch, our own name and version', () => {
    const { resource, scope } = send([record()]);
    expect(scope).toEqual({ name: 'spanline', version: packageJson.version });
    expect(resource).toEqual([
      ['service.name', ['string', 'shop']],
      ['telemetry.sdk.language', ['string', 'nodejs']],
      ['telemetry.sdk.name', ['string', 'spanline']],
      ['telemetry.sdk.version', ['string', LIBRARY_VERSION]],
      ['host.name', ['string', 'h1']],
      ['process.pid', ['int', '42']],
      [
        'cpu.ids',
        [
          'array',
          [
            ['int', '0'],
            ['int', '1'],
          ],
        ],
      ],
      ['disk.bytes', ['int', '9007199254740993']],
    ]);
  });

  test('a lone surrogate harms neither the message nor its neighbours', () => {
    const [broken, whole] = send([record({ name: 'cut \ud83d' }), record({ name: 'whole' })]).spans;
    expect(broken.name).toMatch(/^cut [\ud83d\ufffd]$/);
    expect(whole).toEqual(modelOf(record({ name: 'whole' })));
  });

  test('a builder used again keeps nothing of the request before', () => {
    send([fullRecord(), fullRecord()]);
    expect(send([record()]).spans).toEqual([modelOf(record())]);
  });
});

/** Where the SDK's types cannot hold what a record can (64-bit integers), or the official encoder rounds (beyond 2^53). */
const ONLY_OURS = /bigint|beyond|below/;
/** Its JSON has null for NaN and Infinity, and makes a double without a fraction an integer however large. */
const NOT_IN_ITS_JSON = /nan|infinity|minus|^doubles$/;

const valuesWithout = (...keys: RegExp[]) =>
  EVERY_VALUE.filter((_, i) => !keys.some((one) => one.test(EVERY_VALUE[i - (i % 2)] as string)));

/** The SDK cannot say that it is not known whether a link leads to another process; it says "not remote". */
const withoutLinkFlags = (spans: ReturnType<typeof modelOf>[]) =>
  spans.map((span) => ({ ...span, links: span.links.map((link) => ({ ...link, flags: 0 })) }));

describe('the official exporter, for the same spans', () => {
  const resource: Resource = { ...RESOURCE, attributes: { 'host.name': 'h1', 'process.pid': 42, 'cpu.ids': [0, 1] } };
  const sdkResource = toSdkResource(resource);
  const links = [
    { traceId: TRACE.traceId, spanId: '00f067aa0ba902b7' },
    {
      traceId: TRACE.traceId,
      spanId: 'ffffffffffffffff',
      traceState: 'a=b',
      properties: { why: 'batch', list: ['x', 'y'] },
    },
  ];
  const spansWith = (properties: typeof EVERY_VALUE) => [
    fullRecord({ properties, links }),
    fullRecord({ properties, links, hasRemoteParent: false }),
    ...randomTraces(7, 500).flat(),
  ];
  const sdkSpansOf = (spans: readonly SpanRecord[]) =>
    spans.map((span) => toSdkSpan(span, sdkResource)) as unknown as ReadableSpan[];

  test('protobuf: the same fields', () => {
    const spans = spansWith(valuesWithout(ONLY_OURS));
    const official = decodeProtobuf(ProtobufTraceSerializer.serializeRequest(sdkSpansOf(spans))!);
    const ours = decodeProtobuf(encode(protobufBuilder, spans, resource));
    expect(ours).toEqual({ ...official, spans: withoutLinkFlags(official.spans) });
    expect(official.spans[0].links[0].flags).toBe(0x101);
  });

  test('JSON: the same fields', () => {
    const spans = spansWith(valuesWithout(ONLY_OURS, NOT_IN_ITS_JSON));
    const official = decodeJson(JsonTraceSerializer.serializeRequest(sdkSpansOf(spans))!);
    const ours = decodeJson(encode(jsonBuilder, spans, resource));
    expect(ours).toEqual({ ...official, spans: withoutLinkFlags(official.spans) });
  });
});

test('JSON follows the mapping of OTLP/JSON: ids in hex, 64-bit numbers as strings, NaN by name, one line', () => {
  const text = encode(jsonBuilder, [fullRecord()]).toString();
  expect(text).not.toContain('\n');
  const [span] = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans;
  expect(span).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    parentSpanId: '00000001fffffffe',
    kind: 2,
    startTimeUnixNano: '1700000000123456789',
    flags: 0x301,
  });
  const trace = new TraceIdentity(0, 0, 0, 1, '', true);
  const random = [fullRecord({ trace }), fullRecord({ trace, hasRemoteParent: false })];
  const { spans } = JSON.parse(encode(jsonBuilder, random).toString()).resourceSpans[0].scopeSpans[0];
  expect(spans.map(({ flags }: { flags: number }) => flags)).toEqual([0x303, 0x103]);
  const values = Object.fromEntries(
    span.attributes.map((one: { key: string; value: unknown }) => [one.key, one.value]),
  );
  expect(values.int).toEqual({ intValue: '42' });
  expect(values['double.nan']).toEqual({ doubleValue: 'NaN' });
  expect(values['double.minus']).toEqual({ doubleValue: '-Infinity' });
});

test('unix nanoseconds are exact in 64 bits for every second up to the year 2554', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 18_446_744_072 }), fc.integer({ min: 0, max: 999_999_999 }), (sec, nano) => {
      toNanosWords(sec, nano);
      expect((BigInt(nanosWords.hi) << 32n) + BigInt(nanosWords.lo)).toBe(BigInt(sec) * 1_000_000_000n + BigInt(nano));
    }),
    { numRuns: samples(500, 2000) },
  );
});

test('what the types forbid is told apart and leaves the request whole', () => {
  for (const builder of [protobufBuilder, jsonBuilder]) {
    builder.begin(RESOURCE);
    builder.add(view(record({ name: 'before' })));
    expect(builder.add(view(record({ name: null as unknown as string })))).toBe('invalid');
    builder.add(view(record({ name: 'after' })));
    const body = builder.end();
    const { spans } = builder === jsonBuilder ? decodeJson(body) : decodeProtobuf(body);
    expect(spans.map(({ name }) => name)).toEqual(['before', 'after']);
  }
});

test('a request takes what fits into its bound and nothing of what does not', () => {
  for (const [format, decode] of [
    [new ProtobufFormat(), decodeProtobuf],
    [new JsonFormat(), decodeJson],
  ] as const) {
    const builder = new RequestBuilder(format, 64 << 10);
    builder.begin(RESOURCE);
    expect(builder.add(view(record({ name: 'x'.repeat(100 << 10) })))).toBe('full');
    let count = 0;
    while (builder.add(view(record({ name: `${count}`.padEnd(600, 'ž') }))) === 'added') count++;
    const body = builder.end();
    expect(body.length).toBeLessThanOrEqual(64 << 10);
    expect(body.length).toBeGreaterThan(60 << 10);
    expect(decode(body).spans).toHaveLength(count);
  }
});
