// Traces of a search with their shapes, read a few at a time. Bounded by the bytes that they cost: what is over that is not read, and said.
import type { Archive } from '@spanline/archive';
import { type ArchivedSpan, type TraceShape, type TraceSummary, traceShape } from 'spanline/internal/record';
import { findTraces } from '../traces/find-traces.js';
import type { TraceQuery } from '../traces/search-of.js';

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

/** How many traces of a query were read, and whether there are more. */
export const shapedTraces = async (
  archive: Archive,
  query: TraceQuery,
  signal: AbortSignal,
  each: (trace: ShapedTrace) => void,
): Promise<{ readonly read: number; readonly isMore: boolean }> => {
  const { traces: summaries, next } = await findTraces(archive, query, signal);
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
  return { read: wanted.length, isMore: next !== undefined || wanted.length < summaries.length };
};
