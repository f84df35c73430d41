// Traces of a search with their shapes, read a few at a time. Bounded by the bytes that they cost: what is over that is not read, and said.
import type { Archive } from '../../../archive/archive.js';
import type { ArchivedSpan, TraceSearch, TraceSummary } from '../../../trace/archived-span.js';
import { type TraceShape, traceShape } from '../../../trace/trace-shape.js';

const BATCH = 50;
const MAX_BYTES = 256 * 2 ** 20;

/** A trace and its shape. */
export interface ShapedTrace {
  readonly summary: TraceSummary;
  readonly spans: readonly ArchivedSpan[];
  readonly shape: TraceShape;
}

/** The newest first; those that cost less than the bound in all. */
export const withinBytes = (summaries: readonly TraceSummary[]): TraceSummary[] => {
  let bytes = 0;
  return summaries.filter((summary) => {
    bytes += summary.bytes;
    return bytes <= MAX_BYTES;
  });
};

/** What the search finds, and how many of it were read. */
export const shapedTraces = async (
  archive: Archive,
  search: TraceSearch,
  signal: AbortSignal,
  each: (trace: ShapedTrace) => void,
): Promise<{ readonly found: number; readonly read: number }> => {
  const summaries = await archive.search(search, { signal });
  const wanted = withinBytes(summaries);
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const traces = await archive.traces(
      batch.map(({ traceId }) => traceId),
      { signal },
    );
    for (const summary of batch) {
      const spans = traces.get(summary.traceId);
      // Retention may have taken it meanwhile.
      if (spans !== undefined && spans.length > 0) each({ summary, spans, shape: traceShape(spans) });
    }
  }
  return { found: summaries.length, read: wanted.length };
};
