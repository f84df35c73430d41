// Which label a trampoline worked for, when. A bounded ring over all trampolines; each row points to the previous one of its
// trampoline. What is overwritten is lost and never given to another label.

import { ownCode } from './own-frames.js';
import type { Labelled } from './shared-state.js';

const endOwnCode = ownCode();

/** Times, links and labels of so many bindings take about a megabyte. */
const ROWS = 32_768;
const NONE = -1;

/** Rows were overwritten: the label cannot be told any more. */
export const LOST = Symbol('lost');

export class TrampolineHistory {
  readonly #startUs = new Float64Array(ROWS);
  // Numbers of rows count on for ever; a row lies at its number modulo ROWS.
  readonly #previous = new Float64Array(ROWS);
  #labels: Labelled[] = [];
  #newest: number[] = [];
  #rows = 0;

  /** From `us` on, `trampoline` works for `label`. */
  append(trampoline: number, label: Labelled, us: number): void {
    const at = this.#rows % ROWS;
    this.#startUs[at] = us;
    this.#previous[at] = this.#newest[trampoline] ?? NONE;
    this.#labels[at] = label;
    this.#newest[trampoline] = this.#rows++;
  }

  /** Whom `trampoline` worked for in the microsecond `us`. */
  labelAt(trampoline: number, us: number): Labelled | typeof LOST {
    const oldest = this.#rows - ROWS;
    let row = this.#newest[trampoline] ?? NONE;
    while (row >= 0 && row >= oldest) {
      const at = row % ROWS;
      if (this.#startUs[at] <= us) return this.#labels[at];
      row = this.#previous[at];
    }
    return LOST;
  }

  /** Forget all, so that nothing of a finished profile is kept alive. */
  clear(): void {
    this.#labels = [];
    this.#newest = [];
    this.#rows = 0;
  }
}

endOwnCode();
