// A bounded map for what can be read or made again. It must never hold more than its bound, and a hit must cost no more than two look-ups:
// every cell of a tile goes through one, and every query of a service.

/**
 * A map of at most `capacity` entries. Entries live in two generations: when the young one is full it becomes the old one, and
 * what was old is forgotten. What is used often enough is carried over, as in a least-recently-used list, but without a list.
 */
export class BoundedCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #evicted = 0;
  readonly #generation: number;

  constructor(capacity: number) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Entries forgotten since the start. */
  get evicted(): number {
    return this.#evicted;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (!this.#young.has(key) && this.#young.size >= this.#generation) {
      this.#evicted += this.#old.size;
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(key);
    this.#young.set(key, value);
  }
}
