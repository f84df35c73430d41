// Which span gives a trace its name, and whether a trace is whole. A trace whose root is somewhere else is an ordinary trace.
import type { SpanRows } from './span-rows.js';
import { NO_PARENT, type SpanOrder } from './trace-order.js';

/** By trace, in the order of ids. */
export interface TraceHeads {
  /** Ordinal of the root, or of the earliest span where there is none. */
  readonly ordinals: Uint32Array;
  /** 1: there is a root, and no parent is absent. */
  readonly isComplete: Uint8Array;
}

export const findHeads = ({ start }: SpanRows, { rows, parents, traces, firsts }: SpanOrder): TraceHeads => {
  const ordinals = new Uint32Array(traces.length);
  const isComplete = new Uint8Array(traces.length);
  for (let trace = 0; trace < traces.length; trace++) {
    const first = firsts[trace];
    const hasRoot = parents[first] === NO_PARENT;
    let head = first;
    let absent = 0;
    for (let i = first; i < firsts[trace + 1]; i++) {
      if (parents[i] < NO_PARENT) absent++;
      if (!hasRoot && start.minus(rows[i], start, rows[head]) < 0) head = i;
    }
    ordinals[trace] = head;
    isComplete[trace] = hasRoot && absent === 0 ? 1 : 0;
  }
  return { ordinals, isComplete };
};
