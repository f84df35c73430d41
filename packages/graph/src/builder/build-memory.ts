// How much memory the last phases take, counted before any of it is taken: what would not fit must be refused, not tried.
import type { CheckedOptions } from './builder-options.js';
import { SORT_BYTES_PER_KEY } from './key-sort.js';

/** What is known of a graph before it is ordered. */
export interface GraphSize {
  readonly nodes: number;
  readonly ghosts: number;
  readonly edges: number;
}

/** What is known of a file before it is ordered. */
export interface BuildSize {
  /** Keys of all runs, each once; or a number that is not less. */
  readonly keys: number;
  /** Keys of the largest run. */
  readonly runKeys: number;
  readonly graphs: readonly GraphSize[];
  /** Bytes held all the time: the batch, extra sections. */
  readonly held: number;
}

/** Buffers for blocks being written, and one temporary-file buffer for each thing that is read or written at a time. */
const BUFFER_BYTES = 512 * 1024;
/** What the dictionary keeps of its blocks until it writes its index. */
const INDEX_BYTES_PER_KEY = 4;
/** Hashes, their sorted copy and the filter made of them. */
const FILTER_BYTES_PER_KEY = 48;
/** Place in the order, state, and stack of the walk that finds it: the worst case is a single chain. */
const WALK_BYTES_PER_NODE = 4 + 2 + 32;

const orderBytes = ({ nodes, edges }: GraphSize, isReversed: boolean, hasGroups: boolean): number =>
  4 * (nodes + edges) +
  (isReversed ? 8 * nodes + 4 * edges : 0) +
  (hasGroups ? 8 * nodes : 0) +
  WALK_BYTES_PER_NODE * nodes;

const columnBytes = ({ nodes, ghosts, edges }: GraphSize, lists: number): number =>
  4 * nodes * lists + 4 * edges + 4 * (nodes + ghosts) + 4 * nodes;

/** Bytes that ordering and writing takes at most at a time. */
export const finishBytes = ({ keys, runKeys, graphs, held }: BuildSize, options: CheckedOptions): number => {
  let ordinals = 0;
  let most = 0;
  graphs.forEach((size, i) => {
    const { order, referenceLists } = options.graphs[i];
    ordinals += 4 * size.nodes;
    const ordering = orderBytes(size, order !== 'child-first', order === 'trace-contiguous');
    most = Math.max(most, ordering, columnBytes(size, referenceLists));
  });
  const dictionary = keys * (INDEX_BYTES_PER_KEY + (options.filter ? FILTER_BYTES_PER_KEY : 0));
  return held + BUFFER_BYTES + 4 * runKeys + ordinals + dictionary + most;
};

/** Bytes that sorting a batch takes beside the batch. */
export const sortBytes = (keys: number): number => BUFFER_BYTES + SORT_BYTES_PER_KEY * keys;
