// Memory of a batch in chunks of one size, handed from list to list: a batch that is cleared gives its chunks back, so the next one takes no
// new memory whatever it consists of. Lists of numbers, marks and byte strings grow by whole chunks. Nothing here may grow by copying, or the
// memory cap would be a guess.

/** Bytes of a chunk. */
const CHUNK_BYTES = 65_536;
/** What a chunk costs beside its bytes: the object of its view. */
const CHUNK_OVERHEAD = 256;

const FIRST_SLAB_CHUNKS = 4;
/**
 * Chunks are cut from slabs that double in size up to this. Allocators give pieces this large back to the system when they are freed;
 * single chunks would stay with the process, and the phases after would come on top of them.
 */
const LAST_SLAB_CHUNKS = 544;

/** Lists that may take a chunk when one node is added. */
const LISTS_OF_A_NODE = 6;

/** Frees at once where the runtime can; elsewhere memory waits for the garbage collector. */
const release = (slab: ArrayBuffer): void => {
  (slab as { transfer?: (length: number) => ArrayBuffer }).transfer?.(0);
};

/** Chunks of one builder. */
export class ChunkPool {
  #slabs: ArrayBuffer[] = [];
  #free: Uint8Array[] = [];
  #slabChunks = FIRST_SLAB_CHUNKS;
  #taken = 0;
  /** Most chunks that were taken at a time. What nobody wrote to takes no memory, what was given back does. */
  #touched = 0;

  /** A chunk of any content. */
  take(): Uint8Array {
    if (this.#free.length === 0) this.#addSlab();
    this.#touched = Math.max(this.#touched, ++this.#taken);
    return this.#free.pop() as Uint8Array;
  }

  give(chunk: Uint8Array): void {
    this.#taken--;
    this.#free.push(chunk);
  }

  /** Bytes in memory when a node with `more` bytes has joined. */
  bytesWith(more: number): number {
    const room = (this.#touched - this.#taken) * CHUNK_BYTES;
    const growth = Math.max(0, more + LISTS_OF_A_NODE * CHUNK_BYTES - room);
    return this.#touched * (CHUNK_BYTES + CHUNK_OVERHEAD) + growth;
  }

  /** Give all memory back; no list may be used any more. */
  release(): void {
    this.#slabs.forEach(release);
    this.#slabs = [];
    this.#free = [];
  }

  #addSlab(): void {
    const slab = new ArrayBuffer(this.#slabChunks * CHUNK_BYTES);
    this.#slabs.push(slab);
    for (let at = slab.byteLength - CHUNK_BYTES; at >= 0; at -= CHUNK_BYTES)
      this.#free.push(new Uint8Array(slab, at, CHUNK_BYTES));
    this.#slabChunks = Math.min(LAST_SLAB_CHUNKS, this.#slabChunks * 2);
  }
}

const U32_BITS = 14;
const U32_MASK = CHUNK_BYTES / 4 - 1;
const U8_BITS = 16;
const U8_MASK = CHUNK_BYTES - 1;

/** A list of numbers below 2^32. */
export class U32List {
  length = 0;
  readonly #pool: ChunkPool;
  readonly #chunks: Uint32Array[] = [];

  constructor(pool: ChunkPool) {
    this.#pool = pool;
  }

  push(value: number): void {
    const at = this.length++;
    if ((at & U32_MASK) === 0) this.#addChunk();
    this.#chunks[at >>> U32_BITS][at & U32_MASK] = value;
  }

  get(at: number): number {
    return this.#chunks[at >>> U32_BITS][at & U32_MASK];
  }

  clear(): void {
    for (const { buffer, byteOffset } of this.#chunks) this.#pool.give(new Uint8Array(buffer, byteOffset, CHUNK_BYTES));
    this.#chunks.length = 0;
    this.length = 0;
  }

  #addChunk(): void {
    const { buffer, byteOffset } = this.#pool.take();
    this.#chunks.push(new Uint32Array(buffer, byteOffset, CHUNK_BYTES / 4));
  }
}

/** Bits of things counted from 0; those never marked have none. */
export class MarkList {
  readonly #pool: ChunkPool;
  readonly #chunks: Uint8Array[] = [];

  constructor(pool: ChunkPool) {
    this.#pool = pool;
  }

  get(at: number): number {
    const chunk = this.#chunks[at >>> U8_BITS];
    return chunk === undefined ? 0 : chunk[at & U8_MASK];
  }

  add(at: number, bits: number): void {
    while (this.#chunks.length <= at >>> U8_BITS) this.#chunks.push(this.#pool.take().fill(0));
    this.#chunks[at >>> U8_BITS][at & U8_MASK] |= bits;
  }

  clear(): void {
    for (const chunk of this.#chunks) this.#pool.give(chunk);
    this.#chunks.length = 0;
  }
}

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
    return ((index << U8_BITS) | at) >>> 0;
  }

  /** The chunk in which the string at `position` lies, when it is a key. */
  chunk(position: number): Uint8Array {
    return this.#chunks[position >>> U8_BITS];
  }

  /** Where in its chunk the string's bytes begin. */
  start(position: number): number {
    return (position & U8_MASK) + LENGTH_BYTES;
  }

  length(position: number): number {
    const chunk = this.#chunks[position >>> U8_BITS];
    const at = position & U8_MASK;
    return chunk[at] | (chunk[at + 1] << 8) | (chunk[at + 2] << 16) | (chunk[at + 3] << 24);
  }

  /** The string: a view valid until `clear`, or a copy of one that lies in several chunks. */
  get(position: number): Uint8Array {
    const start = this.start(position);
    const length = this.length(position);
    if (length <= UNBROKEN_BYTES) return this.chunk(position).subarray(start, start + length);
    const whole = Buffer.allocUnsafeSlow(length);
    let index = position >>> U8_BITS;
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
