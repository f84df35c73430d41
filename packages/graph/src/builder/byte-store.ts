// Byte strings one behind the other in chunks. A position is a number below 2^32, so a string costs its bytes and eight more.
import { CHUNK_BYTES, type ChunkPool } from './chunk-pool.js';

const OFFSET_BITS = 16;
const OFFSET_MASK = CHUNK_BYTES - 1;
/** Positions are 32 bits, 16 of them the number of the chunk. */
const MAX_CHUNKS = 65_536;
const LENGTH_BYTES = 4;
/** Strings up to this lie in one chunk. */
const UNBROKEN_BYTES = CHUNK_BYTES - LENGTH_BYTES;
/** Below this a loop is faster than a call of `set`. */
const SHORT = 48;

/** Byte strings by position. */
export class ByteStore {
  readonly #pool: ChunkPool;
  readonly #chunks: Uint8Array[] = [];
  #used = CHUNK_BYTES;

  constructor(pool: ChunkPool) {
    this.#pool = pool;
  }

  /** Whether the chunks of one string more could not be numbered. */
  isFullFor(length: number): boolean {
    return this.#chunks.length + Math.ceil(length / CHUNK_BYTES) + 1 > MAX_CHUNKS;
  }

  /** Keep a copy of `bytes`; the answer is its position. */
  add(bytes: Uint8Array): number {
    const { length } = bytes;
    if (this.#used + LENGTH_BYTES + Math.min(length, UNBROKEN_BYTES) > CHUNK_BYTES) this.#addChunk();
    const at = this.#used;
    const index = this.#chunks.length - 1;
    const chunk = this.#chunks[index];
    chunk[at] = length;
    chunk[at + 1] = length >>> 8;
    chunk[at + 2] = length >>> 16;
    chunk[at + 3] = length >>> 24;
    this.#used = at + LENGTH_BYTES;
    if (length > UNBROKEN_BYTES) this.#addLong(bytes);
    else {
      if (length > SHORT) chunk.set(bytes, this.#used);
      else for (let i = 0, to = this.#used; i < length; i++, to++) chunk[to] = bytes[i];
      this.#used += length;
    }
    return ((index << OFFSET_BITS) | at) >>> 0;
  }

  /** The chunk in which the string at `position` lies, when it is a key. */
  chunk(position: number): Uint8Array {
    return this.#chunks[position >>> OFFSET_BITS];
  }

  /** Where in its chunk the string's bytes begin. */
  start(position: number): number {
    return (position & OFFSET_MASK) + LENGTH_BYTES;
  }

  length(position: number): number {
    const chunk = this.#chunks[position >>> OFFSET_BITS];
    const at = position & OFFSET_MASK;
    return chunk[at] | (chunk[at + 1] << 8) | (chunk[at + 2] << 16) | (chunk[at + 3] << 24);
  }

  /** The string: a view valid until `clear`, or a copy of one that lies in several chunks. */
  get(position: number): Uint8Array {
    const start = this.start(position);
    const length = this.length(position);
    if (length <= UNBROKEN_BYTES) return this.chunk(position).subarray(start, start + length);
    const whole = Buffer.allocUnsafeSlow(length);
    let index = position >>> OFFSET_BITS;
    let from = start;
    for (let at = 0; at < length; from = 0) {
      const part = this.#chunks[index++].subarray(from, from + length - at);
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  clear(): void {
    for (const chunk of this.#chunks) this.#pool.give(chunk);
    this.#chunks.length = 0;
    this.#used = CHUNK_BYTES;
  }

  #addChunk(): void {
    this.#chunks.push(this.#pool.take());
    this.#used = 0;
  }

  /** Bytes over as many chunks as they need; the first was just begun. */
  #addLong(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === CHUNK_BYTES) this.#addChunk();
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#used);
      this.#chunks[this.#chunks.length - 1].set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
  }
}
