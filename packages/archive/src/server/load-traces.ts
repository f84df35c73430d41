// Reads the spans of found traces in batches, so that an answer of many traces takes the memory of a few.
import type { ArchivedSpan, TraceSummary } from 'spanline/internal/record';
import type { ArchiveReader, ReadOptions } from './ports.js';

/** Decoded bytes of a batch, about, and traces in one. */
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_TRACES = 100;

/** A trace with its spans. */
export type LoadedTrace = readonly [traceId: string, spans: readonly ArchivedSpan[]];

/** In the order of `summaries`; a trace that was deleted meanwhile is left out. */
export const loadTraces = async function* (
  archive: ArchiveReader,
  summaries: readonly Pick<TraceSummary, 'traceId' | 'bytes'>[],
  options: ReadOptions,
): AsyncGenerator<LoadedTrace> {
  let ids: string[] = [];
  let size = 0;
  for (const [i, { traceId, bytes }] of summaries.entries()) {
    ids.push(traceId);
    size += bytes;
    if (size < BATCH_BYTES && ids.length < BATCH_TRACES && i < summaries.length - 1) continue;
    const traces = await archive.traces(ids, options);
    for (const id of ids) {
      const spans = traces.get(id);
      if (spans !== undefined && spans.length > 0) yield [id, spans];
    }
    ids = [];
    size = 0;
  }
};
