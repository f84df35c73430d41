// A search that looks at every span: what every other search must find.
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { propertyText } from '../../../src/meant-spans.js';
import type { TraceSearch, TraceSummary } from '../../../src/trace-search.js';
import { tracesOf } from './segments.js';

export const serviceOf = ({ resource }: ArchivedSpan): string => {
  const name = Object.hasOwn(resource.properties, 'service.name') ? resource.properties['service.name'] : '';
  return typeof name === 'string' ? name : '';
};

export const latest = (times: readonly bigint[]): bigint => times.reduce((a, b) => (a > b ? a : b));
const earliest = (times: readonly bigint[]): bigint => times.reduce((a, b) => (a < b ? a : b));

/** What a summary must say, but for its size. */
export const summaryOf = (trace: readonly ArchivedSpan[]): Omit<TraceSummary, 'bytes'> => {
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const startUnixNs = earliest(trace.map((one) => one.startUnixNs));
  const end = latest([startUnixNs, ...trace.map((one) => one.endUnixNs)]);
  const byStart = [...trace].sort((a, b) =>
    a.startUnixNs === b.startUnixNs ? (a.spanId < b.spanId ? -1 : 1) : a.startUnixNs < b.startUnixNs ? -1 : 1,
  );
  const root = byStart.find(({ parentSpanId }) => parentSpanId === '');
  const head = root ?? byStart[0];
  return {
    traceId: trace[0].traceId,
    name: head.name,
    service: serviceOf(head),
    startUnixNs,
    durationNs: end - startUnixNs,
    spanCount: trace.length,
    errorCount: trace.filter(({ status }) => status.code === 'error').length,
    isComplete: root !== undefined && trace.every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId)),
  };
};

/** A search that looks at everything. */
export const bruteForce = (spans: readonly ArchivedSpan[], search: TraceSearch): Omit<TraceSummary, 'bytes'>[] => {
  const { fromUnixNs = 0n, toUnixNs = 2n ** 64n, minDurationNs = 0n, maxDurationNs = 2n ** 64n, limit = 20 } = search;
  const isMeant = (one: ArchivedSpan): boolean =>
    (search.service ?? serviceOf(one)) === serviceOf(one) &&
    (search.name ?? one.name) === one.name &&
    (search.status ?? one.status.code) === one.status.code &&
    (search.linkedTo === undefined ||
      (search.linkedTo !== one.traceId && one.links.some(({ traceId }) => traceId === search.linkedTo))) &&
    Object.entries(search.properties ?? {}).every(
      ([key, text]) => Object.hasOwn(one.properties, key) && propertyText(one.properties[key]) === text,
    );
  return [...tracesOf(spans).values()]
    .filter((trace) => trace.some(isMeant))
    .map(summaryOf)
    .filter(({ startUnixNs, durationNs }) => startUnixNs <= toUnixNs && startUnixNs + durationNs >= fromUnixNs)
    .filter(({ durationNs }) => durationNs >= minDurationNs && durationNs <= maxDurationNs)
    .sort((a, b) =>
      a.startUnixNs === b.startUnixNs ? (a.traceId < b.traceId ? -1 : 1) : a.startUnixNs > b.startUnixNs ? -1 : 1,
    )
    .slice(0, limit);
};

export const withoutBytes = (summaries: readonly TraceSummary[]): Omit<TraceSummary, 'bytes'>[] =>
  summaries.map(({ bytes: _, ...rest }) => rest);
