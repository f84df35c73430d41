// Which interval is open at a moment: the one that began last of those that have not ended. Intervals of one thread nest, but those
// held open too long may not: they are found all the same, and are told apart.
/** From `beginNs` until just before `endNs`. */
export interface Interval {
  readonly beginNs: number;
  readonly endNs: number;
}

const NONE = -1;

export class OpenIntervals<T extends Interval> {
  readonly #sorted: readonly T[];
  readonly #begins: Float64Array;
  /** The last one that began before and ends after: when this one is over, it is the innermost. */
  readonly #around: Int32Array;
  /** Began inside another and ended outside of it, or the other way round. */
  readonly #crosses: Uint8Array;

  constructor(intervals: readonly T[]) {
    const sorted = [...intervals].sort((a, b) => a.beginNs - b.beginNs || b.endNs - a.endNs);
    this.#sorted = sorted;
    this.#begins = Float64Array.from(sorted, ({ beginNs }) => beginNs);
    this.#around = new Int32Array(sorted.length);
    this.#crosses = new Uint8Array(sorted.length);
    const open: number[] = [];
    sorted.forEach(({ beginNs, endNs }, i) => {
      while (open.length > 0 && sorted[open[open.length - 1]].endNs < endNs) {
        const ended = open.pop() as number;
        if (sorted[ended].endNs <= beginNs) continue;
        this.#crosses[ended] = 1;
        this.#crosses[i] = 1;
      }
      this.#around[i] = open.length === 0 ? NONE : open[open.length - 1];
      open.push(i);
    });
  }

  /** The one that began last of those open at `ns`. */
  innermost(ns: number): T | undefined {
    const at = this.#find(ns);
    return at === NONE ? undefined : this.#sorted[at];
  }

  /** Those open at `ns`, the innermost first; undefined when they do not nest. */
  nest(ns: number): readonly T[] | undefined {
    const open: T[] = [];
    for (let at = this.#find(ns); at !== NONE; at = this.#around[at]) {
      if (this.#crosses[at] === 1) return undefined;
      open.push(this.#sorted[at]);
    }
    return open;
  }

  #find(ns: number): number {
    let low = 0;
    let high = this.#begins.length;
    // The last that began.
    while (low < high) {
      const half = (low + high) >>> 1;
      if (this.#begins[half] <= ns) low = half + 1;
      else high = half;
    }
    // Whatever lies between one and the one around it ended no later.
    let at = low - 1;
    while (at !== NONE && this.#sorted[at].endNs <= ns) at = this.#around[at];
    return at;
  }
}
