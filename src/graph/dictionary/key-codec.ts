// What every codec of a block's keys takes and gives. Types only; `key-block.ts` chooses the codec.
import type { KeyTable } from './key-bytes.js';

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
