// Endpoints of the search for traces: rows, values, and summaries of many traces as columns, for a hundred thousand of them are drawn, and one of
// them is opened by its id.

import type { Archive, TraceSummary } from '@spanline/archive';
import type { Call, Route } from '@spanline/archive/internal';
import { httpStatusOf } from '@spanline/archive/internal';
import type { PointsAnswer, RequestStatus, TraceRow, TracesAnswer, ValuesAnswer } from '../answers.js';
import { type ArchiveOf, apiGet } from '../api-route.js';
import { type FoundTraces, findTraces, searchOf } from './search-of.js';

/** Traces of one answer. */
const MAX_POINTS = 100_000;
/** Different names that are told; a service that puts ids into names has as many as traces. */
const MAX_NAMES = 1000;
const NS_PER_US = 1000n;

/** The columns of traces. */
const tracePoints = (traces: readonly TraceSummary[]): PointsAnswer => {
  const names = new Map<string, number>();
  const numberOf = (name: string): number => {
    const known = names.get(name);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMES) return -1;
    names.set(name, names.size);
    return names.size - 1;
  };
  return {
    startUs: traces.map(({ startUnixNs }) => Number(startUnixNs / NS_PER_US)),
    durationUs: traces.map(({ durationNs }) => Number(durationNs / NS_PER_US)),
    isError: traces.map(({ errorCount }) => (errorCount > 0 ? 1 : 0)),
    name: traces.map(({ name }) => numberOf(name)),
    names: [...names.keys()],
    ids: traces.map(({ traceId }) => traceId).join(''),
  };
};

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

/** Where a list of traces ends, and why. */
const ending = ({ next, endedAtNs }: Omit<FoundTraces, 'traces'>): Pick<TracesAnswer, 'next' | 'endedAtUs'> => ({
  next,
  endedAtUs: endedAtNs === undefined ? undefined : Number(endedAtNs / NS_PER_US),
});

const search = async (archiveOf: ArchiveOf, call: Call): Promise<TracesAnswer> => {
  const wanted = searchOf(call.query);
  const archive = await archiveOf(call);
  const { traces, ...rest } = await findTraces(archive, wanted, call.signal);
  const statuses = await statusesOf(archive, traces, call.signal);
  return {
    traces: traces.map((trace) => ({ ...traceRow(trace), status: statuses.get(trace.traceId) })),
    ...ending(rest),
  };
};

const points = async (archiveOf: ArchiveOf, call: Call): Promise<PointsAnswer> => {
  const wanted = searchOf(call.query, MAX_POINTS);
  const { traces, ...rest } = await findTraces(await archiveOf(call), wanted, call.signal);
  return { ...tracePoints(traces), ...ending(rest) };
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
