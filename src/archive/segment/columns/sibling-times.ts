// What a start is written against: the start of the parent, of the sibling before, or the end of that sibling. Writer and reader walk
// the spans of a piece in the same order and must come to the same number, so both use this.
import { NO_PARENT } from '../order/trace-order.js';

/** Against what; the place is its number in files. */
export const BASES = ['parent', 'sibling start', 'sibling end'] as const;
export type Base = (typeof BASES)[number];

/** Walks over the spans of pieces; ordinals and parents are counted from the first span of a group. */
export class SiblingTimes {
  /** The last child met of each span; and for spans without a parent in the piece, the last of those. */
  private readonly lastChild: Int32Array;
  private lastHead = -1;
  private pieceStart = 0;

  constructor(
    spans: number,
    /** Where each span starts and how long it is, in units from the start of its piece; NaN when too far to count. */
    private readonly starts: Float64Array,
    private readonly durations: Float64Array,
  ) {
    this.lastChild = new Int32Array(spans).fill(-1);
  }

  /** The next piece begins at span `start`. */
  beginPiece(start: number): void {
    this.pieceStart = start;
    this.lastHead = -1;
  }

  /** What the start of span `span` is written against; every span of a piece is asked for once, in order. */
  baseOf(span: number, parent: number, base: Base): number {
    // A parent behind its child, as cycles have them, is not known yet.
    const isKnown = parent >= this.pieceStart && parent < span;
    const sibling = isKnown ? this.lastChild[parent] : this.lastHead;
    if (isKnown) this.lastChild[parent] = span;
    else this.lastHead = span;
    let time = isKnown ? this.starts[parent] : 0;
    if (base !== 'parent' && sibling !== NO_PARENT) {
      time = this.starts[sibling] + (base === 'sibling end' ? this.durations[sibling] : 0);
    }
    return Number.isNaN(time) ? 0 : time;
  }
}
