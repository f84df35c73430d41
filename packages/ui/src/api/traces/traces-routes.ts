// Endpoints of the search for traces.
import type { Archive } from '@spanline/archive';
import type { Call, Route } from '@spanline/archive/internal';
import { httpStatusOf, type TraceSummary } from 'spanline/internal/record';
import type { RequestStatus } from '../answers.js';
import { apiGet } from '../api-route.js';
import type { ArchiveOf } from '../archive-of.js';
import type { PointsAnswer, TraceRow, TracesAnswer, ValuesAnswer } from './answers.js';
import { findTraces } from './find-traces.js';
import { searchOf } from './search-of.js';
import { MAX_POINTS, tracePoints } from './trace-points.js';

/** Spans that are read for the statuses of a list, at a time and in all: of large traces a list says less. */
const BATCH_SPANS = 10_000;
const MAX_SPANS = 100_000;

/** How traces ended, by id, as far as they are read: no more than `maxSpans`. */
export const statusesOf = async (
  archive: Archive,
  traces: readonly TraceSummary[],
  signal: AbortSignal,
  maxSpans = MAX_SPANS,
): Promise<ReadonlyMap<string, RequestStatus>> => {
  const statuses = new Map<string, RequestStatus>();
  let ids: string[] = [];
  let [spans, left] = [0, maxSpans];
  const read = async (): Promise<void> => {
    for (const [id, [head]] of await archive.traces(ids, { signal }))
      statuses.set(id, { http: httpStatusOf(head), isFailed: head.status.code === 'error' });
    ids = [];
    spans = 0;
  };
  for (const { traceId, spanCount } of traces) {
    if (spanCount > left) continue;
    left -= spanCount;
    spans += spanCount;
    ids.push(traceId);
    if (spans >= BATCH_SPANS) await read();
  }
  if (ids.length > 0) await read();
  return statuses;
};

/** A summary as the page shows it. */
const traceRow = (summary: TraceSummary): TraceRow => {
  const { traceId, name, service, startUnixNs, durationNs, spanCount, errorCount, isComplete } = summary;
  return {
    ...{ traceId, name, service, spanCount, errorCount, isComplete },
    startUs: Number(startUnixNs / 1000n),
    durationUs: Number(durationNs) / 1000,
  };
};

const search = async (archiveOf: ArchiveOf, call: Call): Promise<TracesAnswer> => {
  const wanted = searchOf(call.query);
  const archive = await archiveOf(call);
  const { traces, next } = await findTraces(archive, wanted, call.signal);
  const statuses = await statusesOf(archive, traces, call.signal);
  return { traces: traces.map((trace) => ({ ...traceRow(trace), status: statuses.get(trace.traceId) })), next };
};

const points = async (archiveOf: ArchiveOf, call: Call): Promise<PointsAnswer> => {
  const wanted = searchOf(call.query, MAX_POINTS);
  const { traces, next } = await findTraces(await archiveOf(call), wanted, call.signal);
  return { ...tracePoints(traces), next };
};

const values = async (archiveOf: ArchiveOf, call: Call): Promise<ValuesAnswer> => {
  const { query, signal } = call;
  const archive = await archiveOf(call);
  const service = query.get('service') ?? '';
  return {
    services: await archive.services({ signal }),
    operations:
      service === '' ? [] : [...new Set((await archive.operations(service, { signal })).map(({ name }) => name))],
  };
};

/** The routes of the search. */
export const tracesRoutes = (archiveOf: ArchiveOf): Route[] => [
  apiGet('traces', (call) => search(archiveOf, call)),
  apiGet('traces/points', (call) => points(archiveOf, call)),
  apiGet('traces/values', (call) => values(archiveOf, call)),
];
