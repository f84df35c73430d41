// Takes what waits of finished traces: their rows from the store, sorted by trace, and copies of the batches mounted in them.
import { takeAnchor } from '../clock/index.js';
import type { RowStore } from '../rows/row-store.js';
import { writeLink } from '../rows/span-details.js';
import { TakenRows } from '../rows/taken-rows.js';
import { type ActiveTrace, linkToPlace, type MountedBatch } from '../span/active-trace.js';
import type { Resource } from './reporter.js';
import type { TraceKeeper } from './trace-keeper.js';
import { TracePart } from './trace-part.js';

/** A part of each trace that has something; nothing of them waits afterwards. */
export const takeTraces = (
  traces: readonly ActiveTrace[],
  store: RowStore,
  keeper: TraceKeeper | null = null,
): TracePart[] => {
  const waiting = traces.filter((trace) => trace.pending > 0 && !trace.isDiscarded);
  if (waiting.length === 0) return [];
  const rows = store.take(waiting);
  const anchor = takeAnchor();
  return waiting.map((trace, i) => {
    if (trace.mounts !== null) {
      for (const mounted of trace.mounts) copyMounted(rows, i, trace, mounted, keeper);
    }
    trace.anchor ??= anchor;
    return new TracePart(trace, rows.rangeOf(i), trace.resource as Resource);
  });
};

/** Where few of many parts were kept, give these rows of their own: they must not hold those of the others. */
export const compactParts = (kept: readonly TracePart[], taken: readonly TracePart[]): void => {
  const count = (parts: readonly TracePart[]): number => parts.reduce((sum, { spanCount }) => sum + spanCount, 0);
  if (count(kept) * 2 > count(taken)) return;
  const rows = new TakenRows(kept.map(({ spanCount }) => spanCount));
  kept.forEach((part, i) => {
    part.moveTo(rows, i);
  });
};

// Top spans of the batch become children of the span it is mounted under.
const copyMounted = (
  rows: TakenRows,
  i: number,
  trace: ActiveTrace,
  mounted: MountedBatch,
  keeper: TraceKeeper | null,
): void => {
  const links = mounted.alsoUnder?.map((place) => linkToPlace(trace.context, place));
  for (const { chunk, row } of mounted.batch.first(mounted.count)) {
    const to = rows.copy(i, chunk, row);
    const last = to.count - 1;
    if (to.parentHis[last] === 0 && to.parentLos[last] === 0) {
      to.parentHis[last] = mounted.parentHi;
      to.parentLos[last] = mounted.parentLo;
      for (const link of links ?? []) writeLink(to.entries, link);
      to.heads[to.count] = to.entries.count;
    }
    keeper?.keepMounted(trace, to, last);
  }
};
