// Maps: a value made where a key has none yet, and a bounded cache for what can be read or made again. The cache must never hold more than its bound,
// and a hit must cost no more than two look-ups: every cell of a tile goes through one, and every query of a service.

/** The value of `key`; the first time `make` makes it. No value may be undefined. */
export const getOrMake = <K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: (key: K) => V,
): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
};

/**
 * A map of at most `capacity` entries. Entries live in two generations: when the young one is full it becomes the old one, and
 * what was old is forgotten. What is used often enough is carried over, as in a least-recently-used list, but without a list.
 */
export class BoundedCache<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** Entries forgotten since the start. */
  evicted = 0;
  readonly #generation: number;

  constructor(capacity: number) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
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
      this.evicted += this.#old.size;
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(key);
    this.#young.set(key, value);
  }
}
