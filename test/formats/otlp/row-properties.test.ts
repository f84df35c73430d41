// Properties of rows are written from bytes and copied where they repeat: the request is byte by byte the one that is made of their values,
// whatever was taken back in between.

import { describe, expect, test } from 'vitest';
import { RequestBuilder } from '../../../src/exporters/batch-spans.js';
import { OWN_SCOPE, ownResource } from '../../../src/formats/library.js';
import { ProtobufFormat } from '../../../src/formats/otlp/write-protobuf.js';
import type { ArchivedProperties } from '../../../src/record/archived-span.js';
import type { FinishedSpan } from '../../../src/record/finished-span.js';
import { ObjectProperties } from '../../../src/record/properties.js';
import { TraceIdentity } from '../../../src/record/record.js';
import { RowView } from '../../../src/record/row-view.js';
import type { PropertyList, PropertyValue } from '../../../src/rows/property.js';
import { RowChunk } from '../../../src/rows/row-chunk.js';
import { internName } from '../../../src/rows/row-text.js';
import fc from '../../support/fast-check.js';
import { useOwnNames } from '../../support/names.js';
import { samples } from '../../support/samples.js';

useOwnNames();

const RESOURCE = { serviceName: 'rows', attributes: {} };
const ANCHOR = { ticks: 0, unixSec: 1_700_000_000, unixNano: 0, nsPerTick: 1 };

type Properties = Record<string, PropertyValue>;

/** Few values, so that they repeat, and some of each kind that bytes or words cannot say. */
const anyValue: fc.Arbitrary<PropertyValue> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<PropertyValue>('', 'GET', '/api', 'grün', 'x'.repeat(60), 'y'.repeat(200)) },
  { weight: 3, arbitrary: fc.constantFrom<PropertyValue>(0, -0, 200, 127, 128, 2 ** 31, -5, 1.5, Number.NaN, 2 ** 40) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<PropertyValue>(true, false, 5n, 2n ** 70n, 'half \ud800', ['a', 'b'], [1, 2], [true]),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
);
// The last one has no number: it is too long for one.
const KEYS = ['method', 'path', 'scheme', 'peer', 'status', 'schlüssel', 'k'.repeat(130), 'long'.repeat(70)];
const anyProperties: fc.Arbitrary<Properties> = fc.dictionary(fc.constantFrom(...KEYS), anyValue, { maxKeys: 8 });

interface Written {
  readonly properties: Properties;
  /** Fails in the middle, behind its properties. */
  readonly isBroken: boolean;
}

const anySpans: fc.Arbitrary<Written[]> = fc.array(
  fc.record({ properties: anyProperties, isBroken: fc.nat(7).map((n) => n === 0) }),
  { maxLength: 40 },
);

const chunkOf = (spans: readonly Written[]): RowChunk => {
  const chunk = new RowChunk(64);
  for (const { properties } of spans) {
    chunk.entries.writeProperties(Object.entries(properties).flat(1) as PropertyList);
    chunk.add({ idHi: 1, idLo: 2, begin: 5 }, 0, 0, 0, internName('request'), 0, 9);
  }
  return chunk;
};

const requestsOf = (count: number, maxBytes: number, spanAt: (index: number) => FinishedSpan): Buffer[] => {
  const builder = new RequestBuilder(new ProtobufFormat(), maxBytes);
  const requests: Buffer[] = [];
  builder.begin(RESOURCE);
  for (let i = 0; i < count; i++) {
    if (builder.add(spanAt(i)) !== 'full') continue;
    requests.push(Buffer.from(builder.end()));
    builder.begin(RESOURCE);
    builder.add(spanAt(i));
  }
  requests.push(Buffer.from(builder.end()));
  return requests;
};

const encode = (spans: readonly Written[], maxBytes: number, isByRows: boolean): Buffer[] => {
  const chunk = chunkOf(spans);
  const view = new RowView(ownResource(RESOURCE), OWN_SCOPE);
  const identity = new TraceIdentity(1, 2, 3, 4, '');
  return requestsOf(spans.length, maxBytes, (i) => {
    const span = view.of(chunk, i, identity, ANCHOR);
    return new Proxy(span, {
      get: (target, key) => {
        if (key === 'properties' && !isByRows)
          return new ObjectProperties().of(spans[i].properties as ArchivedProperties);
        if (key === 'droppedAttributesCount' && spans[i].isBroken) throw new Error('broken');
        return Reflect.get(target, key, target);
      },
    });
  });
};

const sameBytes = (spans: readonly Written[], maxBytes: number): void => {
  expect(encode(spans, maxBytes, true).map((bytes) => bytes.toString('latin1'))).toEqual(
    encode(spans, maxBytes, false).map((bytes) => bytes.toString('latin1')),
  );
};

describe('properties of rows', () => {
  test('any spans, in requests of any size', () => {
    fc.assert(fc.property(anySpans, fc.integer({ min: 600, max: 20_000 }), sameBytes), {
      numRuns: samples(40, 400, 4000),
    });
  });

  test('what repeats behind a span that failed', () => {
    const good: Written = { properties: { method: 'GET', path: '/api', status: 200 }, isBroken: false };
    const other: Written = { properties: { method: 'PUT', path: '/api/items', status: 500 }, isBroken: true };
    sameBytes([good, other, other, good, { ...other, isBroken: false }, good], 100_000);
  });

  test('spans whose length takes another number of bytes than was guessed', () => {
    const small: Written = { properties: { status: 200 }, isBroken: false };
    const large: Written = { properties: { path: 'z'.repeat(20_000), status: 200, method: 'GET' }, isBroken: false };
    sameBytes([small, small, large, large, small, large], 100_000);
  });

  test('more keys than are remembered, in a span that is moved', () => {
    // Numbers are given in order: each key shares its slot with the one behind it.
    const keys = Array.from({ length: 512 }, (_, i) => `key-${i}`);
    for (const key of keys) internName(key);
    const shared = keys.slice(0, 256).flatMap((key, i) => [key, keys[i + 256]]);
    const many: Written = {
      properties: Object.fromEntries(shared.map((key, i) => [key, `${i % 7}`.repeat(40)])),
      isBroken: false,
    };
    const few = (from: number): Written => ({
      properties: Object.fromEntries(Object.entries(many.properties).slice(from, from + 10)),
      isBroken: false,
    });
    sameBytes([many, few(1), few(0), many, few(300), few(501), many], 1_000_000);
  });
});
