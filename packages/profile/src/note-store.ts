// The notes of the signal handler for one profile: taken out of the bounded ring from time to time, in order of time.
import { Counter, count } from './profile-counters.js';
import type { Sigprof } from './sigprof.js';

const COLUMNS = 4;
const ROWS_PER_BLOCK = 4096;

/** One note. Times are CLOCK_MONOTONIC before and after V8 took its sample; `cpuNs` is of the thread since it began. */
export interface Note {
  readonly labelId: number;
  readonly fromNs: number;
  readonly toNs: number;
  readonly cpuNs: number;
}

export class NoteStore {
  /** True when every signal of the profile has its note. Known after `close`. */
  isComplete = false;
  readonly #sigprof: Sigprof;
  readonly #blocks: Float64Array[] = [];
  readonly #refusedBefore: number;

  constructor(sigprof: Sigprof) {
    this.#sigprof = sigprof;
    this.#refusedBefore = sigprof.refused();
    // Notes of a time between two profiles.
    const stale = new Float64Array(COLUMNS * ROWS_PER_BLOCK);
    while (sigprof.drain(stale) === ROWS_PER_BLOCK);
  }

  /** Take what the ring has. */
  drain(): void {
    for (;;) {
      const block = new Float64Array(COLUMNS * ROWS_PER_BLOCK);
      const rows = this.#sigprof.drain(block);
      if (rows === 0) return;
      this.#blocks.push(rows === ROWS_PER_BLOCK ? block : block.slice(0, rows * COLUMNS));
    }
  }

  /** End of the profile. `wasAlways`: the handler was in its place from the first signal to the last. */
  close(wasAlways: boolean): void {
    this.drain();
    const refused = this.#sigprof.refused() - this.#refusedBefore;
    count(Counter.notesRefused, refused);
    this.isComplete = wasAlways && refused === 0;
  }

  *notes(): Generator<Note> {
    for (const block of this.#blocks) {
      for (let at = 0; at < block.length; at += COLUMNS) {
        yield { labelId: block[at], fromNs: block[at + 1], toNs: block[at + 2], cpuNs: block[at + 3] };
      }
    }
  }
}
