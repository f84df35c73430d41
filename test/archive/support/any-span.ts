// Archived spans of every shape for properties and tests of formats: every type of value, the edges of each, everything a span can have.
import fc from 'fast-check';
import type { ArchivedProperties, ArchivedSpan, ArchivedValue } from '../../../src/archive/archived-span.js';

const hex = (digits: number) =>
  fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
    .filter((id) => !/^0*$/.test(id));

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.constantFrom('', '__proto__', 'constructor', '🐎\u0000"\\\n\u2028'),
);

/** Whole numbers are numbers up to 2^53 and bigints beyond, as the archive has them; a double beyond is a number. */
const integer = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));

const scalar: fc.Arbitrary<ArchivedValue> = fc.oneof(
  text,
  integer,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom<ArchivedValue>(Number.NaN, Number.POSITIVE_INFINITY, -0, 5e-324, 1e300, 2 ** 53, -(2n ** 63n)),
);

const { value } = fc.letrec<{ value: ArchivedValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.uint8Array({ maxLength: 9 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Keys that Jaeger's format uses for itself, too. */
const RESERVED = [
  ...['span.kind', 'otel.status_code', 'otel.status_description', 'error', 'w3c.tracestate', 'otel.scope.name'],
  ...['otel.scope.version', 'otel.scope.attributes.a', 'opentracing.ref_type', 'event', 'spanline.ns'],
  ...['spanline.duration_ns', 'link.trace_id', 'link.span_id', 'host.name'],
];
const key = fc.oneof(text, fc.constantFrom(...RESERVED));

const propertiesOf = (values: fc.Arbitrary<ArchivedValue>): fc.Arbitrary<ArchivedProperties> =>
  fc
    .array(fc.tuple(key, fc.oneof(values, fc.constantFrom('server', 'ERROR', 'child_of', true, 7))), { maxLength: 5 })
    .map((pairs) => Object.fromEntries(pairs));

/** Up to the year 2255: beyond, Jaeger's microseconds are no exact numbers. */
const time = fc.bigInt({ min: 0n, max: 9n * 10n ** 18n });

/** @param values The values of properties. */
const spanOf = (values: fc.Arbitrary<ArchivedValue>): fc.Arbitrary<ArchivedSpan> => {
  const properties = propertiesOf(values);
  return fc
    .record({
      traceId: hex(32),
      spanId: hex(16),
      parentSpanId: fc.oneof(fc.constant(''), hex(16)),
      traceState: fc.constantFrom('', 'vendor=1,other=2'),
      name: fc.oneof(text, fc.constant('spanline.link')),
      kind: fc.constantFrom('unspecified', 'internal', 'server', 'client', 'producer', 'consumer'),
      startUnixNs: time,
      durationNs: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 50n })),
      status: fc.record({ code: fc.constantFrom('unset', 'ok', 'error'), message: text }),
      properties,
      events: fc.array(fc.record({ name: text, timeUnixNs: time, properties }), { maxLength: 3 }),
      links: fc.array(
        fc.record({ traceId: hex(32), spanId: hex(16), traceState: fc.constantFrom('', 'a=b'), properties }),
        { maxLength: 3 },
      ),
      resource: fc.record({ properties }),
      scope: fc.record({ name: text, version: text, properties }),
    } satisfies { [key in keyof (ArchivedSpan & { durationNs: bigint })]?: unknown })
    .map(({ durationNs, ...span }) => ({ ...span, endUnixNs: span.startUnixNs + durationNs }) as ArchivedSpan);
};

/** Anything OTLP can carry. */
export const anySpan = spanOf(value);

/** Without lists and maps, which Jaeger's format has no types for. */
export const flatSpan = spanOf(fc.oneof(scalar, fc.uint8Array({ maxLength: 9 })));

/** One span with everything. */
export const FULL_SPAN: ArchivedSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: '00000001fffffffe',
  traceState: 'vendor=1,other=2',
  name: 'GET /zboží 🐎',
  kind: 'server',
  startUnixNs: 1_700_000_000_123_456_789n,
  endUnixNs: 1_700_000_000_123_999_001n,
  status: { code: 'error', message: 'nepovedlo se: 🐎' },
  properties: {
    text: 'žluťoučký 🐎 \u0000 "\\\n\u2028',
    int: 42,
    negative: -1,
    large: 9_007_199_254_740_993n,
    largest: 2n ** 63n - 1n,
    smallest: -(2n ** 63n),
    double: 1.5,
    tiny: 5e-324,
    notANumber: Number.NaN,
    infinite: Number.NEGATIVE_INFINITY,
    minusZero: -0,
    yes: true,
    no: false,
    bytes: Uint8Array.from([0, 1, 254, 255]),
    list: ['a', 1, 2.5, true, 9_007_199_254_740_993n, ['x', []], { deep: [1] }],
    map: { a: 1, b: { c: Uint8Array.from([7]) }, empty: {} },
    'otel.dropped_attributes_count': 3,
    'otel.dropped_links_count': 1,
  },
  events: [
    { name: 'cache miss', timeUnixNs: 1_700_000_000_123_500_007n, properties: { key: 'k1', size: 17 } },
    { name: '', timeUnixNs: 0n, properties: {} },
  ],
  links: [
    { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceState: '', properties: {} },
    {
      traceId: '00000000000000000000000000000abc',
      spanId: 'ffffffffffffffff',
      traceState: 'a=b',
      properties: { why: 'batch', 'otel.dropped_attributes_count': 2 },
    },
  ],
  resource: { properties: { 'service.name': 'shop', 'host.name': 'h1', 'process.pid': 42, args: ['node', 'a.js'] } },
  scope: { name: 'http', version: '1.2.3', properties: { short: true } },
};
