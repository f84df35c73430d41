// Keeps exporting from holding the event loop: work while the slice lasts, then let everything else run once.
// It must never read the clock for every span; a look costs as much as encoding a small one.
import { timers } from './timers.js';

/** Below the 2 ms that exporting may hold the loop: the last step of a slice begins before its end. */
const SLICE_MS = 1.5;
/** Work between two looks at the clock: 16 spans of ordinary size, or one of 16 KiB. */
const LOOK_EVERY = 16;
const BYTES_PER_UNIT = 1024;

/** One stretch of work cut into slices. Make one for each report. */
export class Slices {
  #end = timers.monotonicMs() + SLICE_MS;
  #units = 0;

  /** Count one step, and the bytes it wrote. True when it is time for {@link Slices.next}. */
  isOver(bytes = 0): boolean {
    this.#units += 1 + bytes / BYTES_PER_UNIT;
    if (this.#units < LOOK_EVERY) return false;
    this.#units = 0;
    return this.isPast;
  }

  /** True when it is time for {@link Slices.next}: a look at the clock. */
  get isPast(): boolean {
    return timers.monotonicMs() >= this.#end;
  }

  /** Lets the event loop go round once and begins the next slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => timers.setImmediate(resolve));
    this.#units = 0;
    this.#end = timers.monotonicMs() + SLICE_MS;
  }
}

/** Calls `step` for 0 to `count` - 1 in slices. `step` may return the bytes it wrote. Rejects with the signal's reason. */
export const inSlices = async (
  count: number,
  step: (index: number) => number | undefined,
  signal?: AbortSignal,
): Promise<void> => {
  const slices = new Slices();
  for (let i = 0; i < count; i++) {
    if (!slices.isOver(step(i))) continue;
    await slices.next();
    signal?.throwIfAborted();
  }
};
