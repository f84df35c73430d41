// Which scope a continuation resumed in, when: for profiles whose labels travel on trampolines, which are gone after an await.
// A bounded ring; what is overwritten is lost. Two clock readings a continuation: only for threads without the addon.

import { timers } from 'spanline/internal/base';
import { ownCode } from './own-frames.js';
import { NO_SCOPE, type Scope } from './shared-state.js';
import { LOST } from './trampoline-history.js';

const endOwnCode = ownCode();

/** About four megabytes, and a fifth of a second of nothing but awaits. */
const ROWS = 262_144;
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
  readonly #fromUs = new Float64Array(ROWS);
  readonly #toUs = new Float64Array(ROWS);
  readonly #scopes: (Scope | typeof LOST)[] = [];
  /** Counts on for ever; a row lies at its number modulo ROWS. */
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
    const last = (this.#rows - 1) % ROWS;
    if (this.#rows > 0 && this.#scopes[last] === scope && us - this.#toUs[last] < JOIN_US) {
      this.#toUs[last] = Number.POSITIVE_INFINITY;
      return;
    }
    const at = this.#rows++ % ROWS;
    this.#fromUs[at] = us;
    this.#toUs[at] = Number.POSITIVE_INFINITY;
    this.#scopes[at] = scope;
  }

  #close(us: number): void {
    this.#isOpen = false;
    this.#toUs[(this.#rows - 1) % ROWS] = us;
  }

  /** What a sample in the microsecond `us` resumed in. */
  scopeAt(us: number): Scope | typeof LOST {
    const middle = us + 0.5;
    let low = Math.max(0, this.#rows - ROWS);
    const oldest = low;
    let high = this.#rows;
    // The last row that began before.
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#fromUs[half % ROWS] <= middle) low = half + 1;
      else high = half;
    }
    const row = low - 1;
    if (row < oldest) return oldest > 0 ? LOST : NO_SCOPE;
    return this.#toUs[row % ROWS] > middle ? this.#scopes[row % ROWS] : NO_SCOPE;
  }
}

endOwnCode();
