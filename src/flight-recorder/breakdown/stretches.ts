// Lists of stretches of time in order and without overlaps, each with a reference to what it is of; what the breakdown of time needs of a span,
// wherever spans are kept; and its unit of time inside, the tick. Must stay n log n, whatever overlaps whatever, and must not import records or
// files.
import { firstIndex } from '../../base/maps/first-index.js';

/** A span of this process with its time. */
export interface TimedSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Unix time in microseconds. */
  readonly startUs: number;
  readonly endUs: number;
  /** A local span: one synchronous stretch, which had the event loop all of its time. */
  readonly isSync: boolean;
  /** It had not ended when it was looked at; its end is that moment. */
  readonly isOpen?: boolean;
}

/** Which span. */
export type SpanKey = Pick<TimedSpan, 'traceId' | 'spanId'>;

/** From one moment to another. */
export interface TimeWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

export const keyOf = ({ traceId, spanId }: SpanKey): string => traceId + spanId;

/**
 * Quarters of a microsecond as whole numbers: what a double holds of Unix time today. Whole numbers add up exactly, and so do the
 * microseconds made of them, whatever the order.
 */
export const TICKS_PER_US = 4;
export const toTicks = (us: number): number => Math.round(us * TICKS_PER_US);
export const toUs = (ticks: number): number => ticks / TICKS_PER_US;

/** Stretches by number: `starts[i]` to `ends[i]` belongs to `refs[i]`. */
export class Stretches {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly refs: number[] = [];

  get count(): number {
    return this.starts.length;
  }

  /** Behind all that are there; one of no length is left out, and one that goes on with the last is joined to it. */
  add(start: number, end: number, ref: number): void {
    if (end <= start) return;
    const last = this.count - 1;
    if (last >= 0 && this.refs[last] === ref && this.ends[last] === start) {
      this.ends[last] = end;
      return;
    }
    this.starts.push(start);
    this.ends.push(end);
    this.refs.push(ref);
  }

  /** The first that ends after `time`. */
  firstAfter(time: number): number {
    return firstIndex(0, this.count, (i) => this.ends[i] > time);
  }
}

/** A stretch that may overlap others. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly ref: number;
  /** Among pieces of the same time, the highest is the innermost. */
  readonly order: number;
}

/** The innermost at each moment: the one that began last. One that ends later than what is around it is not cut. */
export const innermost = (pieces: Piece[]): Stretches => {
  pieces.sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
  const out = new Stretches();
  const open: Piece[] = [];
  let now = Number.NEGATIVE_INFINITY;
  const closeUntil = (time: number): void => {
    for (let top = open.at(-1); top !== undefined && top.end <= time; top = open.at(-1)) {
      out.add(now, top.end, top.ref);
      now = Math.max(now, top.end);
      open.pop();
    }
    const top = open.at(-1);
    if (top !== undefined) out.add(now, time, top.ref);
    now = Math.max(now, time);
  };
  for (const piece of pieces) {
    closeUntil(piece.start);
    open.push(piece);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return out;
};
