// The nodes that can be reached from some: a walk over ordinals in memory. It terminates on cycles, since each node is walked through once,
// and needs five bytes a node, whatever the shape of the graph.
import type { GraphInfo } from './meta.js';
import type { ReferenceRows } from './nodes/reference-block.js';

/** What can be reached. */
export interface Ancestry {
  /** Ordinals, ascending: those started from and all they refer to, directly or not. */
  readonly nodes: Uint32Array;
  /** Ghosts among what was met, ascending. */
  readonly ghosts: Uint32Array;
  /** References of the list that was walked, of all nodes of the graph; shared with other walks, so not to be changed. */
  readonly references: ReferenceRows;
}

/** Ordinals from `start` to `end` that were seen. */
const seenIn = (seen: Uint8Array, start: number, end: number, count: number): Uint32Array => {
  const found = new Uint32Array(count);
  let at = 0;
  for (let ordinal = start; ordinal < end; ordinal++) if (seen[ordinal] === 1) found[at++] = ordinal;
  return found;
};

/** All that `starts`, ordinals of the graph, refer to by `rows`, and they themselves. */
export const closureOf = (
  { nodeCount, ghostCount }: GraphInfo,
  references: ReferenceRows,
  starts: ArrayLike<number>,
): Ancestry => {
  const { offsets, targets } = references;
  const ordinals = nodeCount + ghostCount;
  const seen = new Uint8Array(ordinals);
  // Each ordinal is put here once, when it is first seen.
  const stack = new Uint32Array(ordinals);
  let depth = 0;
  for (let i = 0; i < starts.length; i++) {
    if (seen[starts[i]] === 1) continue;
    seen[starts[i]] = 1;
    stack[depth++] = starts[i];
  }
  let nodes = 0;
  let ghosts = 0;
  while (depth > 0) {
    const node = stack[--depth];
    if (node >= nodeCount) {
      ghosts++;
      continue;
    }
    nodes++;
    for (let i = offsets[node]; i < offsets[node + 1]; i++) {
      const target = targets[i];
      if (seen[target] === 1) continue;
      seen[target] = 1;
      stack[depth++] = target;
    }
  }
  return {
    nodes: seenIn(seen, 0, nodeCount, nodes),
    ghosts: seenIn(seen, nodeCount, ordinals, ghosts),
    references,
  };
};
