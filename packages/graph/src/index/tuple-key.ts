// Tuple keys on top of byte keys: elements of text, joined by NUL. Two tuples must never become the same bytes.
import { BadKeyError } from '../container/graph-error.js';

/** A key of several elements, for example file id and revision id. */
export type TupleKey = readonly string[];

/** A prefix of tuple keys: elements, then nulls for those that may be anything. */
export type TuplePrefix = readonly (string | null)[];

const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_ELEMENTS = 16;

const shown = (key: unknown): string => JSON.stringify(key)?.slice(0, 120) ?? String(key);

/** Throws unless `elements` can be the number of elements of an index's keys. */
export const checkElements = (elements: number): void => {
  if (Number.isInteger(elements) && elements >= 1 && elements <= MAX_ELEMENTS) return;
  throw new BadKeyError(`keys have 1 to ${MAX_ELEMENTS} elements, not ${elements}`);
};

const checkElement = (element: unknown, key: unknown): void => {
  if (typeof element !== 'string' || element === '')
    throw new BadKeyError(`key ${shown(key)} has an element that is empty or not text`);
  if (element.includes('\0')) throw new BadKeyError(`key ${shown(key)} has an element with NUL, which parts elements`);
  if (LONE_SURROGATE.test(element))
    throw new BadKeyError(`key ${shown(key)} has a lone surrogate and so no UTF-8 form`);
};

const hasNul = (element: unknown): boolean => typeof element !== 'string' || element.includes('\0');

/** A tuple as text: equal tuples are equal texts, and only they. Throws `BadKeyError`. */
export const tupleText = (key: TupleKey): string => {
  if (!Array.isArray(key)) throw new BadKeyError(`a key is a list of elements, not ${shown(key)}`);
  if (key.some(hasNul)) for (const element of key) checkElement(element, key);
  return key.join('\0');
};

/** A tuple as the key of a node. Throws `BadKeyError`. */
export const encodeTuple = (key: TupleKey, elements: number): Buffer => {
  if (!Array.isArray(key) || key.length !== elements)
    throw new BadKeyError(`key ${shown(key)} must have ${elements} elements`);
  for (const element of key) checkElement(element, key);
  return Buffer.from(tupleText(key));
};

/** The tuple behind the key of a node. */
export const decodeTuple = (bytes: Uint8Array): TupleKey =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\0');

/** What all keys with this prefix begin with, as bytes: whole elements only. Throws `BadKeyError`. */
export const encodePrefix = (prefix: TuplePrefix, elements: number): Buffer => {
  if (!Array.isArray(prefix) || prefix.length !== elements)
    throw new BadKeyError(`the prefix ${shown(prefix)} must have ${elements} elements; write null for any`);
  if (prefix[0] === null)
    throw new BadKeyError(`the prefix ${shown(prefix)} begins with null; iterAllEntries gives everything`);
  const given = prefix.indexOf(null);
  const fixed = given === -1 ? prefix : prefix.slice(0, given);
  if (prefix.slice(fixed.length).some((element) => element !== null)) {
    throw new BadKeyError(`the prefix ${shown(prefix)} has an element behind a null; nulls stand at the end`);
  }
  for (const element of fixed) checkElement(element, prefix);
  const text = fixed.join('\0');
  return Buffer.from(fixed.length === elements || fixed.length === 0 ? text : `${text}\0`);
};

/**
 * A map by tuple, since two lists of the same elements are two keys to a `Map`. Throws `BadKeyError`.
 *
 * @example
 * ```ts
 * import { TupleMap } from '@spanline/graph';
 * const sizes = new TupleMap<number>().set(['file', 'rev-1'], 3);
 * console.assert(sizes.get(['file', 'rev-1']) === 3);
 * ```
 */
export class TupleMap<V> {
  readonly #entriesByText = new Map<string, { readonly key: TupleKey; readonly value: V }>();

  get size(): number {
    return this.#entriesByText.size;
  }

  get(key: TupleKey): V | undefined {
    return this.#entriesByText.get(tupleText(key))?.value;
  }

  has(key: TupleKey): boolean {
    return this.#entriesByText.has(tupleText(key));
  }

  set(key: TupleKey, value: V): this {
    this.#entriesByText.set(tupleText(key), { key, value });
    return this;
  }

  keys(): TupleKey[] {
    return Array.from(this.#entriesByText.values(), ({ key }) => key);
  }

  *[Symbol.iterator](): IterableIterator<[TupleKey, V]> {
    for (const { key, value } of this.#entriesByText.values()) yield [key, value];
  }
}

/**
 * A set of tuples. Throws `BadKeyError`.
 *
 * @example
 * ```ts
 * import { TupleSet } from '@spanline/graph';
 * console.assert(new TupleSet([['a', 'b'], ['a', 'b']]).size === 1);
 * ```
 */
export class TupleSet {
  readonly #keysByText = new Map<string, TupleKey>();

  constructor(keys: Iterable<TupleKey> = []) {
    for (const key of keys) this.add(key);
  }

  get size(): number {
    return this.#keysByText.size;
  }

  has(key: TupleKey): boolean {
    return this.#keysByText.has(tupleText(key));
  }

  add(key: TupleKey): this {
    this.#keysByText.set(tupleText(key), key);
    return this;
  }

  delete(key: TupleKey): boolean {
    return this.#keysByText.delete(tupleText(key));
  }

  [Symbol.iterator](): IterableIterator<TupleKey> {
    return this.#keysByText.values();
  }
}
