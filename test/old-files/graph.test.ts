// Graph files of older versions have the nodes that were put into them, whatever wrote their keys.
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { CompactGraph, type GraphNode } from '../../src/graph/index.js';
import { findFaults } from '../../src/graph/verify/verify-graph.js';
import { OLD_GHOSTS, OLD_NODES } from './support/old-nodes.js';
import { oldBytes } from './support/unpack.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const byKey = <T extends { key: string }>(nodes: T[]): T[] => nodes.sort((a, b) => (a.key < b.key ? -1 : 1));
const readable = ['front', 'fixed', ...('zstdDecompressSync' in zlib ? ['grouped'] : [])];

test.each(readable)('keys by codec %s', async (codec) => {
  const file = await CompactGraph.open(oldBytes(`graph-${codec}.graph`));
  expect(file.meta.notes).toEqual({ made: 'by hand' });
  for (const index of [0, 1]) {
    const graph = file.graph(index);
    const nodes: GraphNode[] = [];
    for await (const batch of graph.scan({ keys: true, references: true, values: graph.info.hasValues }))
      nodes.push(...batch);
    const keysOf = async (ordinals: Uint32Array): Promise<string[]> => (await graph.keysOf(ordinals)).map(text);
    const found = await Promise.all(
      nodes.map(async ({ key = Buffer.alloc(0), value = Buffer.alloc(0), references = [] }) => ({
        graph: index,
        key: text(key),
        value: text(value),
        references: await Promise.all(references.map(keysOf)),
      })),
    );
    expect(byKey(found)).toEqual(byKey(OLD_NODES.filter((node) => node.graph === index)));
  }
  const ones = file.graph(1);
  const ghosts = Uint32Array.from({ length: ones.ghostCount }, (_, i) => ones.nodeCount + i);
  expect((await ones.keysOf(ghosts)).map(text).sort()).toEqual(OLD_GHOSTS);
  const faults: Error[] = [];
  for await (const fault of findFaults(file)) faults.push(fault);
  expect(faults).toEqual([]);
});
