// Damaged documents of each format: each is read or refused with a typed error, never anything else, and what is read can be
// written and read again.
import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { DecodedTraces } from '../../src/formats/decode-context.js';
import { encodeJaegerJson, encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { decodeOtlpProtobuf } from '../../src/formats/otlp/read-protobuf.js';
import { TraceFormatError } from '../../src/formats/trace-format-error.js';
import { FULL_SPAN } from '../support/any-span.js';
import { damagedBytes } from '../support/mutate.js';
import { toProtobuf } from '../support/otlp-protobuf.js';

const small: ArchivedSpan = { ...FULL_SPAN, properties: { a: 1 }, events: [], links: [], traceState: '' };
const spans = [FULL_SPAN, small];
const json = [encodeOtlpJson(spans), encodeOtlpJson([small])];
const jaeger = [encodeJaegerJson(new Map([[FULL_SPAN.traceId, spans]])), encodeJaegerJson(new Map([['x', [small]]]))];

/** Ids of the right form, times in order: what the archive relies on. */
const check = ({ traceId, spanId, parentSpanId, startUnixNs, endUnixNs, events, links }: ArchivedSpan): void => {
  const isGood =
    /^[0-9a-f]{32}$/.test(traceId) &&
    /^[0-9a-f]{16}$/.test(spanId) &&
    /^([0-9a-f]{16})?$/.test(parentSpanId) &&
    startUnixNs >= 0n &&
    endUnixNs >= startUnixNs &&
    [endUnixNs, ...events.map(({ timeUnixNs }) => timeUnixNs)].every((time) => time < 2n ** 64n) &&
    links.every((link) => /^[0-9a-f]{32}$/.test(link.traceId) && /^[0-9a-f]{16}$/.test(link.spanId));
  if (!isGood) throw new Error(`a span was let through: ${JSON.stringify({ traceId, spanId, parentSpanId, links })}`);
};

const formats: [string, (bytes: Buffer) => DecodedTraces, Buffer[], boolean][] = [
  ['OTLP protobuf', decodeOtlpProtobuf, json.map(toProtobuf), false],
  ['OTLP/JSON', decodeOtlpJson, json.map((text) => Buffer.from(text)), true],
  ['Jaeger JSON', decodeJaegerJson, jaeger.map((text) => Buffer.from(text)), true],
];

const ROUNDS = samples(400, 4000, 40_000);

describe.each(formats)('%s', (_, decode, originals, isText) => {
  test('any damaged document', () => {
    const outcomes = { read: 0, refused: 0, spans: 0 };
    fc.assert(
      fc.property(damagedBytes(originals, isText), (bytes) => {
        try {
          const decoded = decode(bytes);
          decoded.spans.forEach(check);
          outcomes.read++;
          outcomes.spans += decoded.spans.length;
          const again = decodeOtlpJson(Buffer.from(encodeOtlpJson(decoded.spans)));
          expect(again.spans).toHaveLength(decoded.spans.length);
        } catch (error) {
          if (!(error instanceof TraceFormatError)) throw error;
          outcomes.refused++;
        }
      }),
      { numRuns: ROUNDS },
    );
    // Both happen, or the damage was too light or too heavy to prove anything.
    expect(outcomes.read).toBeGreaterThan(ROUNDS / 50);
    expect(outcomes.refused).toBeGreaterThan(ROUNDS / 50);
    expect(outcomes.spans).toBeGreaterThan(ROUNDS / 50);
  });
});
