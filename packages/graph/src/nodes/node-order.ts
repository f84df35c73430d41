// The order of the nodes of a graph: a topological sort in which neighbours stand together, so that references are small numbers. The
// same nodes and references must always give the same order.

/** How the nodes of a graph are ordered. */
export type OrderKind =
  /** A node stands before what it refers to, and its first reference right behind it where possible: commits. */
  | 'child-first'
  /** A node stands behind what it refers to: trees of spans. */
  | 'root-first'
  /** Root-first inside groups of keys with the same first `groupBytes` bytes; groups in the order of their keys: spans by trace. */
  | 'trace-contiguous';

export const ORDERS: readonly OrderKind[] = ['child-first', 'root-first', 'trace-contiguous'];

/** References of nodes as compressed rows: those of node `i` are `targets[offsets[i]]` up to `targets[offsets[i + 1]]`. */
export interface Adjacency {
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
}

/** A cycle was met: its nodes, each referring to the next, the last to the first. */
export class FoundCycle {
  constructor(readonly nodes: readonly number[]) {}
}

const WHITE = 0;
const GREY = 1;
const BLACK = 2;
/** No node has this number, so no component has. */
const NO_COMPONENT = 0xffffffff;

/** The reverse of all references. */
const transposed = ({ offsets, targets }: Adjacency): Adjacency => {
  const count = offsets.length - 1;
  const reversedOffsets = new Uint32Array(count + 1);
  for (const target of targets) reversedOffsets[target + 1]++;
  for (let i = 0; i < count; i++) reversedOffsets[i + 1] += reversedOffsets[i];
  const next = reversedOffsets.slice(0, count);
  const reversedTargets = new Uint32Array(targets.length);
  for (let node = 0; node < count; node++) {
    for (let i = offsets[node]; i < offsets[node + 1]; i++) reversedTargets[next[targets[i]]++] = node;
  }
  return { offsets: reversedOffsets, targets: reversedTargets };
};

/**
 * Nodes from `start` to `end` in reverse post-order of a depth-first walk over references inside that range. Walks begin at the nodes
 * nobody refers to, then (cycles) at any. Of a node's references the first is walked last, so it stands right behind the node.
 */
const reversePostOrder = (
  { offsets, targets }: Adjacency,
  isReferred: Uint8Array,
  start: number,
  end: number,
  order: Uint32Array,
  state: Uint8Array,
  allowCycles: boolean,
): FoundCycle | undefined => {
  let place = end;
  const stack: number[] = [];
  const nextEdge: number[] = [];
  const visit = (root: number): FoundCycle | undefined => {
    if (state[root] !== WHITE) return undefined;
    state[root] = GREY;
    stack.push(root);
    nextEdge.push(offsets[root + 1]);
    while (stack.length > 0) {
      const node = stack[stack.length - 1];
      const edge = nextEdge[nextEdge.length - 1] - 1;
      if (edge < offsets[node]) {
        state[node] = BLACK;
        order[--place] = node;
        stack.pop();
        nextEdge.pop();
        continue;
      }
      nextEdge[nextEdge.length - 1] = edge;
      const target = targets[edge];
      if (target < start || target >= end) continue;
      if (state[target] === WHITE) {
        state[target] = GREY;
        stack.push(target);
        nextEdge.push(offsets[target + 1]);
      } else if (state[target] === GREY && !allowCycles) return new FoundCycle(stack.slice(stack.indexOf(target)));
    }
    return undefined;
  };
  // From the last to the first, because the order is filled from its end: the first head stands first.
  for (let pass = 0; pass < 2; pass++) {
    for (let node = end - 1; node >= start; node--) {
      if (pass === 0 && isReferred[node] === 1) continue;
      const cycle = visit(node);
      if (cycle !== undefined) return cycle;
    }
  }
  return undefined;
};

/**
 * The strongly connected component of each node, by number (Kosaraju): a component has a lower number than those it refers to. Nodes are in
 * one where each can be reached from the other.
 */
export const componentsOf = (references: Adjacency): Uint32Array => {
  const count = references.offsets.length - 1;
  const order = new Uint32Array(count);
  reversePostOrder(references, new Uint8Array(count), 0, count, order, new Uint8Array(count), true);
  const { offsets, targets } = transposed(references);
  const components = new Uint32Array(count).fill(NO_COMPONENT);
  let component = 0;
  for (const root of order) {
    if (components[root] !== NO_COMPONENT) continue;
    components[root] = component;
    const stack = [root];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      for (const target of targets.subarray(offsets[node], offsets[node + 1])) {
        if (components[target] !== NO_COMPONENT) continue;
        components[target] = component;
        stack.push(target);
      }
    }
    component++;
  }
  return components;
};

/** What `orderNodes` works on. Nodes are numbered in the order of their keys. */
interface OrderRequest {
  readonly kind: OrderKind;
  readonly references: Adjacency;
  readonly allowCycles: boolean;
  /** First node of each group, ascending; only `trace-contiguous` asks for it. Left out: all are one group. */
  readonly groupStarts?: readonly number[] | Uint32Array;
}

/** The node at each place of the order, or a cycle where none is allowed. */
export const orderNodes = (request: OrderRequest): Uint32Array | FoundCycle => {
  const { kind, references, allowCycles, groupStarts = [0] } = request;
  const count = references.offsets.length - 1;
  const walked = kind === 'child-first' ? references : transposed(references);
  const isReferred = new Uint8Array(count);
  const order = new Uint32Array(count);
  const state = new Uint8Array(count);
  const starts = kind === 'trace-contiguous' ? groupStarts : [0];
  for (let group = 0; group < starts.length; group++) {
    const end = starts[group + 1] ?? count;
    for (let i = walked.offsets[starts[group]]; i < walked.offsets[end]; i++) {
      const target = walked.targets[i];
      // Only from its own group: what another group refers to still begins a walk.
      if (target >= starts[group] && target < end) isReferred[target] = 1;
    }
    const cycle = reversePostOrder(walked, isReferred, starts[group], end, order, state, allowCycles);
    // A walk over reversed references meets a cycle backwards.
    if (cycle !== undefined) return kind === 'child-first' ? cycle : new FoundCycle([...cycle.nodes].reverse());
  }
  return order;
};
