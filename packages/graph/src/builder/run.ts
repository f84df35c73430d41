// What a batch of nodes looks like once nothing is added to it, in memory or spilled: the rest of the builder must not know which. Keys in
// order tell how many nodes and ghosts each graph has, and where groups of keys begin.

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
