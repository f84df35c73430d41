// Which nodes of several files stand behind one of the same key in an earlier file. It goes through all keys once, in their order, and
// keeps a bit for each node.

import type { CompactGraph } from '../compact-graph.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import type { DictionaryEntry } from '../dictionary/dictionary-range.js';
import { compareKeys } from '../dictionary/key-bytes.js';

/** A bit for each node of each graph of a file. */
export class NodeBits {
  readonly #bits: readonly Uint8Array[];

  constructor(file: CompactGraph) {
    this.#bits = file.graphs.map(({ nodeCount }) => new Uint8Array(Math.ceil(nodeCount / 8)));
  }

  has(graph: number, ordinal: number): boolean {
    return (this.#bits[graph][ordinal >>> 3] & (1 << (ordinal & 7))) !== 0;
  }

  add(graph: number, ordinal: number): void {
    this.#bits[graph][ordinal >>> 3] |= 1 << (ordinal & 7);
  }
}

/** The keys of one file, one after the other. */
class EntryCursor {
  entry: DictionaryEntry | undefined;
  readonly #batches: AsyncGenerator<readonly DictionaryEntry[]>;
  #batch: readonly DictionaryEntry[] = [];
  #at = 0;

  constructor(batches: AsyncGenerator<readonly DictionaryEntry[]>) {
    this.#batches = batches;
  }

  /** False when the next key has to be waited for. */
  tryNext(): boolean {
    this.entry = this.#batch[this.#at++];
    return this.entry !== undefined;
  }

  /** Wait for the next key; `entry` is undefined when there is none. */
  async next(): Promise<void> {
    const { value } = await this.#batches.next();
    this.#batch = value ?? [];
    this.#at = 0;
    if (value !== undefined && !this.tryNext()) await this.next();
  }
}

/** For each file the nodes that an earlier file has too. */
export const findLosers = async (
  files: readonly CompactGraph[],
  options: TransportReadOptions,
): Promise<NodeBits[]> => {
  const losers = files.map((file) => new NodeBits(file));
  const cursors = files.map(({ dictionary }) => new EntryCursor(dictionary.range({}, options)));
  for (const cursor of cursors) await cursor.next();
  for (;;) {
    const key = minKey(cursors);
    if (key === undefined) return losers;
    const isTaken = files[0].graphs.map(() => false);
    for (const [i, cursor] of cursors.entries()) {
      const { entry } = cursor;
      if (entry === undefined || compareKeys(entry.key, key) !== 0) continue;
      entry.ordinals.forEach((ordinal, graph) => {
        if (ordinal < 0 || ordinal >= files[i].graphs[graph].nodeCount) return;
        if (isTaken[graph]) losers[i].add(graph, ordinal);
        isTaken[graph] = true;
      });
      if (!cursor.tryNext()) await cursor.next();
    }
  }
};

const minKey = (cursors: readonly EntryCursor[]): Buffer | undefined => {
  let min: Buffer | undefined;
  for (const { entry } of cursors)
    if (entry !== undefined && (min === undefined || compareKeys(entry.key, min) < 0)) min = entry.key;
  return min;
};
