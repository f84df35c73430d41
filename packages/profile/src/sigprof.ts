// The reader of the label register, the addon native/sigprof of this package: found and loaded, and the notes of its signal handler for one profile,
// taken out of the bounded ring from time to time, in order of time. Loading never throws: without it labels travel on trampolines.
import { type Loaded, loadNativeFile } from 'spanline/internal/rows';
import { Counter, count } from './profile-counters.js';

/** What native/sigprof/src/addon.cc exports, for the calling thread. */
export interface Sigprof {
  /**
   * Keep notes of this thread, with what element 0 of `cell` holds; element 1 becomes 1 with each. `capacity` is a power of
   * two. False when refused.
   */
  attach(cell: Int32Array, capacity: number): boolean;
  detach(): void;
  /** Stand before V8's handler. False when the current handler is not V8's. */
  chain(): boolean;
  /** False when a stranger stands before ours by now. */
  unchain(): boolean;
  /** Who handles SIGPROF: '' for nobody, `v8`, `spanline`, or the file of a stranger. */
  handler(): string;
  /** Move notes into rows of four (label, from ns, to ns, thread CPU ns); gives the number of rows. */
  drain(out: Float64Array): number;
  /** Notes that found the ring full since `attach`. */
  refused(): number;
  /** CPU time of the calling thread. */
  threadCpuNs(): number;
}

const load = (): Loaded<Sigprof> => {
  if (process.platform !== 'linux') return { reasons: ['V8 samples by SIGPROF on Linux alone'] };
  if ('bun' in process.versions || 'deno' in process.versions) return { reasons: ['the addon is for Node alone'] };
  return loadNativeFile('native/sigprof/out', 'sigprof.node', import.meta.url, '@spanline/profile');
};

let loaded: Loaded<Sigprof> | undefined;

/** The addon of this thread, loaded at the first call. */
export const loadSigprof = (): Loaded<Sigprof> => {
  loaded ??= load();
  return loaded;
};

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
