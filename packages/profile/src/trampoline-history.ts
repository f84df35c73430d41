// Which label a trampoline worked for, and which scope a continuation resumed in, when: for profiles whose labels travel on trampolines, which are
// gone after an await. Bounded rings; what is overwritten is lost and never given to another label. The timeline takes two clock readings a
// continuation: only for threads without the addon.

import { timers } from 'spanline/internal/base';
import { ownCode } from './own-frames.js';
import { type Labelled, NO_SCOPE, type Scope } from './shared-state.js';

const endOwnCode = ownCode();

/** Times, links and labels of so many bindings take about a megabyte. */
const HISTORY_ROWS = 32_768;
const NONE = -1;

/** Rows were overwritten: the label cannot be told any more. */
export const LOST = Symbol('lost');

export class TrampolineHistory {
  readonly #startUs = new Float64Array(HISTORY_ROWS);
  // Numbers of rows count on for ever; a row lies at its number modulo HISTORY_ROWS.
  readonly #previous = new Float64Array(HISTORY_ROWS);
  #labels: Labelled[] = [];
  #newest: number[] = [];
  #rows = 0;

  /** From `us` on, `trampoline` works for `label`. */
  append(trampoline: number, label: Labelled, us: number): void {
    const at = this.#rows % HISTORY_ROWS;
    this.#startUs[at] = us;
    this.#previous[at] = this.#newest[trampoline] ?? NONE;
    this.#labels[at] = label;
    this.#newest[trampoline] = this.#rows++;
  }

  /** Whom `trampoline` worked for in the microsecond `us`. */
  labelAt(trampoline: number, us: number): Labelled | typeof LOST {
    const oldest = this.#rows - HISTORY_ROWS;
    let row = this.#newest[trampoline] ?? NONE;
    while (row >= 0 && row >= oldest) {
      const at = row % HISTORY_ROWS;
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

/** About four megabytes, and a fifth of a second of nothing but awaits. */
const TIMELINE_ROWS = 262_144;
/** Resumptions of one scope that follow within this time are one row. */
const JOIN_US = 1;
const TRIES = 16;
const US_PER_MS = 1000;
const NS_PER_US = 1000;

// performance.now() is cheaper than hrtime and counts the same clock from another beginning.
const measureOffsetUs = (): number => {
  let best = Number.POSITIVE_INFINITY;
  let offset = 0;
  for (let i = 0; i < TRIES; i++) {
    const before = timers.monotonicMs();
    const us = Number(timers.monotonicNs()) / NS_PER_US;
    const after = timers.monotonicMs();
    if (after - before >= best) continue;
    best = after - before;
    offset = us - ((before + after) / 2) * US_PER_MS;
  }
  return offset;
};

export class Timeline {
  readonly #fromUs = new Float64Array(TIMELINE_ROWS);
  readonly #toUs = new Float64Array(TIMELINE_ROWS);
  readonly #scopes: (Scope | typeof LOST)[] = [];
  /** Counts on for ever; a row lies at its number modulo TIMELINE_ROWS. */
  #rows = 0;
  /** The last row has no end yet. */
  #isOpen = false;
  readonly #offsetUs = measureOffsetUs();

  #now(): number {
    return timers.monotonicMs() * US_PER_MS + this.#offsetUs;
  }

  /** A continuation of this scope begins, perhaps inside of another. */
  enter(scope: Scope, isInside: boolean): void {
    if (scope === NO_SCOPE && !isInside) return;
    const us = this.#now();
    if (this.#isOpen) this.#close(us);
    if (scope !== NO_SCOPE) this.#open(scope, us);
  }

  /** The continuation that began last is over, and perhaps the one around it goes on. */
  leave(isInside: boolean): void {
    if (!this.#isOpen && !isInside) return;
    const us = this.#now();
    if (this.#isOpen) this.#close(us);
    // Whose it is was not kept; and it may never have come to its end.
    if (isInside) this.#open(LOST, us);
  }

  #open(scope: Scope | typeof LOST, us: number): void {
    this.#isOpen = true;
    const last = (this.#rows - 1) % TIMELINE_ROWS;
    if (this.#rows > 0 && this.#scopes[last] === scope && us - this.#toUs[last] < JOIN_US) {
      this.#toUs[last] = Number.POSITIVE_INFINITY;
      return;
    }
    const at = this.#rows++ % TIMELINE_ROWS;
    this.#fromUs[at] = us;
    this.#toUs[at] = Number.POSITIVE_INFINITY;
    this.#scopes[at] = scope;
  }

  #close(us: number): void {
    this.#isOpen = false;
    this.#toUs[(this.#rows - 1) % TIMELINE_ROWS] = us;
  }

  /** What a sample in the microsecond `us` resumed in. */
  scopeAt(us: number): Scope | typeof LOST {
    const middle = us + 0.5;
    let low = Math.max(0, this.#rows - TIMELINE_ROWS);
    const oldest = low;
    let high = this.#rows;
    // The last row that began before.
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#fromUs[half % TIMELINE_ROWS] <= middle) low = half + 1;
      else high = half;
    }
    const row = low - 1;
    if (row < oldest) return oldest > 0 ? LOST : NO_SCOPE;
    return this.#toUs[row % TIMELINE_ROWS] > middle ? this.#scopes[row % TIMELINE_ROWS] : NO_SCOPE;
  }
}

endOwnCode();
