// Starts and durations of spans as numbers in the unit that loses nothing, and what a start is written against: the start of the parent, or
// start or end of the sibling before. Writer and reader walk the spans of a piece in the same order and must come to the same number.

import { ESCAPE, extraBits, MAX_CONTEXTS, SymbolCounts, SymbolModel, symbolOf } from '@spanline/graph/internal';
import type { SpanRows } from '../rows/span-rows.js';
import type { Groups } from './groups.js';
import { NEAR_NS } from './layout.js';
import { NO_PARENT, type SpanOrder } from './trace-order.js';

/** Against what; the place is its number in files. */
export const BASES = ['parent', 'sibling start', 'sibling end'] as const;
export type Base = (typeof BASES)[number];

/** Walks over the spans of pieces; ordinals and parents are counted from the first span of a group. */
export class SiblingTimes {
  /** Where each span starts and how long it is, in units from the start of its piece; NaN when too far to count. */
  readonly #starts: Float64Array;
  readonly #durations: Float64Array;
  /** The last child met of each span; and for spans without a parent in the piece, the last of those. */
  readonly #lastChild: Int32Array;
  #lastHead = -1;
  #pieceStart = 0;

  constructor(spans: number, starts: Float64Array, durations: Float64Array) {
    this.#starts = starts;
    this.#durations = durations;
    this.#lastChild = new Int32Array(spans).fill(-1);
  }

  /** The next piece begins at span `start`. */
  beginPiece(start: number): void {
    this.#pieceStart = start;
    this.#lastHead = -1;
  }

  /** What the start of span `span` is written against; every span of a piece is asked for once, in order. */
  baseOf(span: number, parent: number, base: Base): number {
    // A parent behind its child, as cycles have them, is not known yet.
    const isKnown = parent >= this.#pieceStart && parent < span;
    const sibling = isKnown ? this.#lastChild[parent] : this.#lastHead;
    if (isKnown) this.#lastChild[parent] = span;
    else this.#lastHead = span;
    let time = isKnown ? this.#starts[parent] : 0;
    if (base !== 'parent' && sibling !== NO_PARENT) {
      time = this.#starts[sibling] + (base === 'sibling end' ? this.#durations[sibling] : 0);
    }
    return Number.isNaN(time) ? 0 : time;
  }
}

/** Nanoseconds in which clocks count. */
export const UNITS: readonly number[] = [1_000_000, 1000, 100, 1];

/** Spans by which it is decided what starts are told against. */
const SAMPLE_SPANS = 32_768;

/** The times of pieces. */
export interface PieceTimes {
  /** Row of the span that starts first. */
  readonly startRows: Uint32Array;
  /** The latest end, or the first start where that is later; Unix nanoseconds. */
  readonly ends: BigUint64Array;
  /** From start to end; NaN when too far. */
  readonly durations: Float64Array;
}

/** Numbers of spans, their symbols, and what these take. */
interface CodedNumbers {
  readonly values: Float64Array;
  readonly symbols: Uint8Array;
  readonly model: SymbolModel;
  readonly bits: number;
}

/** Times by ordinal. */
export interface SpanTimes {
  readonly base: Base;
  readonly unit: number;
  readonly starts: CodedNumbers;
  readonly durations: CodedNumbers;
}

/** When each piece starts and ends. */
export const timePieces = (
  { start, end }: SpanRows,
  { rows }: SpanOrder,
  { traces, pieceFirsts }: Groups,
): PieceTimes => {
  const startRows = new Uint32Array(traces.length);
  const ends = new BigUint64Array(traces.length);
  const durations = new Float64Array(traces.length);
  for (let piece = 0; piece < traces.length; piece++) {
    let first = rows[pieceFirsts[piece]];
    let last = first;
    for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
      if (start.minus(rows[i], start, first) < 0) first = rows[i];
      if (end.minus(rows[i], end, last) > 0) last = rows[i];
    }
    startRows[piece] = first;
    const duration = end.minus(last, start, first);
    durations[piece] = duration >= NEAR_NS ? Number.NaN : Math.max(0, duration);
    ends[piece] = duration < 0 ? start.values[first] : end.values[last];
  }
  return { startRows, ends, durations };
};

/** The largest unit that divides all times. */
const unitOf = (columns: readonly Float64Array[]): number =>
  UNITS.find((unit) => unit === 1 || columns.every((column) => column.every((time) => !(time % unit > 0)))) ?? 1;

const divide = (column: Float64Array, unit: number): void => {
  if (unit > 1) for (let i = 0; i < column.length; i++) column[i] /= unit;
};

/** Turn times into symbols and values. `contexts` has the context of each span, 0 for the first of a piece. */
export const codeTimes = (
  { start, end }: SpanRows,
  { rows, parents, spanCount }: SpanOrder,
  groups: Groups,
  pieces: PieceTimes,
  contexts: Uint16Array,
): SpanTimes => {
  const { pieceFirsts } = groups;
  const starts = new Float64Array(spanCount);
  const durations = new Float64Array(spanCount);
  for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
    for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
      const offset = start.minus(rows[i], start, pieces.startRows[piece]);
      starts[i] = offset < NEAR_NS ? offset : Number.NaN;
      const duration = end.minus(rows[i], start, rows[i]);
      durations[i] = duration >= 0 && duration < NEAR_NS ? duration : Number.NaN;
    }
  }
  const unit = unitOf([starts, durations, pieces.durations]);
  const pieceDurations = Float64Array.from(pieces.durations);
  for (const column of [starts, durations, pieceDurations]) divide(column, unit);

  const durationValues = Float64Array.from(durations);
  for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
    const first = pieceFirsts[piece];
    // Most often the first span lasts as long as the trace.
    if (!Number.isNaN(pieceDurations[piece])) durationValues[first] = pieceDurations[piece] - durations[first];
  }

  const spanStarts = { pieceFirsts, parents, starts, durations };
  const base = bestBase(spanStarts, contexts);
  return {
    base,
    unit,
    starts: coded(startsAgainst(base, spanStarts), contexts),
    durations: coded(durationValues, contexts),
  };
};

/** Starts of spans, and what they may be coded against. */
interface SpanStarts {
  readonly pieceFirsts: readonly number[];
  readonly parents: Int32Array;
  readonly starts: Float64Array;
  readonly durations: Float64Array;
}

/** Starts against `base`, of the spans of `pieceFirsts`. */
const startsAgainst = (base: Base, { pieceFirsts, parents, starts, durations }: SpanStarts): Float64Array => {
  const values = new Float64Array(pieceFirsts[pieceFirsts.length - 1]);
  const siblings = new SiblingTimes(values.length, starts, durations);
  for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
    siblings.beginPiece(pieceFirsts[piece]);
    for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
      values[i] = starts[i] - siblings.baseOf(i, parents[i], base);
    }
  }
  return values;
};

/** What makes starts smallest, by the first traces: others of the same programs will hardly differ. */
const bestBase = (spanStarts: SpanStarts, contexts: Uint16Array): Base => {
  const end = spanStarts.pieceFirsts.findIndex((first) => first >= SAMPLE_SPANS);
  const sample = end < 0 ? spanStarts : { ...spanStarts, pieceFirsts: spanStarts.pieceFirsts.slice(0, end + 1) };
  const bits = BASES.map((base) => coded(startsAgainst(base, sample), contexts).bits);
  return BASES[bits.indexOf(Math.min(...bits))];
};

const coded = (values: Float64Array, contexts: Uint16Array): CodedNumbers => {
  const symbols = new Uint8Array(values.length);
  const counts = new SymbolCounts(MAX_CONTEXTS);
  let extra = 0;
  for (let i = 0; i < values.length; i++) {
    const symbol = Number.isNaN(values[i]) ? ESCAPE : symbolOf(values[i]);
    symbols[i] = symbol;
    counts.add(contexts[i], symbol);
    extra += symbol === ESCAPE ? 64 : extraBits(symbol);
  }
  const model = SymbolModel.of(counts);
  return { values, symbols, model, bits: model.bits + extra };
};
