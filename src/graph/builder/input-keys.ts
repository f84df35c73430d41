// The keys of a file by the ordinals of its graphs: all in memory when there is room, fetched for a batch of nodes at a time otherwise.

import { LimitError } from '../../container/graph-error.js';
import type { TransportReadOptions } from '../../container/transport/transport.js';
import type { CompactGraph } from '../compact-graph.js';
import type { GraphNode } from '../graph-node.js';
import { ByteStore } from './byte-store.js';
import { ChunkPool } from './chunk-pool.js';

/** Keys by ordinal. */
export interface InputKeys {
  /** What gives the key of every ordinal that `nodes` of `graph` have or refer to. */
  forNodes(graph: number, nodes: readonly GraphNode[]): Promise<(ordinal: number) => Uint8Array>;
}

/** Bytes of a key in memory beside its own. */
const KEY_OVERHEAD = 8;
const ORDINAL_BYTES = 4;

/** Go through the keys of `file` once, and keep them within `memoryBytes`. */
export const readInputKeys = async (
  file: CompactGraph,
  memoryBytes: number,
  options: TransportReadOptions,
): Promise<InputKeys> => {
  const { dictionary, graphs } = file;
  const ordinals = graphs.reduce((sum, { nodeCount, ghostCount }) => sum + nodeCount + ghostCount, 0);
  const needed = ordinals * ORDINAL_BYTES;
  if (needed > memoryBytes) {
    throw new LimitError(
      `${file.container.transport.name} has ${ordinals} nodes, which takes twice ${needed} bytes to merge: raise memoryBytes`,
    );
  }
  const areKept = needed + dictionary.keyBytes + dictionary.keyCount * KEY_OVERHEAD <= memoryBytes;
  const store = new ByteStore(new ChunkPool());
  // Where the key is in memory, or its rank.
  const places = graphs.map(({ nodeCount, ghostCount }) => new Uint32Array(nodeCount + ghostCount));
  for await (const entries of dictionary.range({}, options)) {
    for (const { key, rank, ordinals: own } of entries) {
      const place = areKept ? store.add(key) : rank;
      own.forEach((ordinal, graph) => {
        if (ordinal >= 0) places[graph][ordinal] = place;
      });
    }
  }
  if (areKept) return { forNodes: async (graph) => (ordinal) => store.get(places[graph][ordinal]) };
  return {
    async forNodes(graph, nodes) {
      const wanted = new Set<number>();
      for (const { ordinal, references = [] } of nodes) {
        wanted.add(ordinal);
        for (const list of references) for (const target of list) wanted.add(target);
      }
      const known = [...wanted];
      const keys = await dictionary.keysAt(
        known.map((ordinal) => places[graph][ordinal]),
        options,
      );
      const byOrdinal = new Map(known.map((ordinal, i) => [ordinal, keys[i]]));
      return (ordinal) => byOrdinal.get(ordinal) as Buffer;
    },
  };
};
