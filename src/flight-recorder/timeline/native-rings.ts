// The rings of rows that the addon writes, in one array of numbers. Must stay in step with native/tsc/src/timeline.cc.

/** Rings by number. */
export const Ring = { busy: 0, gc: 1, pool: 2, turns: 3 } as const;
export type RingNumber = (typeof Ring)[keyof typeof Ring];

export const RINGS = 4;
/** Short turns come more often than others: their ring, the last, has so many times the rows. */
export const TURN_ROWS_FACTOR = 4;
const LATE_SAMPLES = RINGS;
const POOL_PROBES = RINGS + 1;
/** What goes on now, as `timelineOpen` has found it. */
const OPEN = { busyNs: RINGS + 2, turn: RINGS + 3, poolNs: RINGS + 4, poolNumber: RINGS + 5 } as const;
const FIRST_ROW = RINGS + 6;
const ROW_CELLS = 3;

/**
 * Called with a row; `third` depends on its ring: the turn (negative: no JavaScript ran in it), the type of collection, the number of the probe, the
 * nanoseconds of short turns in which the loop was idle.
 */
type Visit = (startNs: number, endNs: number, third: number) => void;

export class NativeRings {
  /** Written by the addon. */
  readonly cells: Float64Array;
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
    this.cells = new Float64Array(FIRST_ROW + (RINGS - 1 + TURN_ROWS_FACTOR) * maxRows * ROW_CELLS);
  }

  /** Rows of all rings that are there. */
  get rows(): number {
    return this.#written.reduce((sum, count, ring) => sum + Math.min(count, this.#rowsOf(ring)), 0);
  }

  /** Rows that newer ones have taken the place of. */
  get dropped(): number {
    return this.#written.reduce((sum, count, ring) => sum + Math.max(0, count - this.#rowsOf(ring)), 0);
  }

  /** From then on no row is missing; 0 where none ever was. */
  get keptFromNs(): number {
    let from = 0;
    for (const [ring, written] of this.#written.entries())
      if (written > this.#rowsOf(ring)) from = Math.max(from, this.cells[this.#cellOf(ring, written)]);
    return from;
  }

  get lateSamples(): number {
    return this.cells[LATE_SAMPLES];
  }

  get poolProbes(): number {
    return this.cells[POOL_PROBES];
  }

  /** 0 for what does not go on. */
  open(what: keyof typeof OPEN): number {
    return this.cells[OPEN[what]];
  }

  /** Those that end after `sinceNs`, the newest first: a report asks for what came since a moment ago. */
  each(ring: RingNumber, sinceNs: number, visit: Visit): void {
    const written = this.cells[ring];
    for (let i = written - 1; i >= Math.max(0, written - this.#rowsOf(ring)); i--) {
      const at = this.#cellOf(ring, i);
      if (this.cells[at + 1] <= sinceNs) return;
      visit(this.cells[at], this.cells[at + 1], this.cells[at + 2]);
    }
  }

  #cellOf(ring: number, row: number): number {
    return FIRST_ROW + (ring * this.#maxRows + (row % this.#rowsOf(ring))) * ROW_CELLS;
  }

  #rowsOf(ring: number): number {
    return ring === Ring.turns ? TURN_ROWS_FACTOR * this.#maxRows : this.#maxRows;
  }

  get #written(): number[] {
    return [...this.cells.subarray(0, RINGS)];
  }
}
