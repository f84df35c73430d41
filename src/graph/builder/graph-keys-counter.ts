// Counts, over keys in order, the nodes and ghosts of each graph and where groups of keys begin.
import { ChunkPool } from './chunk-pool.js';
import { U32List } from './number-lists.js';
import { BLANK, type GraphKeys, NODE } from './run.js';

/** Nodes and ghosts seen so far. */
export class GraphKeysCounter {
  readonly nodeCounts: Uint32Array;
  readonly ghostCounts: Uint32Array;
  private readonly groupStarts: readonly U32List[];
  /** Group of the last node of each graph; groups are counted from 1. */
  private readonly lastGroups: Uint32Array;
  private group = 0;
  private readonly groupName: Buffer;
  private groupNameLength = -1;

  /** @param groupBytes How many bytes of a key name its group; 0 to find none. */
  constructor(
    graphs: number,
    private readonly groupBytes: number,
  ) {
    this.nodeCounts = new Uint32Array(graphs);
    this.ghostCounts = new Uint32Array(graphs);
    this.lastGroups = new Uint32Array(graphs);
    const pool = new ChunkPool();
    this.groupStarts = Array.from({ length: graphs }, () => new U32List(pool));
    this.groupName = Buffer.alloc(groupBytes);
  }

  /** The next key in order. */
  nextKey(key: Uint8Array): void {
    const { groupBytes, groupName } = this;
    if (groupBytes === 0) return;
    const length = Math.min(groupBytes, key.length);
    if (length === this.groupNameLength) {
      let i = 0;
      while (i < length && key[i] === groupName[i]) i++;
      if (i === length) return;
    }
    for (let i = 0; i < length; i++) groupName[i] = key[i];
    this.groupNameLength = length;
    this.group++;
  }

  /** What that key is in `graph`. */
  count(graph: number, standing: number): void {
    if (standing === BLANK) return;
    if (standing !== NODE) {
      this.ghostCounts[graph]++;
      return;
    }
    const node = this.nodeCounts[graph]++;
    if (this.groupBytes === 0 || this.lastGroups[graph] === this.group) return;
    this.lastGroups[graph] = this.group;
    this.groupStarts[graph].push(node);
  }

  /** What was counted. */
  result(): GraphKeys[] {
    return this.groupStarts.map((starts, graph) => ({
      nodeCount: this.nodeCounts[graph],
      ghostCount: this.ghostCounts[graph],
      groupStarts: Uint32Array.from({ length: starts.length }, (_, i) => starts.get(i)),
    }));
  }
}
