// What opening reads of segments whose cards are in one pack, in one object beside that: too much for the cards, which everybody reads, and few requests for
// who opens several segments. What is there is a copy, and checked: without it a segment is opened by its own object.
import { crc32 } from 'node:zlib';
import { BlockCache } from '@spanline/graph';
import type { ObjectStore } from './object-store.js';

/** Where the head of a segment is beside that segment. */
export interface HeadPlace {
  /** Of an object of heads, and its bytes. */
  readonly key: string;
  readonly objectBytes: number;
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

/** Bytes of objects kept in memory. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Reads heads. An object is asked for once, and all of it. */
export class Heads {
  readonly #store: ObjectStore;
  readonly #objects = new BlockCache<Promise<Buffer | undefined>>(KEPT_BYTES);

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** A head; undefined where it is not there, or not as it was written. */
  async get({ key, objectBytes, offset, length, crc }: HeadPlace): Promise<Buffer | undefined> {
    let object = this.#objects.get(key);
    if (object === undefined) {
      object = this.#read(key);
      this.#objects.set(key, object, objectBytes);
    }
    const bytes = await object;
    if (bytes === undefined) this.#objects.delete(key);
    const head = bytes?.subarray(offset, offset + length);
    return head !== undefined && crc32(head) === crc ? head : undefined;
  }

  #read(key: string): Promise<Buffer | undefined> {
    return this.#store.get(key).then(
      (found) => (typeof found === 'object' ? found.bytes : undefined),
      // The segment itself is read instead, and its error is reported then.
      () => undefined,
    );
  }
}
