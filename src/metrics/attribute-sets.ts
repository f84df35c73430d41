// The attribute sets of one instrument as small numbers, each interned once: a tree with one level for each key, so that a set that is known costs a
// comparison a key and no text is joined. A program can put anything into an attribute, also what differs with each request: beyond its bound nothing is
// added here, whatever comes, and what has no place of its own is counted in the overflow set of OpenTelemetry's specification.

/** Undefined: the set has no such attribute. */
export type AttributeValue = string | number | boolean | undefined;
/** Key and value, as exporters write them. */
export type Attribute = readonly [key: string, value: string | number | boolean];

/** Sets of one instrument, with the overflow set, as the specification counts them. */
export const MAX_SETS = 2000;

/** Characters of a value that are kept: sets stay as long as the process, and each scrape repeats them for every bucket. */
const MAX_CHARACTERS = 1024;
const isLong = (value: AttributeValue): boolean => typeof value === 'string' && value.length > MAX_CHARACTERS;
const bounded = (value: AttributeValue): AttributeValue =>
  typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : value;

/** The number of the overflow set. */
export const OVERFLOW = 0;
const OVERFLOW_SET: readonly Attribute[] = Object.freeze([Object.freeze(['otel.metric.overflow', true] as const)]);

/** A value of one key below the values of the keys before it. */
class Branch {
  /** The one that was asked for last: mostly the next one too. */
  lastValue: AttributeValue = undefined;
  last: Branch | undefined = undefined;
  readonly below = new Map<AttributeValue, Branch>();
  /** Where all keys have a value. */
  set = -1;
}

const find = (branch: Branch, value: AttributeValue): Branch | undefined => {
  const found = branch.below.get(value);
  if (found !== undefined) {
    branch.lastValue = value;
    branch.last = found;
  }
  return found;
};

/** The keys of every set, in the order in which values are given; or those of a set by its values, of which the first ones tell. */
export type Keys = readonly string[] | ((values: readonly AttributeValue[]) => readonly string[]);

export class AttributeSets {
  /** How often a set had no place. */
  overflows = 0;
  readonly #keys: Keys;
  readonly #maxSets: number;
  readonly #root = new Branch();
  /** By number; the overflow set has none of these. */
  readonly #values: (readonly AttributeValue[])[] = [[]];

  constructor(keys: Keys, maxSets = MAX_SETS) {
    this.#keys = keys;
    this.#maxSets = maxSets;
  }

  /** How many numbers are given, that of the overflow set among them. */
  get size(): number {
    return this.#values.length;
  }

  /** The number of the set with these values, one for each key. */
  numberOf(values: readonly AttributeValue[]): number {
    let branch = this.#root;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const next = branch.last !== undefined && branch.lastValue === value ? branch.last : find(branch, value);
      if (next === undefined) return this.#add(values);
      branch = next;
    }
    return branch.set === -1 ? this.#add(values) : branch.set;
  }

  /** What a set has: attributes without a value are left out. */
  attributesOf(set: number): readonly Attribute[] {
    if (set === OVERFLOW) return OVERFLOW_SET;
    const values = this.#values[set];
    const keys = typeof this.#keys === 'function' ? this.#keys(values) : this.#keys;
    return keys.flatMap((key, i): Attribute[] => {
      const value = values[i];
      return value === undefined ? [] : [[key, value]];
    });
  }

  #add(values: readonly AttributeValue[]): number {
    // Here, for a long one is never found: look-ups of others do not pay for it.
    if (values.some(isLong)) return this.numberOf(values.map(bounded));
    if (this.size >= this.#maxSets) {
      this.overflows++;
      return OVERFLOW;
    }
    let branch = this.#root;
    for (const value of values) {
      let next = find(branch, value);
      if (next === undefined) {
        next = new Branch();
        branch.below.set(value, next);
      }
      branch = next;
    }
    branch.set = this.size;
    this.#values.push([...values]);
    return branch.set;
  }
}
