// The filter section: which keys a dictionary may have, so that a miss costs no read. Without it every answer is "may be". It must never
// deny a key that is there. Hashes are split over several small filters, so that building one takes little memory.

import { ByteWriter } from 'spanline/internal/base';
import { CorruptError } from '../container/graph-error.js';
import { sectionReader } from '../container/layout.js';
import { buildFuse, type FuseShape, hashBytes, mayContain, slotsOf } from './fuse-filter.js';
import { compareStretch } from './key-bytes.js';

/** Keys (or first elements) of one filter at most; a dictionary with more has none. */
const MAX_FILTER_KEYS = 2 ** 25;

const FORM = 1;
const SHARD_KEYS = 2 ** 18;
const MAX_SHARD_BITS = 12;
const MAX_SEGMENT_BITS = 18;

/** Collects hashes, eight bytes each. */
export class FilterBuilder {
  readonly #elementBytes: number;
  /** Undefined once there are more than a filter takes. */
  #hashes: Uint32Array | undefined = new Uint32Array(2048);
  #count = 0;
  #last = Buffer.alloc(0);

  /** @param elementBytes Bytes at the start of a key that are remembered; 0: all. */
  constructor(elementBytes: number) {
    this.#elementBytes = elementBytes;
  }

  /** A key, in ascending order: `bytes` from `start` to `end`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    let behind = end;
    if (this.#elementBytes > 0) {
      behind = Math.min(end, start + this.#elementBytes);
      if (compareStretch(bytes, start, behind, this.#last) === 0) return;
      this.#last = Buffer.from(bytes.subarray(start, behind));
    }
    if (this.#count === MAX_FILTER_KEYS) this.#hashes = undefined;
    if (this.#hashes === undefined) return;
    if (this.#count * 2 === this.#hashes.length) {
      const larger = new Uint32Array(this.#hashes.length * 2);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    hashBytes(bytes, start, behind, this.#hashes, this.#count * 2);
    this.#count++;
  }

  /** The section, or undefined when there can be none: more than `MAX_FILTER_KEYS`, or keys made so that hashes collide. */
  build(): Buffer | undefined {
    if (this.#hashes === undefined) return undefined;
    const hashes = distinct(this.#hashes.subarray(0, this.#count * 2));
    const total = hashes.length / 2;
    const shardBits = Math.max(0, Math.ceil(Math.log2(total / SHARD_KEYS)));
    const starts = shardStarts(hashes, shardBits);
    if (starts === undefined) return undefined;
    const shapes = new ByteWriter();
    const prints: Uint8Array[] = [];
    for (let shard = 0; shard < 2 ** shardBits; shard++) {
      const fuse = buildFuse(hashes, starts[shard], starts[shard + 1]);
      if (fuse === undefined) return undefined;
      shapes.uint32(fuse.shape.seed);
      shapes.byte(fuse.shape.segmentBits);
      shapes.varint(fuse.shape.segments);
      prints.push(fuse.prints);
    }
    const writer = new ByteWriter();
    writer.byte(FORM);
    writer.varint(this.#elementBytes);
    writer.varint(total);
    writer.byte(shardBits);
    return Buffer.concat([writer.view(), shapes.view(), ...prints]);
  }
}

/** Each hash once, since no construction succeeds with two of a kind, in ascending order of the second halves, then of the first. */
const distinct = (hashes: Uint32Array): Uint32Array => {
  const sorted = new BigUint64Array(hashes.slice().buffer).sort();
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[kept++] = sorted[i];
  return new Uint32Array(sorted.buffer, 0, kept * 2);
};

const shardOf = (second: number, shardBits: number): number => (shardBits === 0 ? 0 : second >>> (32 - shardBits));

/** The first hash of each shard, or undefined on a machine that sorts by the other half. */
const shardStarts = (hashes: Uint32Array, shardBits: number): Uint32Array | undefined => {
  const starts = new Uint32Array(2 ** shardBits + 1);
  for (let i = 1; i < hashes.length; i += 2) {
    if (i > 1 && hashes[i] < hashes[i - 2]) return undefined;
    starts[shardOf(hashes[i], shardBits) + 1]++;
  }
  for (let shard = 0; shard < 2 ** shardBits; shard++) starts[shard + 1] += starts[shard];
  return starts;
};

const query = new Uint32Array(2);

/** A filter as read. */
export class KeyFilter {
  readonly #shardBits: number;
  readonly #shapes: readonly FuseShape[];
  readonly #starts: Float64Array;
  readonly #prints: Uint8Array;

  private constructor(
    /** Bytes at the start of a key that are remembered; 0: all. */
    readonly elementBytes: number,
    /** Elements it was made of, those of equal hashes counted once. */
    readonly keys: number,
    shardBits: number,
    shapes: readonly FuseShape[],
    starts: Float64Array,
    prints: Uint8Array,
  ) {
    this.#shardBits = shardBits;
    this.#shapes = shapes;
    this.#starts = starts;
    this.#prints = prints;
  }

  static decode(bytes: Buffer, file: string): KeyFilter {
    const reader = sectionReader(bytes, `the filter of ${file}`, 'filter');
    const form = reader.byte();
    if (form !== FORM) throw reader.corrupt(`has an unknown form ${form}`);
    const elementBytes = reader.varint();
    const keys = reader.varint();
    const shardBits = reader.byte();
    // A shard takes six bytes at least.
    if (shardBits > MAX_SHARD_BITS || 2 ** shardBits * 6 > reader.left) throw reader.corrupt('is too short');
    const starts = new Float64Array(2 ** shardBits + 1);
    const shapes = Array.from({ length: 2 ** shardBits }, (_, shard): FuseShape => {
      const shape = { seed: reader.uint32(), segmentBits: reader.byte(), segments: reader.varint() };
      if (shape.segmentBits > MAX_SEGMENT_BITS || shape.segments === 0) throw reader.corrupt('has an impossible shape');
      starts[shard + 1] = starts[shard] + slotsOf(shape);
      return shape;
    });
    if (starts[shapes.length] !== reader.left)
      throw new CorruptError(`the filter of ${file} has a wrong size`, 'filter');
    return new KeyFilter(elementBytes, keys, shardBits, shapes, starts, new Uint8Array(reader.raw(reader.left)));
  }

  /** Whether a key may be there. */
  mayHave(key: Uint8Array): boolean {
    if (this.keys === 0) return false;
    const { elementBytes } = this;
    hashBytes(key, 0, elementBytes > 0 ? Math.min(key.length, elementBytes) : key.length, query, 0);
    const shard = shardOf(query[1], this.#shardBits);
    return mayContain(this.#shapes[shard], this.#prints, this.#starts[shard], query[0], query[1]);
  }

  /** Whether a key that begins with `prefix` may be there. */
  mayHavePrefix(prefix: Uint8Array): boolean {
    if (this.keys === 0) return false;
    return this.elementBytes === 0 || prefix.length < this.elementBytes || this.mayHave(prefix);
  }
}
