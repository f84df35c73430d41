// Spans without properties take at most 15 bytes each, ids and times to the nanosecond included.
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { CompactGraph } from '../../../graph/src/compact-graph.js';
import { Segment } from '../../src/segment/segment.js';
import { segmentBytes, tracesOf } from './support/segments.js';
import { syntheticSpans } from './support/synthetic-spans.js';

const TRACES = samples(1000, 10_000);
const spans = syntheticSpans({ traces: TRACES, spansPerTrace: 30, seed: 1 });

// What a file has but once is shared by fewer spans of a small one.
const MAX = samples(16, 15);

test(`at most ${MAX} bytes a span`, async () => {
  const bytes = segmentBytes(spans);
  expect(bytes.length / spans.length).toBeLessThanOrEqual(MAX);

  // And nothing was left out.
  const segment = await Segment.open(bytes);
  expect(segment.info).toMatchObject({ spanCount: TRACES * 30, traceCount: TRACES });
  const traces = tracesOf(spans);
  for (const id of [...traces.keys()].filter((_, i) => i % 100 === 0)) {
    const trace = (await segment.traces([id])).get(id) ?? [];
    const byOwnId = new Map(trace.map((span) => [span.spanId, span]));
    for (const span of traces.get(id) ?? []) expect(byOwnId.get(span.spanId)).toEqual(span);
  }

  const { graphs } = (await CompactGraph.open(bytes)).meta;
  expect(graphs).toMatchObject([{ nodeCount: TRACES * 30, ghostCount: 0, edgeCount: TRACES * 29 }]);
});
