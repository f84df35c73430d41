// The keys of many traces and the values each key has: what a user picks from, and what an ordered param set lacks. It must not
// depend on the order in which traces were added.
import { checkKey, checkValue, type Params } from './param-text.js';

/**
 * A set of `key=value` pairs that grows; use it to collect what a batch of traces brings. Keys and values come out sorted by
 * UTF-16 code unit, whatever the order in which they went in.
 *
 * @example
 * ```ts
 * import { ParamSet } from '@spanline/tracedb';
 * const set = new ParamSet();
 * set.add({ arch: 'x86', config: '8888' });
 * set.add({ arch: 'arm', config: '8888' });
 * console.assert(set.size === 3 && set.values('arch').join() === 'arm,x86');
 * ```
 */
export class ParamSet {
  readonly #values = new Map<string, Set<string>>();
  #size = 0;

  /** The set a JSON object describes, each key with the list of its values. Throws `ERR_SPANLINE_INVALID_INPUT`. */
  static from(record: Readonly<Record<string, readonly string[]>>): ParamSet {
    const set = new ParamSet();
    for (const [key, values] of Object.entries(record)) {
      for (const value of values) set.addValue(key, value);
    }
    return set;
  }

  /** Count of `key=value` pairs. */
  get size(): number {
    return this.#size;
  }

  /** Adds every param of one trace. Throws `ERR_SPANLINE_INVALID_INPUT` when a key or value cannot be written as UTF-8. */
  add(params: Params): void {
    for (const key of Object.keys(params)) this.addValue(key, params[key]);
  }

  /** Adds one pair. Throws `ERR_SPANLINE_INVALID_INPUT`. */
  addValue(key: string, value: string): void {
    let values = this.#values.get(key);
    // Nearly every pair is known already, and a known one has been checked.
    if (values?.has(value)) return;
    checkKey(key);
    checkValue(key, value);
    if (values === undefined) {
      values = new Set();
      this.#values.set(key, values);
    }
    values.add(value);
    this.#size++;
  }

  /** Adds every pair of `other`. */
  merge(other: ParamSet): void {
    for (const [key, values] of other.#values) {
      for (const value of values) this.addValue(key, value);
    }
  }

  /** All keys, sorted. */
  keys(): string[] {
    return [...this.#values.keys()].sort();
  }

  /** The values of `key`, sorted; none for an unknown key. */
  values(key: string): string[] {
    return [...(this.#values.get(key) ?? [])].sort();
  }

  /** Whether the key, or the pair when `value` is given, is in the set. */
  has(key: string, value?: string): boolean {
    const values = this.#values.get(key);
    return values !== undefined && (value === undefined || values.has(value));
  }

  /** Each key with its values, all sorted: the form `ParamSet.from` reads. */
  toJSON(): Record<string, string[]> {
    // fromEntries makes own properties, so that a key named __proto__ is one like any other.
    return Object.fromEntries(this.keys().map((key) => [key, this.values(key)]));
  }
}
