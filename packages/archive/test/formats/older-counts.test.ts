// Archives of a while ago have counts of what was left out as properties of the span, under OpenTelemetry's names. They stay properties of
// the same value in every format: taken for fields they would count twice.
import { expect, test } from 'vitest';
import { encodeJaegerJson, encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { shownTrace } from '../../src/formats/jaeger-json/shown-trace.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { newDirectory, openArchive } from '../archive/support/directory.js';
import { span } from '../segment/support/segments.js';

const COUNTS = { 'otel.dropped_attributes_count': 4, 'otel.dropped_events_count': 5, 'otel.dropped_links_count': 6 };
const OLD = span({
  properties: { own: 1, ...COUNTS },
  events: [{ name: 'e', timeUnixNs: 5n, properties: { 'otel.dropped_attributes_count': 7 } }],
});

test('stored, and in and out of both formats', async () => {
  const archive = await openArchive(newDirectory());
  archive.append([OLD]);
  await archive.seal();
  const found = await archive.trace(OLD.traceId);
  expect(found).toEqual([OLD]);
  expect(decodeOtlpJson(Buffer.from(encodeOtlpJson(found))).spans).toEqual([OLD]);
  expect(encodeOtlpJson(found)).not.toContain('droppedAttributesCount');
  expect(decodeJaegerJson(Buffer.from(encodeJaegerJson(new Map([[OLD.traceId, found]])))).spans).toEqual([OLD]);
});

test('shown once, as every property is', () => {
  const shown = JSON.parse([...shownTrace(OLD.traceId, [OLD])].join(''));
  const tags = shown.spans[0].tags as readonly { readonly key: string; readonly value: unknown }[];
  expect(tags.filter(({ key }) => key.startsWith('otel.dropped_'))).toEqual(
    Object.entries(COUNTS).map(([key, value]) => ({ key, type: 'int64', value })),
  );
});

test('minus zero keeps its sign in both formats', () => {
  const minus = span({ properties: { minus: -0, list: [1.5, -0] } });
  const [fromOtlp] = decodeOtlpJson(Buffer.from(encodeOtlpJson([minus]))).spans;
  expect(Object.is(fromOtlp.properties.minus, -0)).toBe(true);
  expect(fromOtlp).toEqual(minus);
  const [fromJaeger] = decodeJaegerJson(
    Buffer.from(encodeJaegerJson(new Map([[minus.traceId, [{ ...minus, properties: { minus: -0 } }]]]))),
  ).spans;
  expect(Object.is(fromJaeger.properties.minus, -0)).toBe(true);
});
