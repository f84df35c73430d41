// Every key of a batch once, numbered in the order of first appearance. A hash table over bytes in typed arrays: no object a key.
import { randomBytes } from 'node:crypto';
import { ByteStore } from './byte-store.js';
import { type ChunkPool, U32List } from './chunk-pool.js';

const INITIAL_SLOTS = 1024;
/** Full beyond this share, the table doubles. */
const MAX_LOAD = 0.7;
/** Numbers of a slot: the hash of the key, and its number plus one. */
const SLOT_NUMBERS = 2;

/** Differs from process to process: nobody can choose keys that all fall into one slot. It never shows in a file. */
const SEED = randomBytes(4).readInt32LE(0);

/** Four bytes a step, each step mixed by a multiplication and a rotation. */
const hashOf = (key: Uint8Array): number => {
  const { length } = key;
  let hash = SEED ^ length;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    let word = key[i] | (key[i + 1] << 8) | (key[i + 2] << 16) | (key[i + 3] << 24);
    word = Math.imul(word, 0x9e3779b1);
    hash ^= Math.imul((word << 15) | (word >>> 17), 0x85ebca77);
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0x27d4eb2f;
  }
  for (; i < length; i++) hash = Math.imul(hash ^ key[i], 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The keys of a batch. */
export class KeyInterner {
  readonly bytesOf: ByteStore;
  /** Position of each key in `bytesOf`. */
  readonly positions: U32List;
  #slots = new Uint32Array(INITIAL_SLOTS * SLOT_NUMBERS);

  constructor(pool: ChunkPool) {
    this.bytesOf = new ByteStore(pool);
    this.positions = new U32List(pool);
  }

  get count(): number {
    return this.positions.length;
  }

  /** Bytes of the slots when `more` keys have joined. Twice their size, since the old ones are in memory while the table grows. */
  slotBytes(more: number): number {
    let numbers = this.#slots.length;
    while ((this.count + more) * SLOT_NUMBERS > numbers * MAX_LOAD) numbers *= 2;
    return numbers * 4 * 2;
  }

  /** The number of `key`, new or known. */
  intern(key: Uint8Array): number {
    if ((this.count + 1) * SLOT_NUMBERS > this.#slots.length * MAX_LOAD) this.#grow();
    const hash = hashOf(key);
    const slots = this.#slots;
    const mask = slots.length / SLOT_NUMBERS - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot * SLOT_NUMBERS + 1];
      if (entry === 0) {
        const id = this.count;
        slots[slot * SLOT_NUMBERS] = hash;
        slots[slot * SLOT_NUMBERS + 1] = id + 1;
        this.positions.push(this.bytesOf.add(key));
        return id;
      }
      if (slots[slot * SLOT_NUMBERS] === hash && this.#equals(entry - 1, key)) return entry - 1;
    }
  }

  /** The key numbered `id`, as a view: valid until `clear`. */
  key(id: number): Uint8Array {
    return this.bytesOf.get(this.positions.get(id));
  }

  clear(): void {
    this.bytesOf.clear();
    this.positions.clear();
    this.#slots.fill(0);
  }

  #equals(id: number, key: Uint8Array): boolean {
    const position = this.positions.get(id);
    if (this.bytesOf.length(position) !== key.length) return false;
    const chunk = this.bytesOf.chunk(position);
    const start = this.bytesOf.start(position);
    for (let i = 0; i < key.length; i++) if (chunk[start + i] !== key[i]) return false;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    const mask = slots.length / SLOT_NUMBERS - 1;
    for (let i = 0; i < old.length; i += SLOT_NUMBERS) {
      if (old[i + 1] === 0) continue;
      let slot = old[i] & mask;
      while (slots[slot * SLOT_NUMBERS + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * SLOT_NUMBERS] = old[i];
      slots[slot * SLOT_NUMBERS + 1] = old[i + 1];
    }
    this.#slots = slots;
  }
}
