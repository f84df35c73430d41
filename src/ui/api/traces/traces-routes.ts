// Endpoints of the search for traces.
import type { Archive } from '../../../archive/archive.js';
import type { Call, Route } from '../../../archive/server/route.js';
import type { TraceSummary } from '../../../trace/archived-span.js';
import { apiGet } from '../api-route.js';
import type { TraceRow, TracesAnswer, ValuesAnswer } from './answers.js';
import { searchOf } from './search-of.js';

/** A summary as the page shows it. */
export const traceRow = (summary: TraceSummary): TraceRow => {
  const { traceId, name, service, startUnixNs, durationNs, spanCount, errorCount, isComplete } = summary;
  return {
    ...{ traceId, name, service, spanCount, errorCount, isComplete },
    startUs: Number(startUnixNs / 1000n),
    durationUs: Number(durationNs) / 1000,
  };
};

const search = async (archive: Archive, { query, signal }: Call): Promise<TracesAnswer> => {
  const wanted = searchOf(query);
  const found = await archive.search(wanted, { signal });
  return { traces: found.map(traceRow), isFull: found.length === wanted.limit };
};

const values = async (archive: Archive, { query, signal }: Call): Promise<ValuesAnswer> => {
  const service = query.get('service') ?? '';
  return {
    services: await archive.services({ signal }),
    operations:
      service === '' ? [] : [...new Set((await archive.operations(service, { signal })).map(({ name }) => name))],
  };
};

/** The routes of the search. */
export const tracesRoutes = (archive: Archive): Route[] => [
  apiGet('traces', (call) => search(archive, call)),
  apiGet('traces/values', (call) => values(archive, call)),
];
