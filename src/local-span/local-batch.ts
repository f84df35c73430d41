// A finished batch of local spans: columns cut to size, immutable, owned by whoever holds it. One batch travels as one
// message and may be mounted under several spans. No record is made here.
import { CHUNK_MASK, CHUNK_SHIFT } from './column-chunk.js';
import type { SideSlice } from './side-columns.js';
import { BYTES_PER_PROPERTY, bytesOfProperties, bytesOfValue } from './value-bytes.js';

/** Up to one chunk of spans, of which the batch may count fewer. Rows are in order of start; a parent always has a smaller index than its children. */
export class ColumnSlice {
  constructor(
    readonly idHi: number,
    readonly idLo: number,
    readonly names: readonly string[],
    readonly parents: readonly number[],
    readonly begins: readonly number[],
    readonly ends: readonly number[],
  ) {}
}

// 32 bytes of columns a span; an event as much as its place in four columns and what the engine adds.
const BYTES_PER_SPAN = 32;
const BYTES_PER_EVENT = 64;
const BYTES_PER_BATCH = 256;

export class LocalBatch {
  constructor(
    readonly slices: readonly ColumnSlice[],
    readonly count: number,
    readonly side: SideSlice | null,
  ) {}

  sliceOf(index: number): ColumnSlice {
    return this.slices[index >> CHUNK_SHIFT];
  }

  rowOf(index: number): number {
    return index & CHUNK_MASK;
  }

  /** The first `n` spans. Still a tree: a parent always comes before its children. */
  first(n: number): LocalBatch {
    if (n >= this.count) return this;
    return new LocalBatch(this.slices.slice(0, (n + CHUNK_MASK) >> CHUNK_SHIFT), n, this.side);
  }

  /** Estimated bytes this batch keeps alive. */
  get byteSize(): number {
    const side = this.side;
    let bytes = BYTES_PER_BATCH + this.count * BYTES_PER_SPAN;
    if (side === null) return bytes;
    for (const value of side.propertyValues) bytes += BYTES_PER_PROPERTY + bytesOfValue(value);
    for (const properties of side.eventProperties) bytes += BYTES_PER_EVENT + bytesOfProperties(properties);
    return bytes;
  }
}
