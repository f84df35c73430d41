// A node as readers hand it out, with the parts that were asked for. Types only.

/** A node as asked for. */
export interface GraphNode {
  readonly ordinal: number;
  /** True: referred to, but not in the graph; it has a key, but neither value nor references. */
  readonly isGhost: boolean;
  readonly key?: Buffer;
  readonly value?: Uint8Array;
  /** One for each reference list: ordinals. */
  readonly references?: readonly Uint32Array[];
}

/** What to fetch of a node. */
export interface NodeParts {
  readonly keys?: boolean;
  readonly values?: boolean;
  readonly references?: boolean;
}
