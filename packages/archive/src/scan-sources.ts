// Goes through all traces of several sources, each whole and once, wherever its parts lie. It holds a few traces, and the ids of those that
// have parts in several sources.
import { checkSignal } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { presentIn, tracesFrom } from './search-sources.js';
import type { PinnedSegment } from './segment-set.js';
import type { QueryOptions } from './segment-source.js';
import { type TraceParts, textsOf } from './trace-source.js';

type Trace = readonly ArchivedSpan[];

/** A source that gives all its traces too, as far as they are there. */
export interface ScannedSource extends TraceParts {
  scan(): Iterable<Trace> | AsyncIterable<Trace>;
}

/** Traces looked for elsewhere at a time: so many, or when they have so many spans. */
const BATCH_TRACES = 200;
const BATCH_SPANS = 5000;

/** A segment that stays open. */
export const scannedSegment = ({ segment, report }: PinnedSegment, { signal }: QueryOptions): ScannedSource => {
  const options = { ...(signal === undefined ? {} : { signal }), onDamage: report };
  return {
    possible: async (ids) => textsOf(ids, segment.filter),
    present: async (ids) => {
      const possible = textsOf(ids, segment.filter);
      return possible.length === 0 ? [] : segment.present(possible, options);
    },
    traces: (ids) => segment.traces(ids, options),
    scan: () => segment.scan(options),
  };
};

/** All traces; `sources` are given newest first. */
export async function* scanSources(
  sources: readonly ScannedSource[],
  options: QueryOptions,
): AsyncGenerator<Trace, undefined, void> {
  const given = new Set<string>();
  for (const [i, source] of sources.entries()) {
    for await (const batch of batchesOf(source.scan())) {
      checkSignal('the archive', options);
      const fresh = batch.filter(([{ traceId }]) => !given.has(traceId));
      const ids = fresh.map(([{ traceId }]) => traceId);
      // Those before would have given it.
      const elsewhere = await presentIn(sources.slice(i + 1), ids, options);
      const split = elsewhere.length === 0 ? undefined : await tracesFrom(sources.slice(i), elsewhere, options);
      for (const id of elsewhere) given.add(id);
      for (const spans of fresh) yield split?.get(spans[0].traceId) ?? spans;
    }
  }
}

async function* batchesOf(traces: Iterable<Trace> | AsyncIterable<Trace>): AsyncGenerator<Trace[], undefined, void> {
  let batch: Trace[] = [];
  let spans = 0;
  for await (const trace of traces) {
    batch.push(trace);
    spans += trace.length;
    if (batch.length < BATCH_TRACES && spans < BATCH_SPANS) continue;
    yield batch;
    batch = [];
    spans = 0;
  }
  if (batch.length > 0) yield batch;
}
