// Decoded blocks, as many bytes of them as allowed: what was used least lately goes first. Forgetting is always right, it costs a read.
import { BadOptionsError } from './graph-error.js';

/** What a cache did. */
export interface BlockCacheStats {
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
}

/** Blocks of one space. */
const SPACE = 2 ** 32;
/** Spaces whose blocks all have a number below 2^53. */
const NUMBERED_SPACES = 2 ** 21;

// Numbers below 2^32 are free for who shares a cache with files.
let spaces = 1;

/**
 * Keys for the blocks of something that shares a cache: nobody else has them. Numbers are found in half the time texts take; a process
 * that opens millions of files runs out of them.
 */
export const newBlockKeys = (): ((block: number) => string | number) => {
  const space = spaces++;
  return space < NUMBERED_SPACES ? (block) => space * SPACE + block : (block) => `${space} ${block}`;
};

/**
 * A cache bounded by bytes. Keys are numbers or texts; one cache may serve many files.
 *
 * Give one to every `CompactGraph.open` of a program that has many files open: together they keep `maxBytes` then, not each. Throws
 * `BadOptionsError`.
 *
 * @example
 * ```ts
 * import { BlockCache, BufferSink, CompactGraph, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * await new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] }).finish();
 * const cache = new BlockCache(64 * 1024 * 1024);
 * const [a, b] = [await CompactGraph.open(sink.toBuffer(), { cache }), await CompactGraph.open(sink.toBuffer(), { cache })];
 * console.assert(cache.stats().bytes <= cache.maxBytes);
 * await Promise.all([a.close(), b.close()]);
 * ```
 */
export class BlockCache<T = unknown> {
  readonly #entries = new Map<string | number, Entry<T>>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** @param maxBytes Default 32 MiB; 0 keeps nothing. */
  constructor(readonly maxBytes = 32 * 1024 * 1024) {
    if (typeof maxBytes === 'number' && maxBytes >= 0) return;
    throw new BadOptionsError(`a cache has a number of bytes from 0 on, not ${String(maxBytes)}`);
  }

  get(key: string | number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    // Behind all others: the first of a map is the one used longest ago.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keep `value`, which takes about `bytes` in memory. One larger than the cache is not kept. */
  set(key: string | number, value: T, bytes: number): void {
    this.delete(key);
    if (bytes > this.maxBytes) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.maxBytes) break;
      this.delete(oldest);
      this.#evictions++;
    }
  }

  delete(key: string | number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  stats(): BlockCacheStats {
    const { maxBytes } = this;
    return { hits: this.#hits, misses: this.#misses, evictions: this.#evictions, bytes: this.#bytes, maxBytes };
  }
}
