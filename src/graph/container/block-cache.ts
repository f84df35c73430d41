// Decoded blocks, as many bytes of them as allowed: what was used least lately goes first. Forgetting is always right, it costs a read.

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

/** A cache bounded by bytes. Keys are numbers or texts; one cache may serve many files. */
export class BlockCache<T = unknown> {
  private readonly entries = new Map<string | number, Entry<T>>();
  private bytes = 0;
  private hits = 0;
  private misses = 0;
  private evictions = 0;

  constructor(readonly maxBytes = 32 * 1024 * 1024) {}

  get(key: string | number): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) {
      this.misses++;
      return undefined;
    }
    this.hits++;
    // Behind all others: the first of a map is the one used longest ago.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Keep `value`, which takes about `bytes` in memory. One larger than the cache is not kept. */
  set(key: string | number, value: T, bytes: number): void {
    this.delete(key);
    if (bytes > this.maxBytes) return;
    this.entries.set(key, { value, bytes });
    this.bytes += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.delete(oldest);
      this.evictions++;
    }
  }

  delete(key: string | number): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.bytes -= entry.bytes;
  }

  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }

  stats(): BlockCacheStats {
    const { hits, misses, evictions, bytes, maxBytes } = this;
    return { hits, misses, evictions, bytes, maxBytes };
  }
}
