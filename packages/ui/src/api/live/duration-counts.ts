// Durations counted in steps that grow by 2 %, so that a percentile of any number of them is known within 1 % from a bounded number of counts.
// Counts of several stretches of time are added up, never averaged.

/** How far a percentile may be from the true one. */
export const RELATIVE_ERROR = 0.01;

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GROWTH = Math.log(GROWTH);
const DAY_US = 86_400e6;

/** Everything up to a microsecond is in the first step, everything from a day on in the last. */
const STEPS = Math.ceil(Math.log(DAY_US) / LOG_GROWTH) + 1;

const stepOf = (us: number): number =>
  us <= 1 ? 0 : Math.min(STEPS - 1, Math.max(0, Math.ceil(Math.log(us) / LOG_GROWTH)));

/** The value that is at most 1 % from all of a step. */
const middleOf = (step: number): number => (step === 0 ? 1 : (2 * GROWTH ** step) / (GROWTH + 1));

/** Counts of durations. */
export class DurationCounts {
  readonly #steps = new Uint32Array(STEPS);
  #total = 0;

  add(us: number): void {
    this.#steps[stepOf(us)]++;
    this.#total++;
  }

  addAll(other: DurationCounts): void {
    for (let step = 0; step < STEPS; step++) this.#steps[step] += other.#steps[step];
    this.#total += other.#total;
  }

  /** The duration that `share` of all do not exceed, by nearest rank, in microseconds; at least one is needed. */
  percentile(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#total));
    let step = 0;
    while (step < STEPS - 1) {
      left -= this.#steps[step];
      if (left <= 0) break;
      step++;
    }
    return middleOf(step);
  }
}
