// Files that were merged or salvaged are as sound as those that were built.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BufferSink } from '../../../src/container/byte-sink.js';
import { CompactGraphBuilder } from '../../../src/graph/builder/graph-builder.js';
import { mergeGraphs } from '../../../src/graph/builder/merge-graphs.js';
import { CompactGraph } from '../../../src/graph/compact-graph.js';
import { salvage } from '../../../src/graph/salvage.js';
import { temporaryDirectory } from '../../container/support/temporary-directory.js';
import { below, hashKeys, seeded } from '../dictionary/support/random-keys.js';
import { faultIn } from './support/files.js';

const built = (random: () => number, memoryBytes?: number): Buffer => {
  const keys = hashKeys(3000, 20, seeded(5));
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [{ referenceLists: 2, order: 'child-first', cycles: 'allow' }],
    memoryBytes,
  });
  for (const key of new Set(Array.from({ length: 1500 }, () => keys[below(random, keys.length)]))) {
    const any = (): Buffer => keys[below(random, keys.length)];
    builder.add(0, key, Buffer.from('value'), [[any()], [any(), any()]]);
  }
  builder.finishSync();
  return sink.toBuffer();
};

test('a merged file has no absent node of a node that another file gave', async () => {
  const random = seeded(8);
  const merged = new BufferSink();
  await mergeGraphs([await CompactGraph.open(built(random)), await CompactGraph.open(built(random))], merged);
  expect((await faultIn('', merged.toBuffer()))?.message).toBeUndefined();
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
