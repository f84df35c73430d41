// Lists of numbers that grow by whole chunks: appending must never copy what is there already.
import { CHUNK_BYTES, type ChunkPool } from './chunk-pool.js';

const U32_BITS = 14;
const U32_MASK = CHUNK_BYTES / 4 - 1;
const U8_BITS = 16;
const U8_MASK = CHUNK_BYTES - 1;

/** A list of numbers below 2^32. */
export class U32List {
  length = 0;
  private readonly chunks: Uint32Array[] = [];

  constructor(private readonly pool: ChunkPool) {}

  push(value: number): void {
    const at = this.length++;
    if ((at & U32_MASK) === 0) this.addChunk();
    this.chunks[at >>> U32_BITS][at & U32_MASK] = value;
  }

  get(at: number): number {
    return this.chunks[at >>> U32_BITS][at & U32_MASK];
  }

  clear(): void {
    for (const { buffer, byteOffset } of this.chunks) this.pool.give(new Uint8Array(buffer, byteOffset, CHUNK_BYTES));
    this.chunks.length = 0;
    this.length = 0;
  }

  private addChunk(): void {
    const { buffer, byteOffset } = this.pool.take();
    this.chunks.push(new Uint32Array(buffer, byteOffset, CHUNK_BYTES / 4));
  }
}

/** Bits of things counted from 0; those never marked have none. */
export class MarkList {
  private readonly chunks: Uint8Array[] = [];

  constructor(private readonly pool: ChunkPool) {}

  get(at: number): number {
    const chunk = this.chunks[at >>> U8_BITS];
    return chunk === undefined ? 0 : chunk[at & U8_MASK];
  }

  add(at: number, bits: number): void {
    while (this.chunks.length <= at >>> U8_BITS) this.chunks.push(this.pool.take().fill(0));
    this.chunks[at >>> U8_BITS][at & U8_MASK] |= bits;
  }

  clear(): void {
    for (const chunk of this.chunks) this.pool.give(chunk);
    this.chunks.length = 0;
  }
}
