// Graphs as plain data: made at random, built into files, and read back to be compared.

import type { GraphBuilderOptions } from '../../../src/builder/builder-options.js';
import { type BuildStats, CompactGraphBuilder } from '../../../src/builder/graph-builder.js';
import { CompactGraph } from '../../../src/compact-graph.js';
import { BufferSink } from '../../../src/container/container-writer.js';

/** A node; keys and values as latin-1 text, so that a difference can be read. */
export interface ModelNode {
  readonly graph: number;
  readonly key: string;
  readonly value: string;
  readonly references: readonly (readonly string[])[];
}

/** A file as read: for each graph what it holds under each key. */
export interface ModelGraph {
  readonly nodes: Readonly<Record<string, Pick<ModelNode, 'value' | 'references'>>>;
  readonly ghosts: readonly string[];
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

export const addAll = (builder: CompactGraphBuilder, nodes: readonly ModelNode[]): void => {
  for (const { graph, key, value, references } of nodes) {
    builder.add(
      graph,
      bytes(key),
      bytes(value),
      references.map((list) => list.map(bytes)),
    );
  }
};

/** The file that `nodes` make. */
export const buildNodes = async (
  nodes: readonly ModelNode[],
  options: GraphBuilderOptions,
): Promise<{ readonly file: Buffer; readonly stats: BuildStats }> => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, options);
  addAll(builder, nodes);
  const stats = await builder.finish();
  return { file: sink.toBuffer(), stats };
};

/** What a file with these nodes must say. */
export const expectedGraphs = (nodes: readonly ModelNode[], graphs: number): ModelGraph[] =>
  Array.from({ length: graphs }, (_, graph) => {
    const own = nodes.filter((node) => node.graph === graph);
    const keys = new Set(own.map(({ key }) => key));
    const referred = new Set(own.flatMap(({ references }) => references.flat()));
    return {
      nodes: Object.fromEntries(own.map(({ key, value, references }) => [key, { value, references }])),
      ghosts: [...referred].filter((key) => !keys.has(key)).sort(),
    };
  });

/** What a file says. */
export const readGraphs = async (file: string | Uint8Array): Promise<ModelGraph[]> => {
  const graph = await CompactGraph.open(file);
  try {
    return await Promise.all(graph.graphs.map((_, i) => readGraph(graph, i)));
  } finally {
    await graph.close();
  }
};

const readGraph = async (file: CompactGraph, index: number): Promise<ModelGraph> => {
  const { nodeCount, ghostCount, hasValues, hasReferences } = file.graphs[index];
  const view = file.graph(index);
  const ordinals = Uint32Array.from({ length: nodeCount + ghostCount }, (_, i) => i);
  const keys = (await view.keysOf(ordinals)).map((key) => key.toString('latin1'));
  const found = await view.nodes(ordinals.subarray(0, nodeCount), { values: hasValues, references: hasReferences });
  const nodes = found.map(({ ordinal, value, references = [] }) => [
    keys[ordinal],
    {
      value: Buffer.from(value ?? []).toString('latin1'),
      references: references.map((list) => [...list].map((target) => keys[target])),
    },
  ]);
  return { nodes: Object.fromEntries(nodes), ghosts: keys.slice(nodeCount) };
};
