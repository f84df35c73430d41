// Random spans: every field over its whole range, for tests that must hold whatever a span says.

import { EventRecord, type SpanRecord, TraceIdentity } from '../../../../src/record/record.js';
import type { Link, PropertyList, PropertyValue, SpanKind, SpanStatus } from '../../../../src/rows/property.js';
import fc from '../../../support/fast-check.js';
import { record } from '../../support/records.js';

const word = fc.integer({ min: 0, max: 0xffffffff });
/** Well-formed only: Thrift strings are UTF-8, where a lone surrogate cannot be. */
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 300 }));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const value: fc.Arbitrary<PropertyValue> = fc.oneof(
  text,
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  int64,
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.array(text, { maxLength: 4 }),
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
  fc.array(int64, { maxLength: 4 }),
  fc.array(fc.boolean(), { maxLength: 4 }),
);
const properties: fc.Arbitrary<PropertyList | null> = fc
  .uniqueArray(fc.tuple(text, value), { selector: ([key]) => key, maxLength: 20 })
  .map((pairs) => (pairs.length === 0 ? null : pairs.flat()));
const nano = fc.integer({ min: 0, max: 999_999_999 });
const sec = fc.integer({ min: 0, max: 4_000_000_000 });
/** How many of something were left out. */
const dropped = fc.oneof(fc.constant(0), fc.nat(300), fc.nat(0x7fffffff));
const event = fc.tuple(text, sec, nano, properties, dropped).map((parts) => new EventRecord(...parts));
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const link: fc.Arbitrary<Link> = fc.record(
  {
    traceId: hex(32),
    spanId: hex(16),
    traceState: text,
    properties: fc.dictionary(text, value, { maxKeys: 4 }),
    droppedAttributesCount: dropped,
  },
  { requiredKeys: ['traceId', 'spanId'] },
);
const status: fc.Arbitrary<SpanStatus> = fc.oneof(
  fc.record({ code: fc.constantFrom<'unset' | 'ok'>('unset', 'ok') }),
  fc.record({ code: fc.constant<'error'>('error'), message: text }, { requiredKeys: ['code'] }),
);
const pair = fc.tuple(word, word);

export const anySpan: fc.Arbitrary<SpanRecord> = fc
  .record({
    trace: fc
      .tuple(word, word, word, word, fc.oneof(fc.constant(''), text))
      .map((parts) => new TraceIdentity(...parts)),
    id: pair,
    parent: fc.oneof(pair, fc.constant<[number, number]>([0, 0])),
    name: text,
    kind: fc.constantFrom<SpanKind>('internal', 'server', 'client', 'producer', 'consumer'),
    start: fc.tuple(sec, nano),
    length: fc.tuple(fc.integer({ min: 0, max: 100_000 }), nano),
    properties,
    events: fc.array(event, { maxLength: 18 }),
    links: fc.array(link, { maxLength: 17 }),
    status,
    dropped: fc.tuple(dropped, dropped, dropped),
  })
  .map(({ length, ...parts }) => {
    const nanos = parts.start[1] + length[1];
    const end: [number, number] = [parts.start[0] + length[0] + Math.floor(nanos / 1e9), nanos % 1e9];
    return record({ ...parts, end });
  });
