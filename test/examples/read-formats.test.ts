// The reader of examples/, written by docs/formats.md alone, shows what our writers write as our readers do.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { Archive, type ArchivedSpan, Segment } from '../../packages/archive/src/index.js';
import { SpanRows } from '../../packages/archive/src/rows/span-rows.js';
import { clusteredSegment } from '../../packages/archive/src/segment/cluster-segment.js';
import { newDirectory } from '../../packages/archive/test/archive/support/directory.js';
import { anySpans, anyTakenSpans } from '../../packages/archive/test/segment/support/arbitrary-spans.js';
import { segmentBytes } from '../../packages/archive/test/segment/support/segments.js';
import { unsortedBytes } from '../../packages/archive/test/segment/support/unsorted-bytes.js';
import { anyFile } from '../../packages/graph/test/builder/support/any-file.js';
import { buildNodes, expectedGraphs, type ModelGraph } from '../../packages/graph/test/builder/support/graph-model.js';
import fc from '../support/fast-check.js';
import { samples } from '../support/samples.js';
import { exampleGraphs, exampleSpans, shownSpans } from './support/read-formats.js';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const hasZstd = 'zstdDecompressSync' in zlib;

const ours = async (bytes: Buffer): Promise<ArchivedSpan[]> => {
  const segment = await Segment.open(bytes);
  const spans: ArchivedSpan[] = [];
  for await (const trace of segment.scan()) spans.push(...trace);
  return spans;
};

/** What the example says of a graph file, as the model of tests has it. */
const modelOf = (bytes: Buffer): ModelGraph[] =>
  exampleGraphs(bytes).map(({ nodes, ghosts }) => {
    const entries = nodes.map(({ key, value = Buffer.alloc(0), references }) => {
      const texts = references.map((list) => list.map((to) => to.toString('latin1')));
      return [key.toString('latin1'), { value: value.toString('latin1'), references: texts }];
    });
    return { nodes: Object.fromEntries(entries), ghosts: ghosts.map((key) => key.toString('latin1')) };
  });

test('imports nothing but Node', () => {
  const source = readFileSync(join(EXAMPLES, 'read-formats.mjs'), 'utf8');
  for (const [, from] of source.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^node:/);
});

test('segments of any spans', async () => {
  await fc.assert(
    fc.asyncProperty(anySpans, async (spans) => {
      const bytes = segmentBytes(spans);
      const shown = shownSpans(await ours(bytes));
      expect(isDeepStrictEqual(exampleSpans(bytes), shown)).toBe(true);
      expect(isDeepStrictEqual(exampleSpans(await clusteredSegment(bytes)), shown)).toBe(true);
    }),
    { numRuns: samples(15, 60, 150) },
  );
});

test('unsorted segments of any spans', async () => {
  await fc.assert(
    fc.asyncProperty(anyTakenSpans, async (spans) => {
      fc.pre(spans.length > 0);
      const rows = new SpanRows();
      const bytes = await unsortedBytes(spans, 3);
      await (await Segment.open(bytes)).addTo(rows);
      expect(isDeepStrictEqual(exampleSpans(bytes), shownSpans(rows.spans()))).toBe(true);
    }),
    { numRuns: samples(10, 40, 150) },
  );
});

test('graph files of any nodes', async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, async ({ nodes, options }) => {
      fc.pre(hasZstd || options.compression !== 'zstd');
      const { file } = await buildNodes(nodes, options);
      expect(modelOf(file)).toEqual(expectedGraphs(nodes, options.graphs.length));
    }),
    { numRuns: samples(12, 40, 100) },
  );
});

test('write-ahead files of any spans', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyTakenSpans, { maxLength: 3 }), async (batches) => {
      const directory = newDirectory();
      const archive = await Archive.open(directory, { maintain: false, worker: false });
      try {
        const taken = batches.flatMap((spans) => spans.slice(0, archive.append(spans)));
        const [name] = readdirSync(directory).filter((file) => file.startsWith('wal-'));
        const read = name === undefined ? [] : exampleSpans(readFileSync(join(directory, name)));
        expect(isDeepStrictEqual(read, shownSpans(taken))).toBe(true);
      } finally {
        await archive.close();
      }
    }),
    { numRuns: samples(8, 20, 60) },
  );
});
