// One fixed-size piece of a SpanQueue: the columns name, parent, begin, end. Pooled, because a new set of columns
// costs more than all the spans written to it. A chunk must never be read after it went back to the pool.
//
// Plain arrays of doubles, not typed arrays: the stores cost the same, and `slice` of an array is a 20 ns copy inside
// the young generation while `slice` of a typed array allocates outside the heap (bench/decisions/columns.mjs).
import { reserveSpanIds, spanIdPrefix } from './ids.js';

export const CHUNK_SHIFT = 7;
/** Spans a chunk holds. A power of two, so that an index splits into chunk and row by shift and mask. */
export const CHUNK_SIZE = 1 << CHUNK_SHIFT;
export const CHUNK_MASK = CHUNK_SIZE - 1;

// Built by push, so that V8 keeps the arrays packed; `fill` on a sized array would leave them holey.
const column = <T>(value: T): T[] => {
  const out: T[] = [];
  for (let i = 0; i < CHUNK_SIZE; i++) out.push(value);
  return out;
};

export class ColumnChunk {
  // References to the caller's strings: a hash look-up to intern a name costs more than the span (bench/decisions/names.mjs).
  readonly names: string[] = column('');
  /** Index of the parent in the queue; -1 under the mount point. */
  readonly parents: number[] = column(-1);
  // 0.5 makes the elements doubles from the start; an integer would make them small integers and cost a transition.
  readonly begins: number[] = column(0.5);
  /** 0 while the span is open. */
  readonly ends: number[] = column(0.5);
  idHi = 0;
  idLo = 0;

  /** Take ids for all rows, so that a span's id is known while it is open. */
  assignIds(): void {
    this.idLo = reserveSpanIds(CHUNK_SIZE);
    this.idHi = spanIdPrefix();
  }
}

// Free chunks kept for reuse: 256 of about 4 KiB each. More are left to the garbage collector.
const MAX_FREE = 256;
const free: ColumnChunk[] = [];

export const acquireChunk = (): ColumnChunk => {
  const chunk = free.pop() ?? new ColumnChunk();
  chunk.assignIds();
  return chunk;
};

export const releaseChunk = (chunk: ColumnChunk): void => {
  if (free.length < MAX_FREE) free.push(chunk);
};
