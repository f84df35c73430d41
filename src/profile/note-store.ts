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
  private readonly blocks: Float64Array[] = [];
  private readonly ids = new Set<number>();
  private readonly refusedBefore: number;
  private rows = 0;

  constructor(private readonly sigprof: Sigprof) {
    this.refusedBefore = sigprof.refused();
    // Notes of a time between two profiles.
    const stale = new Float64Array(COLUMNS * ROWS_PER_BLOCK);
    while (sigprof.drain(stale) === ROWS_PER_BLOCK);
  }

  get count(): number {
    return this.rows;
  }

  /** Take what the ring has. */
  drain(): void {
    for (;;) {
      const block = new Float64Array(COLUMNS * ROWS_PER_BLOCK);
      const rows = this.sigprof.drain(block);
      if (rows === 0) return;
      this.blocks.push(rows === ROWS_PER_BLOCK ? block : block.slice(0, rows * COLUMNS));
      this.rows += rows;
      for (let row = 0; row < rows; row++) this.ids.add(block[row * COLUMNS]);
    }
  }

  /** Ids of scopes in all notes so far. */
  notedIds(): ReadonlySet<number> {
    this.drain();
    return this.ids;
  }

  /** End of the profile. */
  close(): void {
    this.drain();
    count(Counter.notesRefused, this.sigprof.refused() - this.refusedBefore);
  }

  *notes(): Generator<Note> {
    for (const block of this.blocks) {
      for (let at = 0; at < block.length; at += COLUMNS) {
        yield { labelId: block[at], fromNs: block[at + 1], toNs: block[at + 2], cpuNs: block[at + 3] };
      }
    }
  }
}
