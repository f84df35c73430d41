// Merged files are the file that one builder would have made of all their nodes, the first of a kind where several files have one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { GraphBuilderOptions } from '../../src/builder/builder-options.js';
import { mergeGraphs } from '../../src/builder/merge-graphs.js';
import { CompactGraph } from '../../src/compact-graph.js';
import { AtomicFileSink, BufferSink } from '../../src/container/container-writer.js';
import { AbortedError, BadOptionsError, DuplicateKeyError } from '../../src/container/graph-error.js';
import { failureOf } from '../container/support/errors.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';
import { anyFile } from './support/any-file.js';
import { buildNodes, type ModelNode } from './support/graph-model.js';

const MIB = 1024 * 1024;

const openAll = (parts: readonly (readonly ModelNode[])[], options: GraphBuilderOptions): Promise<CompactGraph[]> =>
  Promise.all(parts.map(async (nodes) => CompactGraph.open((await buildNodes(nodes, options)).file)));

const merged = async (
  files: readonly CompactGraph[],
  options: Parameters<typeof mergeGraphs>[2] = {},
): Promise<Buffer> => {
  const sink = new BufferSink();
  await mergeGraphs(files, sink, options);
  return sink.toBuffer();
};

describe('merged files', () => {
  test('are what one builder would have made', async () => {
    const anyParts = fc.tuple(
      anyFile,
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat(15), { minLength: 1, maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(anyParts, async ([{ nodes, options }, count, choices]) => {
        // Which of the parts have a node, by bits; one has it at least.
        const holders = (i: number): number[] => {
          const bits = choices[i % choices.length];
          const parts = [...Array(count).keys()].filter((part) => (bits & (1 << part)) !== 0);
          return parts.length > 0 ? parts : [0];
        };
        const valueIn = (node: ModelNode, part: number): string =>
          node.value === '' || part === 0 ? node.value : `${part} ${node.value}`;
        const parts = Array.from({ length: count }, (_, part) =>
          nodes
            .filter((_node, i) => holders(i).includes(part))
            .map((node) => ({ ...node, value: valueIn(node, part) })),
        );
        const first = nodes.map((node, i) => ({ ...node, value: valueIn(node, holders(i)[0]) }));
        const files = await openAll(parts, options);
        const expected = await buildNodes(first, options);
        const { filter } = options;
        expect((await merged(files, { filter })).equals(expected.file)).toBe(true);
        for (const file of files) await file.close();
      }),
      { numRuns: samples(15, 30, 80) },
    );
  });

  test('are so even when the keys of an input do not fit into memory', async () => {
    const key = (i: number): string => `${(i * 7919) % 1600}-${'k'.repeat(2000)}`;
    const nodes = Array.from({ length: 1600 }, (_, i): ModelNode => {
      return { graph: 0, key: key(i), value: `${i}`, references: [i === 0 ? [] : [key(i - 1), key(i >>> 1)]] };
    });
    const options: GraphBuilderOptions = { graphs: [{ referenceLists: 1, order: 'child-first' }] };
    const files = await openAll([nodes.slice(0, 1000), nodes.slice(900)], options);
    const expected = await buildNodes(nodes, options);
    expect((await merged(files, { memoryBytes: 4 * MIB })).equals(expected.file)).toBe(true);
  });

  test('are read from paths and written over one of them', async () => {
    const directory = temporaryDirectory();
    const options: GraphBuilderOptions = { graphs: [{ referenceLists: 0, order: 'child-first' }] };
    const paths = ['a', 'b'].map((name) => join(directory, name));
    for (const path of paths) {
      const sink = new AtomicFileSink(path);
      sink.write((await buildNodes([{ graph: 0, key: path, value: path, references: [] }], options)).file);
      sink.finish();
    }
    const { keyCount, spilledRuns } = await mergeGraphs(paths, paths[0]);
    expect([keyCount, spilledRuns]).toEqual([2, 0]);
    const file = await CompactGraph.open(paths[0]);
    expect((await file.graph(0).keysOf([0, 1])).map(String).sort()).toEqual(paths);
    await file.close();
  });
});

describe('merging', () => {
  const options: GraphBuilderOptions = { graphs: [{ referenceLists: 1, order: 'child-first' }] };
  const node: ModelNode = { graph: 0, key: 'a', value: '', references: [[]] };

  test('refuses doubles when it is told to, and leaves nothing behind', async () => {
    const files = await openAll([[node], [node]], options);
    const target = join(temporaryDirectory(), 'merged');
    expect(await failureOf(mergeGraphs(files, target, { onDuplicate: 'refuse' }))).toBeInstanceOf(DuplicateKeyError);
    expect(existsSync(target)).toBe(false);
  });

  test.each<[string, GraphBuilderOptions]>([
    ['other graphs', { graphs: [...options.graphs, ...options.graphs] }],
    ['other lists', { graphs: [{ referenceLists: 2, order: 'child-first' }] }],
    ['another order', { graphs: [{ referenceLists: 1, order: 'root-first' }] }],
    ['no values', { graphs: [{ referenceLists: 1, order: 'child-first', values: false }] }],
    ['other groups', { ...options, groupBytes: 3 }],
  ])('refuses files with %s', async (_, other) => {
    const [first] = await openAll([[node]], options);
    const [second] = await openAll([[]], other);
    expect(await failureOf(merged([first, second]))).toBeInstanceOf(BadOptionsError);
  });

  test('of nothing is refused', async () => {
    expect(await failureOf(merged([]))).toBeInstanceOf(BadOptionsError);
  });

  test('can be stopped', async () => {
    const files = await openAll([[node], [node]], options);
    const controller = new AbortController();
    controller.abort();
    expect(await failureOf(merged(files, { signal: controller.signal }))).toBeInstanceOf(AbortedError);
  });
});
