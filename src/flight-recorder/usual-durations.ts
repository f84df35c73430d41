// How long roots of each name usually take: a histogram a name in steps of a quarter of a power of two, its counts halved now and then, so that
// it follows. Asked at the end of each root: no allocation but for a new name, and a bounded number of names.

const MOST_NAMES = 256;
const STEPS = 160;
const HALVED_AT = 4096;
/** Before so many nothing is usual. */
const LEAST = 200;

class Histogram {
  readonly counts = new Uint32Array(STEPS);
  total = 0;
  // The step that 99 of 100 do not exceed, as of the last look.
  p99 = -1;
  untilLook = LEAST;
}

const stepOf = (ns: number): number => Math.min(STEPS - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, ns)) * 4)));
const endOfStep = (step: number): number => 2 ** ((step + 1) / 4);

export class UsualDurations {
  readonly #byName = new Map<string, Histogram>();
  /** Roots whose name found no place. */
  refused = 0;

  /** Add a duration, and give the 99th percentile before it in nanoseconds; undefined while too few are known. */
  add(name: string, ns: number): number | undefined {
    let one = this.#byName.get(name);
    if (one === undefined) {
      if (this.#byName.size >= MOST_NAMES) {
        this.refused++;
        return undefined;
      }
      one = new Histogram();
      this.#byName.set(name, one);
    }
    const before = one.p99 < 0 ? undefined : endOfStep(one.p99);
    one.counts[stepOf(ns)]++;
    one.total++;
    if (--one.untilLook <= 0) look(one);
    return before;
  }
}

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
