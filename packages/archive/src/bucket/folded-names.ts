// Which uploads were folded, of those that no generation lists itself: packs of names, each read once and kept as the numbers in them, eight bytes a name.
// A name must never be taken for folded because its number is another's: one upload would be lost.
import { inParallel } from 'spanline/internal/base';
import { hasNumber } from '../values/fields.js';
import { bucketError } from './bucket-error.js';
import { decodeNames, type FoldedPack } from './generation.js';
import type { ObjectStore } from './object-store.js';

/** Packs read at a time. */
const AT_A_TIME = 8;
/** The digits of chance in the name of a segment. */
const ID = /-([0-9a-f]{12})\.[a-z]+$/;

const numberOf = (name: string): number => Number.parseInt(ID.exec(name)?.[1] ?? '0', 16);

export class FoldedNames {
  readonly #store: ObjectStore;
  /** By the key of a pack, ascending. */
  readonly #numbers = new Map<string, Float64Array>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Those of some names that are in one of these packs. */
  async among(packs: readonly FoldedPack[], names: ReadonlySet<string>, signal?: AbortSignal): Promise<Set<string>> {
    const folded = new Set<string>();
    if (names.size === 0) return folded;
    const current = new Set(packs.map(({ key }) => key));
    for (const key of this.#numbers.keys()) if (!current.has(key)) this.#numbers.delete(key);
    await inParallel(packs, AT_A_TIME, async ({ key }) => {
      const numbers = this.#numbers.get(key);
      if (numbers !== undefined && ![...names].some((name) => hasNumber(numbers, numberOf(name)))) return;
      const all = await this.#read(key, signal);
      this.#numbers.set(key, Float64Array.from(all, numberOf).sort());
      for (const name of all) if (names.has(name)) folded.add(name);
    });
    return folded;
  }

  async #read(key: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const file = `${this.#store.name}/${key}`;
    const found = await this.#store.get(key, { signal });
    if (typeof found === 'object') return decodeNames(found.bytes, file);
    throw bucketError('DAMAGED', `${file} is gone, which the newest generation names`);
  }
}
