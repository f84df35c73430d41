// What a batch of nodes looks like once nothing is added to it, in memory or spilled: the rest of the builder must not know which. Keys in
// order tell how many nodes and ghosts each graph has, and where groups of keys begin. A scan goes through the nodes of a graph, run after
// run, every node once in no order that means anything, with keys resolved to the numbers of nodes and ghosts.

import type { ReferenceRows } from '../nodes/node-blocks.js';
import type { Adjacency } from '../nodes/node-order.js';
import { ChunkPool, U32List } from './chunk-pool.js';

/** Nodes and ghosts seen so far. */
export class GraphKeysCounter {
  readonly nodeCounts: Uint32Array;
  readonly ghostCounts: Uint32Array;
  readonly #groupBytes: number;
  readonly #groupStarts: readonly U32List[];
  /** Group of the last node of each graph; groups are counted from 1. */
  readonly #lastGroups: Uint32Array;
  #group = 0;
  readonly #groupName: Buffer;
  #groupNameLength = -1;

  /** @param groupBytes How many bytes of a key name its group; 0 to find none. */
  constructor(graphs: number, groupBytes: number) {
    this.#groupBytes = groupBytes;
    this.nodeCounts = new Uint32Array(graphs);
    this.ghostCounts = new Uint32Array(graphs);
    this.#lastGroups = new Uint32Array(graphs);
    const pool = new ChunkPool();
    this.#groupStarts = Array.from({ length: graphs }, () => new U32List(pool));
    this.#groupName = Buffer.alloc(groupBytes);
  }

  /** The next key in order. */
  nextKey(key: Uint8Array): void {
    const groupName = this.#groupName;
    if (this.#groupBytes === 0) return;
    const length = Math.min(this.#groupBytes, key.length);
    if (length === this.#groupNameLength) {
      let i = 0;
      while (i < length && key[i] === groupName[i]) i++;
      if (i === length) return;
    }
    for (let i = 0; i < length; i++) groupName[i] = key[i];
    this.#groupNameLength = length;
    this.#group++;
  }

  /** What that key is in `graph`. */
  count(graph: number, standing: number): void {
    if (standing === BLANK) return;
    if (standing !== NODE) {
      this.ghostCounts[graph]++;
      return;
    }
    const node = this.nodeCounts[graph]++;
    if (this.#groupBytes === 0 || this.#lastGroups[graph] === this.#group) return;
    this.#lastGroups[graph] = this.#group;
    this.#groupStarts[graph].push(node);
  }

  /** What was counted. */
  result(): GraphKeys[] {
    return this.#groupStarts.map((starts, graph) => ({
      nodeCount: this.nodeCounts[graph],
      ghostCount: this.ghostCounts[graph],
      groupStarts: Uint32Array.from({ length: starts.length }, (_, i) => starts.get(i)),
    }));
  }
}

/** A key is not in a graph, is a node of it, or is only referred to. */
export const BLANK = 0;
export const NODE = 1;
export const REFERRED = 2;

/** What a key with these marks is in a graph: a node that is referred to is a node. */
export const standing = (marks: number): number => ((marks & NODE) !== 0 ? NODE : marks);

/** Keys in the order of their bytes. */
export interface KeyCursor {
  /** Go to the next key, the first at first; false when there is none. */
  next(): boolean;
  /** The key, as a view: valid until `next`. */
  readonly key: Uint8Array;
  /** Number of the key in its run. */
  readonly local: number;
  /** `NODE` and `REFERRED` bits of the key in `graph`. */
  marks(graph: number): number;
}

/**
 * Nodes one after the other, each as numbers: the local number of its key; then for each reference list how many there are, and the
 * local number of each.
 */
export interface NodeNumbers {
  next(): number;
  /** Pass over `count` numbers. */
  skip(count: number): void;
}

/** A batch of nodes. Keys have local numbers, which mean nothing outside. */
export interface Run {
  readonly keyCount: number;
  nodeCount(graph: number): number;
  keys(): KeyCursor;
  nodes(graph: number): NodeNumbers;
}

/** The keys of all runs, each once. */
export interface KeySpace {
  readonly keyCount: number;
  readonly graphs: readonly GraphKeys[];
  keys(): KeyCursor;
  /** For each local number of run `run`: the number of that key among the nodes of `graph` (or `nodeCount` plus that among its ghosts). */
  numbers(run: number, graph: number): Uint32Array;
}

/** What the merged keys tell of a graph. */
export interface GraphKeys {
  readonly nodeCount: number;
  readonly ghostCount: number;
  /** Number of the first node of each group of keys; empty when keys have no groups. */
  readonly groupStarts: Uint32Array;
}

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
