// A segment in which any bit is wrong, or that ends anywhere, never gives a wrong span: what is damaged is told, and the rest is there.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { GraphError } from '../../../graph/src/container/graph-error.js';
import { Segment } from '../../src/segment/segment.js';
import { collect, openSegment, segmentBytes, spanIdOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';

const spans = syntheticSpans({ traces: samples(60, 60, 150), spansPerTrace: 20, seed: 71 }).map(
  (span, i): ArchivedSpan => ({
    ...span,
    properties: (i % 3 === 0 ? { n: i, text: `number ${i}` } : {}) as ArchivedSpan['properties'],
    events: i % 50 === 0 ? [{ name: 'event', timeUnixNs: span.startUnixNs, properties: { i } }] : [],
    links: i % 70 === 0 ? [{ traceId: span.traceId, spanId: spanIdOf(i), traceState: '', properties: {} }] : [],
  }),
);
const bytes = segmentBytes(spans);

/** What a damaged file gives of the traces asked for, and whether anything was told. */
const read = async (
  damaged: Buffer,
  ids: readonly string[],
): Promise<{ found: Map<string, ArchivedSpan[]>; scanned: number; isReported: boolean }> => {
  let isReported = false;
  const onDamage = (error: GraphError): void => {
    expect(error).toBeInstanceOf(GraphError);
    isReported = true;
  };
  const found = new Map<string, ArchivedSpan[]>();
  let scanned = 0;
  try {
    const segment = await Segment.open(damaged);
    for (const [id, trace] of await segment.traces(ids, { onDamage })) found.set(id, trace);
    await segment.summaries({ name: spans[7].name, properties: { n: '3' } }, { onDamage });
    scanned = (await collect(segment.scan({ onDamage }))).length;
  } catch (error) {
    expect(error).toBeInstanceOf(GraphError);
    isReported = true;
  }
  return { found, scanned, isReported };
};

const place = fc.noBias(fc.nat(bytes.length - 1));

test('any one flipped bit', { timeout: 600_000 }, async () => {
  const whole = await openSegment(spans);
  const ids = (await whole.summaries({ limit: 1000 })).map(({ traceId }) => traceId);
  const expected = await whole.traces(ids);
  const FLIPS = samples(12, 40, 2500);
  let opened = 0;
  let lost = 0;
  await fc.assert(
    fc.asyncProperty(place, fc.nat(7), async (at, bit) => {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << bit;
      const { found, scanned, isReported } = await read(damaged, ids);
      for (const [id, trace] of found) if (!isDeepStrictEqual(trace, expected.get(id))) throw new Error(`wrong: ${id}`);
      if (found.size < ids.length && !isReported) throw new Error('traces are missing and nobody was told');
      if (found.size === 0) return;
      opened++;
      lost += ids.length - found.size;
      expect(scanned).toBeGreaterThan(0);
    }),
    { numRuns: FLIPS },
  );
  // Most bits are in blocks of spans, and a block has but few traces.
  expect(opened).toBeGreaterThan(FLIPS * 0.5);
  expect(lost / opened / ids.length).toBeLessThan(0.5);
});

test('cut anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(place, async (length) => {
      const { found, isReported } = await read(bytes.subarray(0, length), [spans[0].traceId]);
      expect([found.size, isReported]).toEqual([0, true]);
    }),
    { numRuns: samples(50, 50, 2000) },
  );
});
