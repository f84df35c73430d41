// A search finds exactly the traces that a look at every span would find, the newest first.

import { beforeAll, describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BadOptionsError } from '../../../graph/src/container/graph-error.js';
import { failureOf } from '../../../graph/test/container/support/errors.js';
import { Segment } from '../../src/segment/segment.js';
import type { TraceSearch } from '../../src/trace-search.js';
import { anySpans, traceIds } from './support/arbitrary-spans.js';
import { bruteForce, latest, serviceOf, withoutBytes } from './support/brute-force.js';
import { openSegment, segmentBytes, span, spanIdOf, traceIdOf } from './support/segments.js';
import { seededRandom, syntheticSpans } from './support/synthetic-spans.js';

describe('a shop', () => {
  const random = seededRandom(21);
  const spans = syntheticSpans({ traces: 1500, spansPerTrace: 9, seed: 20 }).map((one) => ({
    ...one,
    properties: { region: random() < 0.5 ? 'eu' : 'us', code: random() < 0.01 ? 500 : 200 },
  }));
  let segment: Segment;
  beforeAll(async () => {
    segment = await openSegment(spans);
  });

  const start = spans[9 * 200].startUnixNs;
  test.each<readonly [string, TraceSearch]>([
    ['everything', {}],
    ['more than there are', { limit: 5000 }],
    ['none', { limit: 0 }],
    ['a service', { service: 'cart' }],
    ['a service that is not there', { service: 'mail' }],
    ['a name', { name: spans[40].name, limit: 300 }],
    ['a name that the service does not have', { service: 'cart', name: 'cache.get cart' }],
    ['a name and its service', { service: serviceOf(spans[40]), name: spans[40].name }],
    ['errors', { status: 'error', limit: 1000 }],
    ['errors of a name', { status: 'error', name: spans[41].name, limit: 1000 }],
    ['a status nobody has', { status: 'ok' }],
    ['long ones', { minDurationNs: 30_000_000n, limit: 100 }],
    ['short ones', { maxDurationNs: 12_000_000n, limit: 100 }],
    ['a minute', { fromUnixNs: start, toUnixNs: start + 60_000_000_000n, limit: 1000 }],
    ['before everything', { toUnixNs: 1n }],
    ['after everything', { fromUnixNs: 2n ** 62n }],
    ['a property', { properties: { code: '500' }, limit: 10 }],
    ['two properties of one span', { properties: { code: '500', region: 'eu' }, limit: 1000 }],
    ['a property that is not there', { properties: { zone: 'eu' } }],
    ['all at once', { service: 'cart', status: 'error', properties: { region: 'us' }, minDurationNs: 5_000_000n }],
  ])('%s', async (_, search) => {
    expect(withoutBytes(await segment.summaries(search))).toEqual(bruteForce(spans, search));
  });

  test('what is known of traces is enough where no condition is one of spans', async () => {
    const fresh = await Segment.open(segmentBytes(spans));
    const { bytes } = fresh.stats().transport;
    await fresh.summaries({ minDurationNs: 20_000_000n, status: 'error' });
    const read = fresh.stats().transport.bytes - bytes;
    expect(read).toBeLessThan(fresh.info.bytes / 4);
  });

  test('a hopeless search reads nothing', async () => {
    const fresh = await Segment.open(segmentBytes(spans));
    const before = fresh.stats().transport;
    await fresh.summaries({ service: 'mail' });
    await fresh.summaries({ name: 'nobody' });
    await fresh.summaries({ toUnixNs: 5n });
    expect(fresh.stats().transport).toEqual(before);
  });

  test('sizes are near the truth', async () => {
    for (const { bytes, spanCount } of await segment.summaries({ limit: 100 })) {
      expect(bytes).toBeGreaterThan(spanCount * 300);
      expect(bytes).toBeLessThan(spanCount * 700);
    }
  });
});

test('arbitrary spans', async () => {
  const search = fc.record<TraceSearch>(
    {
      service: fc.constantFrom('cart', 'frontend', ''),
      name: fc.constantFrom('GET /', 'x', ''),
      status: fc.constantFrom('unset', 'ok', 'error'),
      fromUnixNs: fc.constantFrom(0n, 1_760_000_005_000_000_000n, 2n ** 63n),
      toUnixNs: fc.constantFrom(1n, 1_760_000_005_000_000_000n, 2n ** 64n - 1n),
      minDurationNs: fc.constantFrom(0n, 1_000_000_000n, 2n ** 62n),
      maxDurationNs: fc.constantFrom(0n, 5_000_000_000n, 2n ** 63n),
      properties: fc.dictionary(
        fc.constantFrom('http.method', 'db.rows'),
        fc.constantFrom('0', 'true', 'NaN', 'x', ''),
      ),
      linkedTo: fc.constantFrom(...traceIds),
      limit: fc.constantFrom(1, 2, 20),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(anySpans, fc.array(search, { minLength: 5, maxLength: 5 }), async (spans, searches) => {
      const segment = await openSegment(spans);
      for (const one of searches) expect(withoutBytes(await segment.summaries(one))).toEqual(bruteForce(spans, one));
    }),
    { numRuns: samples(10, 40, 1000) },
  );
});

test('a trace of many groups is one trace', async () => {
  const large = syntheticSpans({ traces: 1, spansPerTrace: 5000, seed: 23 });
  const last = { ...large[4999], name: 'the only one', status: { code: 'error', message: '' } } as const;
  const spans = [...syntheticSpans({ traces: 5, spansPerTrace: 4, seed: 24 }), ...large.slice(0, -1), last];
  const segment = await openSegment(spans);
  const searches: TraceSearch[] = [
    {},
    { name: 'the only one' },
    { name: 'the only one', status: 'error' },
    { name: large[0].name, status: 'error' },
    { fromUnixNs: latest(large.map((one) => one.endUnixNs)) },
    { toUnixNs: large[0].startUnixNs },
  ];
  for (const search of searches)
    expect(withoutBytes(await segment.summaries(search))).toEqual(bruteForce(spans, search));
});

test('links to a trace, from others, in any piece of a trace', async () => {
  const [target, other] = [traceIdOf(0xfeed), traceIdOf(0xbeef)];
  const to = (traceId: string) => [{ traceId, spanId: spanIdOf(7), traceState: '', properties: {} }];
  const large = (seed: number, linking: number): ArchivedSpan[] =>
    syntheticSpans({ traces: 1, spansPerTrace: 5000, seed }).map((one, i) =>
      i === linking ? { ...one, links: to(target) } : one,
    );
  const spans = [
    span({ traceId: target, spanId: spanIdOf(7), links: to(target) }),
    span({ traceId: traceIdOf(1), links: to(target) }),
    span({ traceId: traceIdOf(2), links: to(other) }),
    ...large(31, 0),
    ...large(32, 4999),
    ...large(33, -1),
  ];
  const segment = await openSegment(spans);
  const searches: TraceSearch[] = [
    { linkedTo: target },
    { linkedTo: other },
    { linkedTo: traceIdOf(3) },
    { linkedTo: target, name: 'GET /query' },
    { linkedTo: target, maxDurationNs: 2_000_000n },
  ];
  for (const search of searches)
    expect(withoutBytes(await segment.summaries(search))).toEqual(bruteForce(spans, search));
  expect(await segment.summaries({ linkedTo: target })).toHaveLength(3);
});

test('properties are compared as text', async () => {
  const values = ['5', 5, 5n, true, 1.5, [1, 'a'], { a: 5n }, new Uint8Array([1, 2]), -0];
  const spans = values.map((value, i) =>
    span({ traceId: traceIdOf(i + 1), spanId: spanIdOf(i + 1), properties: { value } }),
  );
  const segment = await openSegment(spans);
  const find = async (text: string): Promise<number[]> =>
    (await segment.summaries({ properties: { value: text } })).map(({ traceId }) => Number.parseInt(traceId, 16));
  expect(await find('5')).toEqual([1, 2, 3]);
  expect(await find('true')).toEqual([4]);
  expect(await find('1.5')).toEqual([5]);
  expect(await find('[1,"a"]')).toEqual([6]);
  expect(await find('{"a":"5"}')).toEqual([7]);
  expect(await find('AQI=')).toEqual([8]);
  expect(await find('0')).toEqual([9]);
});

test('a limit that is none is refused', async () => {
  const segment = await openSegment([span()]);
  for (const limit of [-1, 1.5, Number.NaN]) {
    expect(await failureOf(segment.summaries({ limit }))).toBeInstanceOf(BadOptionsError);
  }
});
