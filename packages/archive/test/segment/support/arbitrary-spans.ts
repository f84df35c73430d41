// Spans of every kind there can be: few ids, so that parents are absent, spans come twice and parents go round in circles; every type of
// value; times at both ends of what a clock can show.

import {
  ArchivedDouble,
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedValue,
} from '../../../../../src/record/archived-span.js';
import fc from '../../../../../test/support/fast-check.js';

/** A record that is an ordinary object. */
const record = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as unknown as fc.Arbitrary<T>;

const text = fc.oneof(
  fc.constantFrom('', 'GET /', 'x', '\0flags', '\0\0x', '__proto__', 'constructor', '\ud800 alone', 'naïve 💙'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const hexText = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });

const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(
    0,
    -0,
    Number.NaN,
    Infinity,
    -Infinity,
    2 ** 52,
    -(2 ** 52),
    2 ** 52 - 1,
    2 ** 53 - 1,
    2 ** 53,
    5e-324,
  ),
);
const bigint = fc.oneof(
  fc.bigInt(),
  fc.constantFrom(0n, 5n, -1n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 64n - 1n, 2n ** 200n),
);

/** Any value a property can have. */
export const anyValue: fc.Arbitrary<ArchivedValue> = fc.letrec<{ value: ArchivedValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    bigint,
    fc.constant(null),
    fc.integer().map((whole) => new ArchivedDouble(whole)),
    fc.uint8Array({ maxLength: 6 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** Any properties. */
export const anyProperties: fc.Arbitrary<ArchivedProperties> = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom('http.method', 'http.status_code', 'db.rows'), text), anyValue), {
    maxLength: 4,
  })
  .map((entries) => Object.fromEntries(entries));

const noProperties = fc.constant<ArchivedProperties>({});
const someProperties = fc.oneof({ weight: 2, arbitrary: noProperties }, { weight: 1, arbitrary: anyProperties });

const usualTime = fc.bigInt({ min: 1_760_000_000_000_000_000n, max: 1_760_000_010_000_000_000n });
const anyTime = fc.oneof(
  { weight: 12, arbitrary: usualTime },
  { weight: 2, arbitrary: usualTime.map((time) => (time / 1_000_000n) * 1_000_000n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 64n - 1n) },
);

export const traceIds = [`${'0'.repeat(31)}1`, '0123456789abcdef0123456789abcdef', 'f'.repeat(32)];
const spanIds = ['0000000000000001', '00000000000000ff', '7fffffffffffffff', '8000000000000000', 'fffffffffffffffe'];
const traceId = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...traceIds) }, { weight: 1, arbitrary: hexText(32) });
const spanId = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...spanIds) }, { weight: 2, arbitrary: hexText(16) });

const counts = (...fields: readonly string[]): fc.Arbitrary<object> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.record(
        Object.fromEntries(fields.map((field) => [field, fc.integer({ min: 1, max: 2 ** 32 - 1 })])),
        {
          requiredKeys: [],
          noNullPrototype: true,
        },
      ),
    },
  );
const withExtras = <T extends object>(thing: fc.Arbitrary<T>, extras: fc.Arbitrary<object>): fc.Arbitrary<T> =>
  fc.tuple(thing, extras).map(([one, more]) => ({ ...one, ...more }));
const schema = fc.constantFrom({}, {}, { schemaUrl: 'https://example.com/1' });

const link: fc.Arbitrary<ArchivedLink> = withExtras(
  record<ArchivedLink>({ traceId, spanId, traceState: text, properties: someProperties }),
  counts('flags', 'droppedAttributesCount'),
);
const event: fc.Arbitrary<ArchivedEvent> = withExtras(
  record<ArchivedEvent>({ name: text, timeUnixNs: anyTime, properties: someProperties }),
  counts('droppedAttributesCount'),
);
const fewResources: fc.Arbitrary<ArchivedResource> = fc.oneof(
  fc.constantFrom({ properties: { 'service.name': 'cart' } }, { properties: { 'service.name': 'frontend' } }),
  withExtras(
    withExtras(record<ArchivedResource>({ properties: anyProperties }), schema),
    counts('droppedAttributesCount'),
  ),
);
const fewScopes: fc.Arbitrary<ArchivedScope> = fc.oneof(
  fc.constant({ name: 'lib', version: '1', properties: {} }),
  withExtras(record<ArchivedScope>({ name: text, version: text, properties: someProperties }), schema),
);

const plainSpan: fc.Arbitrary<ArchivedSpan> = record<ArchivedSpan>({
  traceId,
  spanId,
  parentSpanId: fc.oneof(fc.constant(''), spanId),
  traceState: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text }),
  name: text,
  kind: fc.constantFrom('unspecified', 'internal', 'server', 'client', 'producer', 'consumer'),
  startUnixNs: anyTime,
  endUnixNs: anyTime,
  status: record({
    code: fc.constantFrom('unset', 'ok', 'error'),
    message: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text }),
  }),
  properties: someProperties,
  events: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(event, { maxLength: 3 }) },
  ),
  links: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(link, { maxLength: 3 }) },
  ),
  resource: fewResources,
  scope: fewScopes,
});

/** Any span. */
export const anySpan = withExtras(
  plainSpan,
  counts('flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'),
);

/** Any span that an archive takes: files of before may have some that end before they start. */
export const anyTakenSpan: fc.Arbitrary<ArchivedSpan> = anySpan.map((span) =>
  span.endUnixNs >= span.startUnixNs ? span : { ...span, startUnixNs: span.endUnixNs, endUnixNs: span.startUnixNs },
);

/** Spans of a few traces. */
export const anySpans: fc.Arbitrary<ArchivedSpan[]> = fc.array(anySpan, { maxLength: 40 });
/** Those that an archive takes. */
export const anyTakenSpans: fc.Arbitrary<ArchivedSpan[]> = fc.array(anyTakenSpan, { maxLength: 40 });
