// Keys as bytes: their bounds, their order and what two neighbours share. One order holds everywhere: byte by byte, unsigned, a shorter
// key before a longer one that begins with it.

import { BadKeyError } from '../container/graph-error.js';

/** The keys of a block, decoded as far as search needs. */
export interface KeyBlock {
  readonly count: number;
  /** What it takes in memory. */
  readonly memoryBytes: number;
  /** The place of `key`, or the complement (`~`) of the place it would take. */
  search(key: Uint8Array): number;
  /** Bytes of all keys together. */
  readonly totalBytes: number;
  /** Bytes that name a key's group, where the block is written by groups. */
  readonly groupBytes?: number;
  key(i: number): Buffer;
  /** Copy all keys to `into` from `at` on; `ends[i]` becomes the end of key `i`. There is room for `totalBytes`. */
  copyAll(into: Uint8Array, at: number, ends: Uint32Array, firstEnd: number): void;
}

/** Keys of a block to encode. */
export interface KeysToEncode extends KeyTable {
  readonly count: number;
  /** Length of every key; 0 when they differ. */
  readonly width: number;
  /** Bytes that name a key's group; 0 when keys have none. */
  readonly groupBytes: number;
}

/** Bytes of a key at most; it has one at least. */
export const MAX_KEY_BYTES = 4096;

/** Keys one behind the other: key `i` is `bytes` from `offsets[i]` to `offsets[i + 1]`. */
export interface KeyTable {
  readonly bytes: Uint8Array;
  /** One more than there are keys. */
  readonly offsets: Uint32Array;
}

/** Hexadecimal form for messages, cut when long. */
export const shownKey = (key: Uint8Array): string => {
  const hex = Buffer.from(key.buffer, key.byteOffset, Math.min(key.length, 32)).toString('hex');
  return key.length > 32 ? `${hex}... (${key.length} bytes)` : hex;
};

/** Throws unless a graph file can have this key. */
export const checkKey = (key: Uint8Array): void => {
  if (!(key instanceof Uint8Array)) throw new BadKeyError(`a key is a Uint8Array or Buffer, not ${typeof key}`);
  if (key.length === 0 || key.length > MAX_KEY_BYTES) {
    throw new BadKeyError(`a key has 1 to ${MAX_KEY_BYTES} bytes, not ${key.length}`);
  }
};

/** Bytes with which both begin. */
export const sharedLength = (a: Uint8Array, b: Uint8Array): number => {
  const max = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < max && a[shared] === b[shared]) shared++;
  return shared;
};

/** Negative when `bytes` from `start` to `end` stand before `key`, zero when they are the key. */
export const compareStretch = (bytes: Uint8Array, start: number, end: number, key: Uint8Array): number => {
  const max = Math.min(end - start, key.length);
  for (let i = 0; i < max; i++) {
    const difference = bytes[start + i] - key[i];
    if (difference !== 0) return difference;
  }
  return end - start - key.length;
};

/** Negative when `a` stands before `b`. */
export const compareKeys = (a: Uint8Array, b: Uint8Array): number => compareStretch(a, 0, a.length, b);

/** The first key behind all that begin with `prefix`; undefined when nothing can stand there. */
const behindPrefix = (prefix: Uint8Array): Buffer | undefined => {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const behind = Buffer.from(prefix.subarray(0, length));
  behind[length - 1]++;
  return behind;
};

/** Keys from `start` up to but not including `end`; left out: from the first, to the last. */
export interface KeyRange {
  readonly start?: Uint8Array;
  readonly end?: Uint8Array;
}

/** The range of the keys that begin with `prefix`. */
export const rangeOfPrefix = (prefix: Uint8Array): KeyRange => ({ start: prefix, end: behindPrefix(prefix) });
