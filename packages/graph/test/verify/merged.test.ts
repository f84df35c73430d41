// Files that were merged or salvaged are as sound as those that were built.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { GraphBuilderOptions } from '../../src/builder/builder-options.js';
import { CompactGraphBuilder } from '../../src/builder/graph-builder.js';
import { mergeGraphs } from '../../src/builder/merge-graphs.js';
import { CompactGraph } from '../../src/compact-graph.js';
import { BufferSink } from '../../src/container/container-writer.js';
import { salvage } from '../../src/salvage.js';
import { buildNodes } from '../builder/support/graph-model.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';
import { below, hashKeys, seeded } from '../dictionary/support/random-keys.js';
import { faultIn } from './support/files.js';

const OPTIONS: GraphBuilderOptions = { graphs: [{ referenceLists: 2, order: 'child-first', cycles: 'allow' }] };

const built = (random: () => number, memoryBytes: number): Buffer => {
  const keys = hashKeys(3000, 20, seeded(5));
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    ...OPTIONS,
    memoryBytes,
  });
  for (const key of new Set(Array.from({ length: 1500 }, () => keys[below(random, keys.length)]))) {
    const any = (): Buffer => keys[below(random, keys.length)];
    builder.add(0, key, Buffer.from('value'), [[any()], [any(), any()]]);
  }
  builder.finishSync();
  return sink.toBuffer();
};

/** Nodes by key: each refers to any keys in two lists, so that there are circles and absent nodes. */
const anyNodes = fc.dictionary(
  fc.nat(20).map((i) => `key ${i}`),
  fc.array(
    fc.array(
      fc.nat(25).map((i) => `key ${i}`),
      { maxLength: 3 },
    ),
    { minLength: 2, maxLength: 2 },
  ),
  { maxKeys: 15 },
);

test('a merged file has no absent node of a node that another file gave', async () => {
  const open = async (nodes: Readonly<Record<string, readonly string[][]>>): Promise<CompactGraph> => {
    const model = Object.entries(nodes).map(([key, references]) => ({ graph: 0, key, value: 'value', references }));
    return CompactGraph.open((await buildNodes(model, OPTIONS)).file);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(anyNodes, { minLength: 1, maxLength: 3 }), async (files) => {
      const merged = new BufferSink();
      await mergeGraphs(await Promise.all(files.map(open)), merged);
      expect((await faultIn('', merged.toBuffer()))?.message).toBeUndefined();
    }),
    { numRuns: samples(20, 200) },
  );
});

test('a file that was built beyond the memory it may use, and one that was salvaged', async () => {
  const bytes = built(seeded(9), 2 * 1024 * 1024);
  expect((await faultIn('', bytes))?.message).toBeUndefined();
  const directory = temporaryDirectory();
  const [path, target] = [join(directory, 'damaged.graph'), join(directory, 'salvaged.graph')];
  bytes[bytes.length >> 2] ^= 1;
  writeFileSync(path, bytes);
  expect((await salvage(path, target)).isUndamaged).toBe(false);
  expect((await salvage(target)).damage).toEqual([]);
});
