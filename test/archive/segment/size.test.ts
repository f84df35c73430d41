// 300,000 spans without properties take at most 15 bytes each, ids and times to the nanosecond included.
import { expect, test } from 'vitest';
import { Segment } from '../../../src/archive/segment/segment.js';
import { CompactGraph } from '../../../src/graph/compact-graph.js';
import { segmentBytes, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';

const spans = syntheticSpans({ traces: 10_000, spansPerTrace: 30, seed: 1 });

test('at most 15 bytes a span', async () => {
  const bytes = segmentBytes(spans);
  expect(bytes.length / spans.length).toBeLessThanOrEqual(15);

  // And nothing was left out.
  const segment = await Segment.open(bytes);
  expect(segment.info).toMatchObject({ spanCount: 300_000, traceCount: 10_000 });
  const traces = tracesOf(spans);
  for (const id of [...traces.keys()].filter((_, i) => i % 500 === 0)) {
    const trace = (await segment.traces([id])).get(id) ?? [];
    const byOwnId = new Map(trace.map((span) => [span.spanId, span]));
    for (const span of traces.get(id) ?? []) expect(byOwnId.get(span.spanId)).toEqual(span);
  }

  const { graphs } = (await CompactGraph.open(bytes)).meta;
  expect(graphs).toMatchObject([{ nodeCount: 300_000, ghostCount: 0, edgeCount: 290_000 }]);
});
