// Whether the nodes of a graph stand in the order that the file says. Where cycles are allowed a reference may go the wrong way only
// inside a cycle.
import type { Adjacency, OrderKind } from '../nodes/node-order.js';

/** The strongly connected component of each node, by number (Tarjan). References to nodes of another group are left out. */
export const componentsOf = ({ offsets, targets }: Adjacency, groups: Uint32Array | undefined): Uint32Array => {
  const count = offsets.length - 1;
  const component = new Uint32Array(count);
  const index = new Uint32Array(count);
  const low = new Uint32Array(count);
  const next = new Uint32Array(count);
  const isOpen = new Uint8Array(count);
  const open: number[] = [];
  const path: number[] = [];
  let visited = 0;
  let components = 0;
  for (let root = 0; root < count; root++) {
    if (index[root] > 0) continue;
    path.push(root);
    while (path.length > 0) {
      const node = path[path.length - 1];
      if (index[node] === 0) {
        index[node] = low[node] = ++visited;
        next[node] = offsets[node];
        open.push(node);
        isOpen[node] = 1;
      }
      let deeper = false;
      while (next[node] < offsets[node + 1]) {
        const target = targets[next[node]];
        const isWithin = target < count && (groups === undefined || groups[target] === groups[node]);
        if (isWithin && index[target] === 0) {
          path.push(target);
          deeper = true;
          break;
        }
        if (isWithin && isOpen[target] === 1 && low[target] < low[node]) low[node] = low[target];
        next[node]++;
      }
      if (deeper) continue;
      path.pop();
      if (low[node] !== index[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop() as number;
        isOpen[member] = 0;
        component[member] = components;
      }
      components++;
    }
  }
  return component;
};

/** Whether a reference goes against an order. */
export const goesAgainst = (order: OrderKind, node: number, target: number): boolean =>
  order === 'child-first' ? target <= node : target >= node;

/** For each component whether it is a cycle, or one of its nodes leads to one. */
export const leadingToCycles = (
  { offsets, targets }: Adjacency,
  groups: Uint32Array | undefined,
  components: Uint32Array,
): Uint8Array => {
  const leads = new Uint8Array(components.length);
  const sizes = new Uint32Array(components.length);
  for (const component of components) sizes[component]++;
  // Components have higher numbers than those they refer to.
  const nodes = Uint32Array.from(components.keys()).sort((a, b) => components[a] - components[b]);
  for (const node of nodes) {
    const own = components[node];
    if (sizes[own] > 1) leads[own] = 1;
    for (let i = offsets[node]; i < offsets[node + 1]; i++) {
      const target = targets[i];
      const isWithin = groups === undefined || groups[target] === groups[node];
      if (target === node || (isWithin && leads[components[target]] === 1)) leads[own] = 1;
    }
  }
  return leads;
};
