import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { type ArchivedSpan, Segment } from '../../packages/archive/src/index.js';
import { segmentBytes } from '../../packages/archive/test/segment/support/segments.js';
import { syntheticSpans } from '../../packages/archive/test/segment/support/synthetic-spans.js';
import { buildNodes } from '../../packages/graph/test/builder/support/graph-model.js';
import { exampleGraphs, exampleSpans, shownSpans } from './support/read-formats.js';

const ours = async (bytes: Buffer): Promise<ArchivedSpan[]> => {
  const segment = await Segment.open(bytes);
  const spans: ArchivedSpan[] = [];
  for await (const trace of segment.scan()) spans.push(...trace);
  return spans;
};

test('a segment of many groups, whose traces are cut into pieces', async () => {
  const [first, ...others] = syntheticSpans({ traces: 400, spansPerTrace: 9, seed: 5 });
  const long = Array.from({ length: 5000 }, (_, n) => ({
    ...first,
    spanId: (n + 1).toString(16).padStart(16, '0'),
    parentSpanId:
      n === 0
        ? ''
        : Math.ceil(n / 3)
            .toString(16)
            .padStart(16, '0'),
    name: `step ${n % 700}`,
    endUnixNs: first.startUnixNs + BigInt(n),
  }));
  const bytes = segmentBytes([...long, ...others]);
  expect(isDeepStrictEqual(exampleSpans(bytes), shownSpans(await ours(bytes)))).toBe(true);
});

test('a graph file whose index has two levels', async () => {
  const nodes = Array.from({ length: 120_000 }, (_, n) => {
    const key = `${((n * 2_654_435_761) % 2 ** 32).toString(16)} ${'x'.repeat(n % 50)} ${n}`;
    return { graph: 0, key, value: '', references: [] };
  });
  const options = { graphs: [{ referenceLists: 0, order: 'child-first', values: false } as const], blockKeys: 64 };
  const { file } = await buildNodes(nodes, options);
  const keys = exampleGraphs(file)[0].nodes.map(({ key }) => key.toString('latin1'));
  expect(keys.sort()).toEqual(nodes.map(({ key }) => key).sort());
});
