// Checking a segment looks at each of its bytes, in its graphs and in its columns, and compares what it says of its spans with them.

import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import { CompactGraph } from '../../../graph/src/compact-graph.js';
import { GraphError } from '../../../graph/src/container/graph-error.js';
import { findFaults } from '../../../graph/src/verify/verify-graph.js';
import { withSections } from '../../../graph/test/verify/support/forge.js';
import { SegmentSection } from '../../src/segment/layout.js';
import { Segment } from '../../src/segment/segment.js';
import { anySpans } from './support/arbitrary-spans.js';
import { segmentBytes, span, spanIdOf, traceIdOf } from './support/segments.js';

/** The first thing wrong with a segment, as `spanline graph verify` finds it. */
const faultIn = async (bytes: Buffer): Promise<GraphError | undefined> => {
  try {
    for await (const fault of findFaults(await CompactGraph.open(bytes), { onUnchecked: () => {} })) return fault;
    return (await (await Segment.open(bytes)).faults())[0];
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
};

const traces = (count: number, each: number): ArchivedSpan[] =>
  Array.from({ length: count * each }, (_, i) => {
    const [trace, place] = [Math.floor(i / each), i % each];
    const start = 1_760_000_000_000_000_000n + BigInt(trace * 1_000_000 + place * 1000);
    return span({
      traceId: traceIdOf(trace + 1),
      spanId: spanIdOf(i + 1),
      parentSpanId: place === 0 ? '' : spanIdOf(i),
      name: place === 0 ? 'GET /' : `step ${place}`,
      startUnixNs: start,
      endUnixNs: start + 5000n,
      status: { code: place === 2 ? 'error' : 'unset', message: place === 2 ? 'no' : '' },
      properties: { user: `user ${i}`, n: i },
      events: place === 1 ? [{ name: 'retry', timeUnixNs: start, properties: { n: 1 } }] : [],
      links: place === 1 ? [{ traceId: traceIdOf(1), spanId: spanIdOf(99), traceState: '', properties: {} }] : [],
    });
  });

describe.each(['deflate', 'none'] as const)('a segment, compression %s', (compression) => {
  const bytes = segmentBytes(traces(4, 4), { compression });

  test('is sound as it was written', async () => {
    expect(await faultIn(bytes)).toBeUndefined();
  });

  test('a change of any byte is found', { timeout: 600_000 }, async () => {
    const missed: number[] = [];
    const places = Array.from({ length: bytes.length }, (_, at) => at);
    for (const at of sampleOf(places, 150, 1000)) {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << (at % 8);
      if ((await faultIn(damaged)) === undefined) missed.push(at);
    }
    expect(missed).toEqual([]);
  });
});

test('any segment is sound as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(anySpans, async (spans) => {
      expect((await faultIn(segmentBytes(spans)))?.message).toBeUndefined();
    }),
    { numRuns: samples(20, 100, 1000) },
  );
}, 60_000);

test('a summary, rows, a filter of other spans are found', async () => {
  const bytes = segmentBytes(traces(4, 4));
  const others = segmentBytes(
    traces(4, 4).map((one, i) =>
      i === 5
        ? { ...one, name: 'GET /', status: { code: 'error', message: '' }, endUnixNs: one.endUnixNs + 9_000_000n }
        : one,
    ),
  );
  const sections = new Map<number, Buffer>();
  withSections(others, ({ id }, body) => {
    sections.set(id, body);
    return undefined;
  });
  const filterOf = (spans: readonly ArchivedSpan[]): void => {
    withSections(segmentBytes(spans), ({ id }, body) => {
      if (id === SegmentSection.traceFilter) sections.set(id, body);
      return undefined;
    });
  };
  filterOf(traces(5, 1).slice(1));
  for (const id of [SegmentSection.summary, SegmentSection.traceFilter]) {
    const forged = withSections(bytes, (entry) => (entry.id === id ? sections.get(id) : undefined));
    expect(await faultIn(forged), String(id)).toBeInstanceOf(GraphError);
  }
});
