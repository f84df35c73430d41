// What measures spans by their names as they end: metrics, where the program wants some of its spans counted. Undefined is the whole cost of them without.
import { state } from '../context/process-state.js';
import type { EndedSpan } from './property.js';

/** What has recorded a span: the span itself, that around a local one, or a local collector. */
export interface SpanOwner {
  /** Nothing of it is reported. */
  readonly isDiscarded: boolean;
  /** Writes the ids of its trace and of itself; false where the trace is not sampled. A local collector has no trace. */
  writeSampledIds?(words: Int32Array, at: number): boolean;
}

export interface SpanMeasures {
  /** A span has ended, with its status. Must not throw. */
  ended(span: EndedSpan, owner: SpanOwner, endTicks: number, isFailed: boolean): void;
}

export const spanMeasures = (): SpanMeasures | undefined => state.spanMeasures as SpanMeasures | undefined;
