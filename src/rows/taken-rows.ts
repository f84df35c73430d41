// The rows of finished traces, sorted by trace, on their way to reporters. Its chunks go back to where they came from when the last of its
// traces is released, or are left to the garbage collector with it. Nothing may be written to it once it was given away.

import type { PropertyList } from './property.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from './row-chunk.js';

/** Takes chunks that are free again. */
interface ChunkPool {
  give(chunk: RowChunk): void;
}

export class TakenRows {
  readonly chunks: RowChunk[] = [];
  // Chunk and row of each row, by trace; the root of a trace first.
  private readonly places: Int32Array;
  private readonly starts: Int32Array;
  private readonly ends: Int32Array;
  // Takes rows that are copied, and its place among the chunks.
  private copies: RowChunk | null = null;
  private copiesAt = 0;

  // Traces that somebody may still read.
  private held: number;

  /** @param counts Number of rows of each trace. */
  constructor(
    counts: Int32Array,
    private readonly pool: ChunkPool | null = null,
  ) {
    this.held = counts.length;
    this.starts = new Int32Array(counts.length);
    let count = 0;
    for (let i = 0; i < counts.length; i++) {
      this.starts[i] = count;
      count += counts[i];
    }
    this.ends = this.starts.slice();
    this.places = new Int32Array(count);
  }

  /** The rows of trace `i`: the number here of the first, and how many there are. */
  firstOf(i: number): number {
    return this.starts[i];
  }
  countOf(i: number): number {
    return this.ends[i] - this.starts[i];
  }

  /** Nobody reads one of its traces any more. */
  release(): void {
    if (--this.held > 0 || this.pool === null) return;
    for (const chunk of this.chunks.splice(0)) this.pool.give(chunk);
  }

  chunkOf(row: number): RowChunk {
    return this.chunks[Math.floor(this.places[row] / CHUNK_ROWS)];
  }

  rowOf(row: number): number {
    return this.places[row] % CHUNK_ROWS;
  }

  /** Take a chunk with unplaced rows; gives its number. */
  adopt(chunk: RowChunk): number {
    chunk.entries.forgetTexts();
    return this.chunks.push(chunk) - 1;
  }

  /** A row of an adopted chunk belongs to trace `i`. */
  place(i: number, chunk: number, row: number): void {
    this.put(i, chunk * CHUNK_ROWS + row, (this.chunks[chunk].flags[row] & Flag.root) !== 0);
  }

  /** Copy a row for trace `i`; gives the copy's chunk, in which it is the last row. */
  copy(i: number, from: RowChunk, row: number, more?: PropertyList): RowChunk {
    const copies = this.copyRow(from, row, more);
    this.place(i, this.copiesAt, copies.count - 1);
    return copies;
  }

  /** Give row `at`, which came with its chunk, more properties; gives the bytes that takes. The chunk may be another one afterwards. */
  extend(at: number, more: PropertyList): number {
    const [chunk, row] = [this.chunkOf(at), this.rowOf(at)];
    const before = chunk.bytesOf(row);
    const copies = this.copyRow(chunk, row, more);
    const last = copies.count - 1;
    this.places[at] = this.copiesAt * CHUNK_ROWS + last;
    return copies.bytesOf(last) - before;
  }

  private copyRow(from: RowChunk, row: number, more?: PropertyList): RowChunk {
    let { copies } = this;
    if (copies === null || copies.isFull) {
      copies = new RowChunk(Math.min(CHUNK_ROWS, this.places.length));
      this.copies = copies;
      this.copiesAt = this.adopt(copies);
    }
    copies.copy(from, row, NO_SLOT, more);
    return copies;
  }

  private put(i: number, place: number, isRoot: boolean): void {
    const at = this.ends[i]++;
    const first = this.starts[i];
    if (isRoot) {
      this.places[at] = this.places[first];
      this.places[first] = place;
    } else this.places[at] = place;
  }
}
