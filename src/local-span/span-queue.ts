// SpanQueue: local spans of one line as columns, with next_parent_id (TiKV's minitrace article). Start appends a record
// whose parent is next_parent_id and makes the record the next parent; finish stamps the end and gives the parent back.
// Hot path: no allocation per span, no exceptions, no checks that a caller already made.
import { now } from '../clock/index.js';
import { acquireChunk, CHUNK_MASK, CHUNK_SHIFT, CHUNK_SIZE, ColumnChunk, releaseChunk } from './column-chunk.js';
import { ColumnSlice, LocalBatch } from './local-batch.js';
import type { Properties, PropertyValue } from './property.js';
import { acquireSideColumns, releaseSideColumns, type SideColumns } from './side-columns.js';

/** What {@link SpanQueue.finish} found; a data value because the recording path throws nothing. */
export const Finish = { ok: 0, outOfOrder: 1, already: 2 } as const;

// Stands in for "no chunk": `count === limit` sends the first start into grow(), so the hot path has one check less.
const NO_CHUNK = new ColumnChunk();
const NO_CHUNKS: ColumnChunk[] = [];

export class SpanQueue {
  private chunk = NO_CHUNK;
  private chunks: ColumnChunk[] = NO_CHUNKS;
  private limit = 0;
  private side: SideColumns | null = null;
  private disordered = false;
  /** Spans started since the last take. */
  count = 0;
  /** The innermost span still open, parent of the next one; -1 when none is open. */
  nextParent = -1;

  /** Index of the new span. The caller has made sure of room with {@link hasRoom} or {@link grow}. */
  start(name: string): number {
    const index = this.count;
    const row = index & CHUNK_MASK;
    const chunk = this.chunk;
    this.count = index + 1;
    chunk.names[row] = name;
    chunk.parents[row] = this.nextParent;
    chunk.ends[row] = 0;
    this.nextParent = index;
    // Last, so that the cost of recording falls on the parent, not on the span itself.
    chunk.begins[row] = now();
    return index;
  }

  get hasRoom(): boolean {
    return this.count !== this.limit;
  }

  /** Room for one more chunk of spans. */
  grow(): void {
    const chunk = acquireChunk();
    if (this.chunks === NO_CHUNKS) this.chunks = [chunk];
    else this.chunks.push(chunk);
    this.chunk = chunk;
    this.limit += CHUNK_SIZE;
  }

  finish(index: number): number {
    const ticks = now();
    const chunk = this.chunkOf(index);
    const row = index & CHUNK_MASK;
    if (chunk.ends[row] !== 0) return Finish.already;
    chunk.ends[row] = ticks;
    if (this.nextParent !== index) {
      // Something started later is still open and stays the next parent; from now on parents may be closed.
      this.disordered = true;
      return Finish.outOfOrder;
    }
    const parent = chunk.parents[row];
    this.nextParent = this.disordered ? this.innermostOpen(parent) : parent;
    return Finish.ok;
  }

  isOpen(index: number): boolean {
    return this.chunkOf(index).ends[index & CHUNK_MASK] === 0;
  }

  addProperty(index: number, key: string, value: PropertyValue): void {
    this.side ??= acquireSideColumns();
    this.side.addProperty(index, key, value);
  }

  addEvent(index: number, name: string, properties: Properties | undefined): void {
    const ticks = now();
    this.side ??= acquireSideColumns();
    this.side.addEvent(index, ticks, name, properties);
  }

  idHiOf(index: number): number {
    return this.chunkOf(index).idHi;
  }

  idLoOf(index: number): number {
    return this.chunkOf(index).idLo + (index & CHUNK_MASK);
  }

  beginOf(index: number): number {
    return this.chunkOf(index).begins[index & CHUNK_MASK];
  }

  /** Ends every open span, innermost first; returns their number. */
  finishOpen(): number {
    let ended = 0;
    if (this.nextParent < 0 && !this.disordered) return 0;
    const ticks = now();
    for (let i = this.count - 1; i >= 0; i--) {
      const ends = this.chunkOf(i).ends;
      if (ends[i & CHUNK_MASK] === 0) {
        ends[i & CHUNK_MASK] = ticks;
        ended++;
      }
    }
    return ended;
  }

  /** Cut out everything recorded; the queue is empty afterwards. All spans must have ended. */
  take(): LocalBatch {
    const slices: ColumnSlice[] = [];
    const chunks = this.chunks;
    let left = this.count;
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i];
      const n = Math.min(left, CHUNK_SIZE);
      slices.push(
        new ColumnSlice(
          chunk.idHi,
          chunk.idLo,
          chunk.names.slice(0, n),
          chunk.parents.slice(0, n),
          chunk.begins.slice(0, n),
          chunk.ends.slice(0, n),
        ),
      );
      releaseChunk(chunk);
      left -= n;
    }
    const side = this.side;
    const batch = new LocalBatch(slices, this.count, side === null ? null : side.take());
    if (side !== null) releaseSideColumns(side);
    this.reset();
    return batch;
  }

  private reset(): void {
    this.chunk = NO_CHUNK;
    this.chunks = NO_CHUNKS;
    this.limit = 0;
    this.count = 0;
    this.nextParent = -1;
    this.side = null;
    this.disordered = false;
  }

  private chunkOf(index: number): ColumnChunk {
    return index >= this.limit - CHUNK_SIZE ? this.chunk : this.chunks[index >> CHUNK_SHIFT];
  }

  private innermostOpen(index: number): number {
    while (index >= 0 && !this.isOpen(index)) index = this.chunkOf(index).parents[index & CHUNK_MASK];
    return index;
  }
}
