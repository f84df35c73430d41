// Checks one graph of a file: what its meta section claims is counted, its order is looked at, its back pointers and node table agree
// with what says the same elsewhere. References and values are read in stretches, so that a graph of any size can be checked. Where cycles
// are allowed a reference may go against the order only inside a cycle.

import type { CompactGraph } from '../compact-graph.js';
import { CorruptError } from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import type { GraphView } from '../graph-view.js';
import { type Adjacency, FoundCycle, type OrderKind, orderNodes } from '../nodes/node-order.js';
import { TABLE_COPIES } from '../nodes/node-table.js';
import type { OrdinalFacts } from './key-checks.js';

/** The strongly connected component of each node, by number (Tarjan). References to nodes of another group are left out. */
const componentsOf = ({ offsets, targets }: Adjacency, groups: Uint32Array | undefined): Uint32Array => {
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
const goesAgainst = (order: OrderKind, node: number, target: number): boolean =>
  order === 'child-first' ? target <= node : target >= node;

/** For each component whether it is a cycle, or one of its nodes leads to one. */
const leadingToCycles = (
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

/** Every part of a graph; throws at the first thing that cannot be. */
export const checkGraph = async (
  file: CompactGraph,
  graph: number,
  facts: OrdinalFacts,
  options?: TransportReadOptions,
): Promise<void> => {
  const view = file.graph(graph);
  checkForm(file, view);
  await checkTableCopies(file, graph, options);
  if (view.info.hasBackPointers) {
    const ranks = await view.ranks(options);
    const wrong = ranks.findIndex((rank, ordinal) => rank !== facts.ranks[ordinal]);
    if (wrong >= 0) throw lie(file, graph, `has another key for ordinal ${wrong} than its dictionary`, 'backPointers');
  }
  await new NodeWalk(file, view, facts).run(options);
};

const lie = (file: CompactGraph, graph: number, what: string, section = 'meta'): CorruptError =>
  new CorruptError(`graph ${graph} of ${file.container.transport.name} ${what}`, section);

const checkForm = (file: CompactGraph, { index, info }: GraphView): void => {
  const { referenceLists, hasReferences, hasValues, hasBackPointers, cycles, order } = info;
  const flags: unknown[] = [hasReferences, hasValues, hasBackPointers, cycles];
  const isSound =
    flags.every((flag) => typeof flag === 'boolean') &&
    hasReferences === referenceLists > 0 &&
    (order !== 'trace-contiguous' || file.meta.groupBytes > 0);
  if (!isSound) throw lie(file, index, 'is described by a meta section that contradicts itself');
};

/** A file has no copies, or those of all columns. */
const checkTableCopies = async (file: CompactGraph, graph: number, options?: TransportReadOptions): Promise<void> => {
  const { container } = file;
  const entries = Object.values(TABLE_COPIES).flatMap((id) => container.find(id, graph) ?? []);
  if (entries.length === 0) return;
  const [table, ...copies] = await container.read([container.need(SectionId.nodeTable, graph), ...entries], options);
  if (!Buffer.concat(copies).equals(table))
    throw lie(file, graph, 'has a second copy of its node table that is another than the first', 'nodeTable');
};

/** One walk over all nodes. */
class NodeWalk {
  readonly #file: CompactGraph;
  readonly #view: GraphView;
  readonly #facts: OrdinalFacts;
  #edges = 0;
  /** References to nodes that go against the order, from and to. */
  readonly #against: number[] = [];
  #crossesGroups = false;
  readonly #isReferred: Uint8Array;

  constructor(file: CompactGraph, view: GraphView, facts: OrdinalFacts) {
    this.#file = file;
    this.#view = view;
    this.#facts = facts;
    this.#isReferred = new Uint8Array(view.ghostCount);
  }

  async run(options?: TransportReadOptions): Promise<void> {
    const view = this.#view;
    const facts = this.#facts;
    const { hasReferences, hasValues, edgeCount } = view.info;
    for (let node = 1; facts.groups !== undefined && node < view.nodeCount; node++)
      if (facts.groups[node] < facts.groups[node - 1]) throw this.#lie('is not ordered by groups of keys');
    if (hasReferences || hasValues) {
      for await (const nodes of view.scan({ references: hasReferences, values: hasValues }, options))
        for (const { ordinal, references = [] } of nodes) for (const list of references) this.#node(ordinal, list);
    }
    if (this.#edges !== edgeCount) throw this.#lie(`has ${this.#edges} references, its meta section says ${edgeCount}`);
    const unreferred = this.#isReferred.indexOf(0);
    if (unreferred >= 0) throw this.#lie(`has the absent node ${view.nodeCount + unreferred}, to which nothing refers`);
    await this.#checkOrder(options);
  }

  #node(node: number, targets: Uint32Array): void {
    const view = this.#view;
    const facts = this.#facts;
    this.#edges += targets.length;
    for (const target of targets) {
      if (target >= view.nodeCount) this.#isReferred[target - view.nodeCount] = 1;
      else if (facts.groups !== undefined && facts.groups[target] !== facts.groups[node]) this.#crossesGroups = true;
      else if (goesAgainst(view.info.order, node, target)) this.#against.push(node, target);
    }
  }

  async #checkOrder(options?: TransportReadOptions): Promise<void> {
    const against = this.#against;
    const { cycles, order } = this.#view.info;
    if (against.length > 0) {
      if (!cycles) throw this.#lie(`is not ordered ${order}: node ${against[0]} refers to ${against[1]}`);
      const references = await this.#adjacency(options);
      const components = componentsOf(references, this.#facts.groups);
      // A trace whose parents go round in a circle has no root; an archive orders it from any of its spans.
      const leads =
        order === 'trace-contiguous' ? leadingToCycles(references, this.#facts.groups, components) : undefined;
      const isInCycle = (node: number, target: number): boolean =>
        components[node] === components[target] || leads?.[components[target]] === 1;
      for (let i = 0; i < against.length; i += 2)
        if (!isInCycle(against[i], against[i + 1]))
          throw this.#lie(`is not ordered ${order}: node ${against[i]} refers to ${against[i + 1]}`);
    }
    if (cycles || !this.#crossesGroups) return;
    // Groups are ordered one by one, which does not show a cycle through several.
    const references = await this.#adjacency(options);
    if (orderNodes({ kind: 'root-first', references, allowCycles: false }) instanceof FoundCycle)
      throw this.#lie('has a cycle, and was built to have none');
  }

  /** References of all lists to nodes. */
  async #adjacency(options?: TransportReadOptions): Promise<Adjacency> {
    const view = this.#view;
    const lists = await view.references(options);
    const offsets = new Uint32Array(view.nodeCount + 1);
    const targets: number[] = [];
    for (let node = 0; node < view.nodeCount; node++) {
      for (const list of lists)
        for (let i = list.offsets[node]; i < list.offsets[node + 1]; i++)
          if (list.targets[i] < view.nodeCount) targets.push(list.targets[i]);
      offsets[node + 1] = targets.length;
    }
    return { offsets, targets: Uint32Array.from(targets) };
  }

  #lie(what: string): CorruptError {
    return lie(this.#file, this.#view.index, what);
  }
}
