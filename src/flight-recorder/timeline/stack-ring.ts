// What CPU profiles found running, for the parts of busy stretches that no span had: the newest stretches of stacks, bounded. Must not make a
// part longer or shorter: it names the functions that had it, not whether anything had it.
import { getOrMake } from '../../base/maps/maps.js';
import type { StackStretch } from '../../context/process-state.js';
import { type RawFrames, shownFrames } from './frames.js';

/** What ran from when to when, in nanoseconds of the timeline's clock. */
export interface StackPiece {
  readonly startNs: number;
  readonly endNs: number;
  /** For people: `parse app.js:12`. */
  readonly frames: readonly string[];
}

export class StackRing {
  readonly #pieces: StackPiece[] = [];
  readonly #maxPieces: number;
  readonly #maxGapNs: number;
  #written = 0;

  /** Time between stacks of at most `maxGapNs` is given to the stack next to it. */
  constructor(maxPieces: number, maxGapNs: number) {
    this.#maxPieces = maxPieces;
    this.#maxGapNs = maxGapNs;
  }

  /** Stretches that later ones have taken the place of. */
  get dropped(): number {
    return Math.max(0, this.#written - this.#maxPieces);
  }

  /** In order of time, and none before what is there. */
  add(stacks: readonly StackStretch[]): void {
    const shown = new Map<RawFrames, readonly string[]>();
    for (const { startNs, endNs, frames } of stacks) {
      const texts = getOrMake(shown, frames, shownFrames);
      this.#pieces[this.#written++ % this.#maxPieces] = { startNs, endNs, frames: texts };
    }
  }

  /** A part in pieces, in order and without gaps: those of stacks, and `part` as it is where no stack is known. */
  split(part: StackPiece): StackPiece[] {
    const pieces: StackPiece[] = [];
    let atNs = part.startNs;
    for (let i = this.#firstAfter(part.startNs); i < this.#written; i++) {
      const { startNs, endNs, frames } = this.#pieces[i % this.#maxPieces];
      if (startNs >= part.endNs) break;
      const untilNs = Math.min(endNs, part.endNs);
      if (startNs - atNs > this.#maxGapNs) {
        pieces.push({ startNs: atNs, endNs: startNs, frames: part.frames });
        atNs = startNs;
      }
      pieces.push({ startNs: atNs, endNs: untilNs, frames });
      atNs = untilNs;
    }
    const last = pieces.pop();
    if (last === undefined) return [part];
    if (part.endNs - atNs <= this.#maxGapNs) return [...pieces, { ...last, endNs: part.endNs }];
    return [...pieces, last, { ...part, startNs: atNs }];
  }

  #firstAfter(ns: number): number {
    let low = Math.max(0, this.#written - this.#maxPieces);
    let high = this.#written;
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#pieces[half % this.#maxPieces].endNs <= ns) low = half + 1;
      else high = half;
    }
    return low;
  }
}
