// Takes what waits of finished traces: their rows from the store, sorted by trace, and copies of the batches mounted in them.
//
// What sees every span of a collector, whatever becomes of its trace: the flight recorder, as far as the collector needs it. Called on the recording path:
// no method may throw.

import type { ClockAnchor } from '../clock/index.js';
import type { RowChunk } from '../rows/row-chunk.js';
import { type RowObserver, type RowStore, TakenRows } from '../rows/row-store.js';
import { writeLink } from '../rows/span-details.js';
import { type TraceTable, TraceWord } from '../rows/trace-table.js';
import {
  type ActiveTrace,
  type EndedRoot,
  linkToPlace,
  type MountedBatch,
  type OpenSpans,
} from '../span/active-trace.js';
import { type PartPool, TracePart } from './trace-part.js';

export interface TraceObserver extends RowObserver {
  readonly openSpans: OpenSpans;
  /** A root has ended. True: its trace is reported, whatever the sampler and `keep` decide. */
  ended(trace: ActiveTrace, root: EndedRoot): boolean;
  /** These parts are reported now: the moment to add to their roots what only the observer has. */
  reporting(parts: readonly TracePart[]): void;
  /** Nothing of it may be shown to anybody. */
  cancelled(trace: ActiveTrace): void;
  /** A row that was never in the store: of a batch that is mounted in a trace. */
  observeMounted(traces: TraceTable, number: number, chunk: RowChunk, row: number): void;
}

/** Where traces are taken from. */
export interface TakenFrom {
  readonly rows: RowStore;
  readonly observer?: TraceObserver | null;
  /** For traces that have none. */
  readonly anchor: ClockAnchor;
  /** Where parts come from, and go back to. */
  readonly parts?: PartPool;
}

// Nearly always all of them: then nothing is copied.
const withSpans = (numbers: Int32Array, traces: TraceTable): Int32Array => {
  for (let i = 0; i < numbers.length; i++) {
    if (traces.get(numbers[i], TraceWord.spans) === 0) {
      return numbers.filter((number) => traces.get(number, TraceWord.spans) > 0);
    }
  }
  return numbers;
};

/** A part of each trace that has something, whose rows are in the store no longer. The caller empties or releases the numbers. */
export const takeTraces = (numbers: Int32Array, from: TakenFrom): TracePart[] => {
  const { traces } = from.rows;
  const waiting = withSpans(numbers, traces);
  if (waiting.length === 0) return [];
  const rows = from.rows.take(waiting);
  // Its length is known: an array that grows leaves copies of itself.
  const parts = new Array<TracePart>(waiting.length);
  for (let i = 0; i < waiting.length; i++) {
    const number = waiting[i];
    if (traces.get(number, TraceWord.mounted) > 0) {
      for (const mounted of traces.mounts.get(number) as MountedBatch[]) copyMounted(rows, i, number, mounted, from);
    }
    traces.anchors[number] ??= from.anchor;
    parts[i] = (from.parts?.take() ?? new TracePart()).of(traces, number, rows, i);
  }
  return parts;
};

/** Where few of many parts were kept, give these rows of their own: they must not hold those of the others. */
export const compactParts = (kept: readonly TracePart[], taken: readonly TracePart[]): void => {
  const count = (parts: readonly TracePart[]): number => parts.reduce((sum, { spanCount }) => sum + spanCount, 0);
  if (count(kept) * 2 > count(taken)) return;
  const rows = new TakenRows(Int32Array.from(kept, ({ spanCount }) => spanCount));
  kept.forEach((part, i) => {
    part.moveTo(rows, i);
  });
};

// Top spans of the batch become children of the span it is mounted under.
const copyMounted = (
  rows: TakenRows,
  i: number,
  number: number,
  mounted: MountedBatch,
  { rows: { traces }, observer }: TakenFrom,
): void => {
  const links = mounted.alsoUnder?.map((place) => linkToPlace(traces.keyOf(number), place));
  for (const { chunk, row } of mounted.batch.first(mounted.count)) {
    const to = rows.copy(i, chunk, row);
    const last = to.count - 1;
    if (to.parentHis[last] === 0 && to.parentLos[last] === 0) {
      to.parentHis[last] = mounted.parentHi;
      to.parentLos[last] = mounted.parentLo;
      for (const link of links ?? []) writeLink(to.entries, link);
      to.heads[to.count] = to.entries.count;
    }
    observer?.observeMounted(traces, number, to, last);
  }
};
