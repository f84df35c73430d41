// Archived spans of every shape for properties and tests of formats: every type of value, the edges of each, everything a span can have.

import {
  ArchivedDouble,
  type ArchivedProperties,
  type ArchivedSpan,
  type ArchivedValue,
} from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';

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
  fc.integer().map((whole) => new ArchivedDouble(whole)),
  fc.constantFrom<ArchivedValue>(Number.NaN, Number.POSITIVE_INFINITY, -0, 5e-324, 1e300, 2 ** 53, -(2n ** 63n)),
);

const { value } = fc.letrec<{ value: ArchivedValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.uint8Array({ maxLength: 9 }),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Keys that Jaeger's format uses for itself, too. */
const RESERVED = [
  ...['span.kind', 'otel.status_code', 'otel.status_description', 'error', 'w3c.tracestate', 'otel.scope.name'],
  ...['otel.scope.version', 'otel.scope.attributes.a', 'opentracing.ref_type', 'event', 'spanline.ns'],
  ...[
    'spanline.duration_ns',
    'spanline.flags',
    'otel.dropped_attributes_count',
    '\0flags',
    '\0\0',
    'link.trace_id',
    'link.span_id',
    'host.name',
    '@jaeger@event_at',
    '@jaeger@parent_at',
    '@jaeger@tag_order',
  ],
];
const key = fc.oneof(text, fc.constantFrom(...RESERVED));

const propertiesOf = (values: fc.Arbitrary<ArchivedValue>): fc.Arbitrary<ArchivedProperties> =>
  fc
    .array(fc.tuple(key, fc.oneof(values, fc.constantFrom('server', 'ERROR', 'child_of', true, 7, 1))), {
      maxLength: 5,
    })
    .map((pairs) => Object.fromEntries(pairs));

/** Counts and flags, some of them there. */
const extras = (...fields: readonly string[]): fc.Arbitrary<object> => {
  const count = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(2 ** 32 - 1));
  return fc.record(Object.fromEntries(fields.map((field) => [field, count])), { requiredKeys: [] });
};
const schema = fc.record({ schemaUrl: fc.string({ minLength: 1, maxLength: 9 }) }, { requiredKeys: [] });
/** Two records as one. */
const both = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>): fc.Arbitrary<A & B> =>
  fc.tuple(a, b).map(([one, other]) => ({ ...one, ...other }));

/** Up to the year 2255: beyond, Jaeger's microseconds are not exact numbers. */
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
      events: fc.array(
        both(fc.record({ name: text, timeUnixNs: time, properties }), extras('droppedAttributesCount')),
        { maxLength: 3 },
      ),
      links: fc.array(
        both(
          fc.record({ traceId: hex(32), spanId: hex(16), traceState: fc.constantFrom('', 'a=b'), properties }),
          extras('flags', 'droppedAttributesCount'),
        ),
        { maxLength: 3 },
      ),
      resource: both(both(fc.record({ properties }), schema), extras('droppedAttributesCount')),
      more: extras('flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'),
      scope: both(both(fc.record({ name: text, version: text, properties }), schema), extras('droppedAttributesCount')),
    } satisfies { [key in keyof (ArchivedSpan & { durationNs: bigint; more: object })]?: unknown })
    .map(
      ({ durationNs, more, ...span }) =>
        ({ ...span, ...more, endUnixNs: span.startUnixNs + durationNs }) as ArchivedSpan,
    );
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
    whole: new ArchivedDouble(2),
    none: null,
    'otel.dropped_attributes_count': 4,
  },
  flags: 0x101,
  droppedAttributesCount: 3,
  droppedLinksCount: 1,
  events: [
    {
      name: 'cache miss',
      timeUnixNs: 1_700_000_000_123_500_007n,
      properties: { key: 'k1', size: 17 },
      droppedAttributesCount: 1,
    },
    { name: '', timeUnixNs: 0n, properties: {} },
  ],
  links: [
    { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceState: '', properties: {} },
    {
      traceId: '00000000000000000000000000000abc',
      spanId: 'ffffffffffffffff',
      traceState: 'a=b',
      properties: { why: 'batch' },
      flags: 0x300,
      droppedAttributesCount: 2,
    },
  ],
  resource: {
    properties: { 'service.name': 'shop', 'host.name': 'h1', 'process.pid': 42, args: ['node', 'a.js'] },
    schemaUrl: 'https://example.com/schemas/1',
    droppedAttributesCount: 6,
  },
  scope: {
    name: 'http',
    version: '1.2.3',
    properties: { short: true },
    schemaUrl: 'https://example.com/schemas/2',
    droppedAttributesCount: 5,
  },
};
