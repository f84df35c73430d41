// Endpoints of the search for traces.
import type { Call, Route } from '../../../archive/server/route.js';
import type { TraceSummary } from '../../../trace/archived-span.js';
import { apiGet } from '../api-route.js';
import type { ArchiveOf } from '../archive-of.js';
import type { PointsAnswer, TraceRow, TracesAnswer, ValuesAnswer } from './answers.js';
import { findTraces } from './find-traces.js';
import { searchOf } from './search-of.js';
import { MAX_POINTS, tracePoints } from './trace-points.js';

/** A summary as the page shows it. */
export const traceRow = (summary: TraceSummary): TraceRow => {
  const { traceId, name, service, startUnixNs, durationNs, spanCount, errorCount, isComplete } = summary;
  return {
    ...{ traceId, name, service, spanCount, errorCount, isComplete },
    startUs: Number(startUnixNs / 1000n),
    durationUs: Number(durationNs) / 1000,
  };
};

const search = async (archiveOf: ArchiveOf, call: Call): Promise<TracesAnswer> => {
  const wanted = searchOf(call.query);
  const { traces, next } = await findTraces(await archiveOf(call), wanted, call.signal);
  return { traces: traces.map(traceRow), next };
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
