// The keys of a batch: each once, numbered in the order of first appearance, in a hash table over bytes; and their order by bytes, found eight
// bytes at a time by counting. No object may be made for a key, and no comparison may call back into JavaScript.

import { randomBytes } from 'node:crypto';
import { ByteStore, type ChunkPool, U32List } from './chunk-pool.js';

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

/** Bytes this takes for each key while it runs; four of them remain as the answer. */
export const SORT_BYTES_PER_KEY = 24;

const STEP = 8;
/** Fewer than this are sorted by insertion. */
const FEW = 24;
/** From here on, counting by 16 bits beats counting by 8. */
const MANY = 16_384;

/** The numbers of all keys, sorted. */
export const sortKeys = (table: KeyInterner): Uint32Array => new KeySorter(table).sort();

class KeySorter {
  readonly #table: KeyInterner;
  readonly #ids: Uint32Array;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #spareIds: Uint32Array;
  readonly #spareHigh: Uint32Array;
  readonly #spareLow: Uint32Array;
  readonly #counts = new Uint32Array(65_536);
  /** Ranges still to be sorted: start, end, and how many bytes all keys of the range have in common. */
  readonly #pending: number[] = [];

  constructor(table: KeyInterner) {
    this.#table = table;
    const { count } = table;
    this.#ids = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.#ids[i] = i;
    this.#high = new Uint32Array(count);
    this.#low = new Uint32Array(count);
    this.#spareIds = new Uint32Array(count);
    this.#spareHigh = new Uint32Array(count);
    this.#spareLow = new Uint32Array(count);
  }

  sort(): Uint32Array {
    this.#pending.push(0, this.#ids.length, 0);
    while (this.#pending.length > 0) {
      const depth = this.#pending.pop() as number;
      const end = this.#pending.pop() as number;
      const start = this.#pending.pop() as number;
      if (end - start < FEW) this.#insertionSort(start, end, depth);
      else this.#sortRange(start, end, depth);
    }
    return this.#ids;
  }

  #sortRange(start: number, end: number, depth: number): void {
    const high = this.#high;
    const low = this.#low;
    this.#load(start, end, depth);
    let highBits = 0;
    let lowBits = 0;
    for (let i = start + 1; i < end; i++) {
      highBits |= high[i] ^ high[start];
      lowBits |= low[i] ^ low[start];
    }
    const width = end - start < MANY ? 8 : 16;
    const mask = 2 ** width - 1;
    for (let shift = 0; shift < 32; shift += width)
      if (((lowBits >>> shift) & mask) !== 0) this.#distribute(start, end, this.#low, shift, mask);
    for (let shift = 0; shift < 32; shift += width)
      if (((highBits >>> shift) & mask) !== 0) this.#distribute(start, end, this.#high, shift, mask);
    for (let i = start; i < end; ) {
      let next = i + 1;
      while (next < end && low[next] === low[i] && high[next] === high[i]) next++;
      if (next - i > 1) this.#splitEqual(i, next, depth + STEP);
      i = next;
    }
  }

  /** The next eight bytes of each key as two numbers; bytes beyond its end count as zero. */
  #load(start: number, end: number, depth: number): void {
    const { bytesOf, positions } = this.#table;
    for (let i = start; i < end; i++) {
      const position = positions.get(this.#ids[i]);
      const chunk = bytesOf.chunk(position);
      const at = bytesOf.start(position) + depth;
      const left = bytesOf.length(position) - depth;
      if (left >= STEP) {
        this.#high[i] = (chunk[at] << 24) | (chunk[at + 1] << 16) | (chunk[at + 2] << 8) | chunk[at + 3];
        this.#low[i] = (chunk[at + 4] << 24) | (chunk[at + 5] << 16) | (chunk[at + 6] << 8) | chunk[at + 7];
        continue;
      }
      let high = 0;
      let low = 0;
      for (let j = 0; j < left; j++) {
        if (j < 4) high |= chunk[at + j] << (24 - 8 * j);
        else low |= chunk[at + j] << (56 - 8 * j);
      }
      this.#high[i] = high;
      this.#low[i] = low;
    }
  }

  /** One pass of a sort by counting; it keeps the order of equals. */
  #distribute(start: number, end: number, digits: Uint32Array, shift: number, mask: number): void {
    const counts = this.#counts;
    const ids = this.#ids;
    const high = this.#high;
    const low = this.#low;
    const spareIds = this.#spareIds;
    const spareHigh = this.#spareHigh;
    const spareLow = this.#spareLow;
    counts.fill(0, 0, mask + 1);
    for (let i = start; i < end; i++) counts[(digits[i] >>> shift) & mask]++;
    let sum = start;
    for (let digit = 0; digit <= mask; digit++) {
      const count = counts[digit];
      counts[digit] = sum;
      sum += count;
    }
    for (let i = start; i < end; i++) {
      const to = counts[(digits[i] >>> shift) & mask]++;
      spareIds[to] = ids[i];
      spareHigh[to] = high[i];
      spareLow[to] = low[i];
    }
    ids.set(spareIds.subarray(start, end), start);
    high.set(spareHigh.subarray(start, end), start);
    low.set(spareLow.subarray(start, end), start);
  }

  /** Keys that ended within the bytes they agree in come first, shorter before longer; the others are sorted by what follows. */
  #splitEqual(start: number, end: number, depth: number): void {
    const ids = this.#ids;
    let ended = start;
    for (let i = start; i < end; i++) {
      if (this.#lengthOf(ids[i]) > depth) continue;
      const id = ids[i];
      ids[i] = ids[ended];
      let to = ended++;
      for (; to > start && this.#lengthOf(ids[to - 1]) > this.#lengthOf(id); to--) ids[to] = ids[to - 1];
      ids[to] = id;
    }
    if (end - ended > 1) this.#pending.push(ended, end, depth);
  }

  #insertionSort(start: number, end: number, depth: number): void {
    const ids = this.#ids;
    for (let i = start + 1; i < end; i++) {
      const id = ids[i];
      let to = i;
      for (; to > start && this.#isBefore(id, ids[to - 1], depth); to--) ids[to] = ids[to - 1];
      ids[to] = id;
    }
  }

  #lengthOf(id: number): number {
    return this.#table.bytesOf.length(this.#table.positions.get(id));
  }

  #isBefore(a: number, b: number, depth: number): boolean {
    const { bytesOf, positions } = this.#table;
    const positionA = positions.get(a);
    const positionB = positions.get(b);
    const chunkA = bytesOf.chunk(positionA);
    const chunkB = bytesOf.chunk(positionB);
    const startA = bytesOf.start(positionA);
    const startB = bytesOf.start(positionB);
    const lengthA = bytesOf.length(positionA);
    const lengthB = bytesOf.length(positionB);
    for (let i = depth; i < lengthA && i < lengthB; i++) {
      if (chunkA[startA + i] !== chunkB[startB + i]) return chunkA[startA + i] < chunkB[startB + i];
    }
    return lengthA < lengthB;
  }
}
