// What a batch of nodes looks like once nothing is added to it, in memory or spilled: the rest of the builder must not know which.

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
