// A file says exactly what was added, and the same nodes give the same bytes, in whatever order they came, with or without spilling.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { seeded } from '../../../../test/support/random.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import type { GraphBuilderOptions } from '../../src/builder/builder-options.js';
import { CompactGraph } from '../../src/compact-graph.js';
import { anyFile } from './support/any-file.js';
import { buildNodes, expectedGraphs, type ModelNode, readGraphs } from './support/graph-model.js';

const MIB = 1024 * 1024;

const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [copy[i], copy[other]] = [copy[other], copy[i]];
  }
  return copy;
};

describe('a built file', () => {
  test('says what was added', async () => {
    await fc.assert(
      fc.asyncProperty(anyFile, async ({ nodes, options }) => {
        const { file, stats } = await buildNodes(nodes, options);
        const expected = expectedGraphs(nodes, options.graphs.length);
        expect(await readGraphs(file)).toEqual(expected);
        expect(stats.bytes).toBe(file.length);
        expect(stats.spilledRuns).toBe(0);
        stats.graphs.forEach(({ nodeCount, ghostCount, edgeCount }, graph) => {
          const all = Object.values(expected[graph].nodes);
          expect(nodeCount).toBe(all.length);
          expect(ghostCount).toBe(expected[graph].ghosts.length);
          expect(edgeCount).toBe(all.flatMap(({ references }) => references.flat()).length);
        });
      }),
      { numRuns: samples(12, 50, 120) },
    );
  });

  test('does not depend on the order of adding', async () => {
    await fc.assert(
      fc.asyncProperty(anyFile, fc.nat(), async ({ nodes, options }, seed) => {
        const { file } = await buildNodes(nodes, options);
        const { file: other } = await buildNodes(shuffled(nodes, seeded(seed)), options);
        expect(file.equals(other)).toBe(true);
      }),
      { numRuns: samples(12, 20, 60) },
    );
  });

  test('has graphs ordered as they were asked to be', async () => {
    await fc.assert(
      fc.asyncProperty(anyFile, async ({ nodes, options }) => {
        const { file } = await buildNodes(nodes, options);
        const graphs = await CompactGraph.open(file);
        for (const [i, { order, nodeCount, hasReferences }] of graphs.graphs.entries()) {
          if (!hasReferences || order === 'trace-contiguous') continue;
          for (const { offsets, targets } of await graphs.graph(i).references()) {
            for (let node = 0; node < nodeCount; node++) {
              for (const target of targets.subarray(offsets[node], offsets[node + 1])) {
                if (target < nodeCount) expect(target < node).toBe(order === 'root-first');
              }
            }
          }
        }
        await graphs.close();
      }),
      { numRuns: samples(12, 20, 60) },
    );
  });

  test('may be empty', async () => {
    const { file } = await buildNodes([], { graphs: [{ referenceLists: 2, order: 'child-first' }], filter: true });
    expect(await readGraphs(file)).toEqual([{ nodes: {}, ghosts: [] }]);
  });

  test('may have 64 graphs', async () => {
    const graphs = Array.from({ length: 64 }, (_, i) => ({ referenceLists: i % 3, order: 'child-first' as const }));
    const nodes = graphs.flatMap(({ referenceLists }, graph): ModelNode[] => {
      const references = (key: string): string[][] => Array.from({ length: referenceLists }, () => [key]);
      return [
        { graph, key: 'shared', value: `${graph}`, references: references(`own-${graph}`) },
        { graph, key: `own-${graph}`, value: '', references: references(`ghost-${graph % 7}`) },
      ];
    });
    const { file } = await buildNodes(nodes, { graphs });
    expect(await readGraphs(file)).toEqual(expectedGraphs(nodes, 64));
  });
});

/** Two graphs over one set of keys, more than memory holds. */
const manyNodes = (seed: number, count: number): ModelNode[] => {
  const random = seeded(seed);
  const key = (i: number): string => `trace-${String(Math.floor(i / 9)).padStart(6, '0')}-${(i * 7919) % 1000}-${i}`;
  const before = (i: number): string[] => (i === 0 ? [] : [key(Math.floor(random() * i)), `ghost-${i % 100}`]);
  return Array.from({ length: count }, (_, i): ModelNode[] => {
    const value = String.fromCharCode(97 + (i % 26)).repeat(Math.floor(random() * 700));
    const tree: ModelNode = { graph: 0, key: key(i), value, references: [before(i), i % 3 === 0 ? before(i) : []] };
    return i % 2 === 0 ? [tree] : [tree, { graph: 1, key: key(i), value: '', references: [] }];
  }).flat();
};

describe('a file built with little memory', () => {
  const graphs: GraphBuilderOptions['graphs'] = [
    { referenceLists: 2, order: 'trace-contiguous' },
    { referenceLists: 0, order: 'child-first', values: false },
  ];

  test.each(sampleOf([1, 2, 3], 1, 3))('has the same bytes as one built in memory (seed %i)', async (seed) => {
    const nodes = manyNodes(seed, 9000);
    const options = { graphs, groupBytes: 12, filter: seed === 2 };
    const inMemory = await buildNodes(nodes, options);
    expect(inMemory.stats.spilledRuns).toBe(0);
    for (const memoryBytes of sampleOf([3 * MIB, 4 * MIB], 1, 2)) {
      const spilled = await buildNodes(shuffled(nodes, seeded(seed)), { ...options, memoryBytes });
      expect(spilled.stats.spilledRuns).toBeGreaterThan(1);
      expect(spilled.file.equals(inMemory.file)).toBe(true);
      expect(spilled.stats).toEqual({
        ...inMemory.stats,
        spilledRuns: spilled.stats.spilledRuns,
        spilledBytes: spilled.stats.spilledBytes,
      });
    }
    if (seed === 3) expect(await readGraphs(inMemory.file)).toEqual(expectedGraphs(nodes, 2));
  });

  test('keeps values that are longer than any of its buffers', async () => {
    const nodes = Array.from({ length: 24 }, (_, i): ModelNode => {
      const value = `${i}-`.repeat(20_000 * (1 + (i % 3)));
      return { graph: 0, key: `k${i}`, value, references: [i === 0 ? [] : [`k${i - 1}`]] };
    });
    const options: GraphBuilderOptions = { graphs: [{ referenceLists: 1, order: 'child-first' }] };
    const { file } = await buildNodes(nodes, options);
    const spilled = await buildNodes(nodes, { ...options, memoryBytes: 2 * MIB });
    expect(spilled.stats.spilledRuns).toBeGreaterThan(1);
    expect(spilled.file.equals(file)).toBe(true);
    expect(await readGraphs(file)).toEqual(expectedGraphs(nodes, 1));
  });
});
