// Goes through the nodes of a graph, run after run, with keys resolved to the numbers of nodes and ghosts; and gathers their references
// into rows. Every node comes up once, in no order that means anything.
import type { Adjacency } from '../nodes/node-order.js';
import type { ReferenceRows } from '../nodes/reference-block.js';
import type { KeySpace, NodeNumbers, Run } from './run.js';

const EMPTY = new Uint32Array(0);

/** The runs of a file and what their keys stand for. */
export interface BuilderInput {
  readonly runs: readonly Run[];
  readonly space: KeySpace;
}

/** A walk over the nodes of one graph. */
export class NodeScan {
  /** Number of the node that `next` went to. */
  node = -1;
  /** The run it is in. */
  run = -1;
  readonly #input: BuilderInput;
  readonly #graph: number;
  #left = 0;
  #numbers: NodeNumbers = { next: () => 0, skip: () => {} };
  #meaning: Uint32Array = EMPTY;

  constructor(input: BuilderInput, graph: number) {
    this.#input = input;
    this.#graph = graph;
  }

  /** Go to the next node; the references of the one before were read. */
  next(): boolean {
    while (this.#left === 0) {
      const { runs, space } = this.#input;
      if (this.run + 1 >= runs.length) return false;
      this.run++;
      this.#left = runs[this.run].nodeCount(this.#graph);
      if (this.#left === 0) continue;
      this.#numbers = runs[this.run].nodes(this.#graph);
      this.#meaning = space.numbers(this.run, this.#graph);
    }
    this.#left--;
    this.node = this.#meaning[this.#numbers.next()];
    return true;
  }

  /** Length of the next reference list. */
  length(): number {
    return this.#numbers.next();
  }

  /** Pass over the next list; the answer is its length. */
  skipList(): number {
    const length = this.#numbers.next();
    this.#numbers.skip(length);
    return length;
  }

  /** The next reference: a node, or `nodeCount` plus a ghost. */
  reference(): number {
    return this.#meaning[this.#numbers.next()];
  }
}

const toOffsets = (counts: Uint32Array): void => {
  for (let i = 1; i < counts.length; i++) counts[i] += counts[i - 1];
};

/** References among nodes, those of all lists together, as the order needs them. */
export const gatherAdjacency = (input: BuilderInput, graph: number, lists: number): Adjacency => {
  const { nodeCount } = input.space.graphs[graph];
  const offsets = new Uint32Array(nodeCount + 1);
  for (const scan = new NodeScan(input, graph); scan.next(); ) {
    let degree = 0;
    for (let list = 0; list < lists; list++)
      for (let left = scan.length(); left > 0; left--) if (scan.reference() < nodeCount) degree++;
    offsets[scan.node + 1] = degree;
  }
  toOffsets(offsets);
  const targets = new Uint32Array(offsets[nodeCount]);
  for (const scan = new NodeScan(input, graph); scan.next(); ) {
    let at = offsets[scan.node];
    for (let list = 0; list < lists; list++) {
      for (let left = scan.length(); left > 0; left--) {
        const target = scan.reference();
        if (target < nodeCount) targets[at++] = target;
      }
    }
  }
  return { offsets, targets };
};

/** The reference lists over ordinals; `ordinals` has that of each node, and ghosts follow in their order. */
export const gatherRows = (
  input: BuilderInput,
  graph: number,
  lists: number,
  ordinals: Uint32Array,
): ReferenceRows[] => {
  const nodeCount = ordinals.length;
  const offsets = Array.from({ length: lists }, () => new Uint32Array(nodeCount + 1));
  for (const scan = new NodeScan(input, graph); scan.next(); ) {
    const ordinal = ordinals[scan.node];
    for (let list = 0; list < lists; list++) offsets[list][ordinal + 1] = scan.skipList();
  }
  offsets.forEach(toOffsets);
  const targets = offsets.map((ends) => new Uint32Array(ends[nodeCount]));
  for (const scan = new NodeScan(input, graph); scan.next(); ) {
    const ordinal = ordinals[scan.node];
    for (let list = 0; list < lists; list++) {
      const into = targets[list];
      let at = offsets[list][ordinal];
      for (let left = scan.length(); left > 0; left--) {
        const target = scan.reference();
        into[at++] = target < nodeCount ? ordinals[target] : target;
      }
    }
  }
  return offsets.map((ends, list) => ({ offsets: ends, targets: targets[list] }));
};
