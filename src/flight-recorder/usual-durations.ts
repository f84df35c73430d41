// How long roots of each name usually take: a histogram a name in steps of a quarter of a power of two, its counts halved now and then, so that
// it follows. Asked at the end of each root: no allocation but for a new name, and a bounded number of names, of which rarely used ones make
// room. Names that come once only, as those with an id in them do, must drive out nothing.

export const MAX_OPERATIONS = 256;
/** Characters; longer ones are not an operation that anybody would look for. */
const LONGEST_NAME = 256;
const STEPS = 160;
const HALVED_AT = 4096;
/** Before so many nothing is usual. */
const MIN = 200;
/** How often a name may be passed over before it makes room, at most. */
const MAX_CREDIT = 64;
/** Names that had no place, by their hash, of which each place remembers the last. */
const REMEMBERED = 1024;

class Histogram {
  readonly counts = new Uint32Array(STEPS);
  total = 0;
  // The step that 99 of 100 do not exceed, as of the last look.
  p99 = -1;
  untilLook = MIN;
  // Goes up with each use, and down each time that another name wants the place.
  credit = 1;

  constructor(readonly name: string) {}
}

const stepOf = (ns: number): number => Math.min(STEPS - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, ns)) * 4)));
const endOfStep = (step: number): number => 2 ** ((step + 1) / 4);

export class UsualDurations {
  readonly #byName = new Map<string, Histogram>();
  // The same, in the places that are looked at in turn for one to make room.
  readonly #places: Histogram[] = [];
  #hand = 0;
  readonly #seen = new Int32Array(REMEMBERED);
  /** Roots whose name found no place, and names that made room for others. */
  refused = 0;
  forgotten = 0;

  get names(): number {
    return this.#byName.size;
  }

  /** Add a duration, and give the 99th percentile before it in nanoseconds; undefined while too few are known. */
  add(name: string, ns: number): number | undefined {
    const one = this.#byName.get(name) ?? this.#newcomer(name);
    if (one === undefined) {
      this.refused++;
      return undefined;
    }
    if (one.credit < MAX_CREDIT) one.credit++;
    const before = one.p99 < 0 ? undefined : endOfStep(one.p99);
    one.counts[stepOf(ns)]++;
    one.total++;
    if (--one.untilLook <= 0) look(one);
    return before;
  }

  #newcomer(name: string): Histogram | undefined {
    if (typeof name !== 'string' || name.length > LONGEST_NAME) return undefined;
    const place = this.#places.length < MAX_OPERATIONS ? this.#places.length : this.#freePlace(name);
    if (place < 0) return undefined;
    const one = new Histogram(name);
    this.#byName.set(name, one);
    this.#places[place] = one;
    return one;
  }

  /** The place of a name that has made room; -1 for none. */
  #freePlace(name: string): number {
    const hash = hashOf(name);
    const slot = hash & (REMEMBERED - 1);
    if (this.#seen[slot] !== hash) {
      this.#seen[slot] = hash;
      return -1;
    }
    this.#hand = (this.#hand + 1) % MAX_OPERATIONS;
    const one = this.#places[this.#hand];
    if (--one.credit > 0) return -1;
    this.#byName.delete(one.name);
    this.forgotten++;
    return this.#hand;
  }
}

// Never 0, which is a place that remembers nothing.
const hashOf = (text: string): number => {
  let hash = 1;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1) ^ (hash >>> 15);
  return hash | 0 || 1;
};

const look = (one: Histogram): void => {
  one.untilLook = 64;
  let left = one.total / 100;
  for (let step = STEPS - 1; step >= 0; step--) {
    left -= one.counts[step];
    if (left >= 0) continue;
    one.p99 = step;
    break;
  }
  if (one.total < HALVED_AT) return;
  one.total = 0;
  for (let step = 0; step < STEPS; step++) {
    one.counts[step] >>= 1;
    one.total += one.counts[step];
  }
};
