// The query parameters of Jaeger's two search APIs as a search of the archive. A condition that cannot be met is refused: to ignore it would
// answer with other traces than were asked for.
import type { TraceSearch } from '../trace-search.js';
import { HttpError } from './http-error.js';
import { durationNs, microsecondsNs, pick, required, rfc3339Ns, textMap, wholeNumber } from './query-values.js';

/** Traces in an answer when the question does not say. */
const DEFAULT_LIMIT = 100;

const mapped = <T>(
  found: readonly [string, string] | undefined,
  read: (found: readonly [string, string]) => T,
): T | undefined => (found === undefined ? undefined : read(found));

/** Jaeger shows the status of a span as a tag, which is what its users search for; what is known of a trace says whether it has errors. */
const withStatus = (properties: Record<string, string>): Pick<TraceSearch, 'status' | 'properties'> => {
  const { error, ...rest } = properties;
  const status = error === 'true' ? 'error' : undefined;
  const wanted = status === undefined ? properties : rest;
  return { status, properties: Object.keys(wanted).length === 0 ? undefined : wanted };
};

/**
 * In Jaeger durations and times are those of one span, the one that meets all else too. Its trace lasts no less and was there then, by
 * which most are passed over without a look at their spans.
 */
const ofOneSpan = (from?: bigint, to?: bigint, min?: bigint, max?: bigint): TraceSearch => ({
  fromUnixNs: from,
  toUnixNs: to,
  spanFromUnixNs: from,
  spanToUnixNs: to,
  minDurationNs: min,
  minSpanDurationNs: min,
  maxSpanDurationNs: max,
});

/** Zero means none, as in Jaeger. */
const duration = (found: readonly [string, string] | undefined): bigint | undefined =>
  mapped(found, durationNs) || undefined;

const checked = (search: TraceSearch): TraceSearch => {
  const { fromUnixNs, toUnixNs, minSpanDurationNs, maxSpanDurationNs } = search;
  if (fromUnixNs !== undefined && toUnixNs !== undefined && fromUnixNs > toUnixNs)
    throw new HttpError(400, 'the start of the time range must be before its end');
  if (minSpanDurationNs !== undefined && maxSpanDurationNs !== undefined && minSpanDurationNs > maxSpanDurationNs)
    throw new HttpError(400, 'the longest duration must not be below the shortest');
  return search;
};

/** Parameters of /api/v3, in the names of both its versions. */
const V3_NAMES = [
  ...['service_name', 'operation_name', 'start_time_min', 'start_time_max', 'duration_min', 'duration_max'],
  ...['attributes', 'search_depth', 'num_traces', 'raw_traces'],
];
const camelCase = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const V3_KNOWN = new Set(V3_NAMES.flatMap((name) => [`query.${name}`, `query.${camelCase(name)}`]));

/** `query.*` of /api/v3. */
export const v3Search = (query: URLSearchParams, maxTraces: number): TraceSearch => {
  if (pick(query, 'query.filter') !== undefined)
    throw new HttpError(400, 'the parameter query.filter is not supported; use query.attributes');
  for (const name of query.keys()) {
    if (name.startsWith('query.') && !V3_KNOWN.has(name))
      throw new HttpError(400, `the parameter ${name} is not known: it is one of ${[...V3_KNOWN].join(', ')}`);
  }
  const read = (name: string) => pick(query, `query.${camelCase(name)}`, `query.${name}`);
  const limit = read('search_depth') ?? read('num_traces');
  return checked({
    ...ofOneSpan(
      mapped(read('start_time_min'), rfc3339Ns),
      mapped(read('start_time_max'), rfc3339Ns),
      duration(read('duration_min')),
      duration(read('duration_max')),
    ),
    service: read('service_name')?.[1],
    name: read('operation_name')?.[1],
    ...withStatus(mapped(read('attributes'), textMap) ?? {}),
    limit: mapped(limit, (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_LIMIT, maxTraces),
  });
};

/** The same where both ends of the time have to be said, as Jaeger asks of a search for traces. */
export const v3SearchInTime = (query: URLSearchParams, maxTraces: number): TraceSearch => {
  const search = v3Search(query, maxTraces);
  if (search.spanFromUnixNs === undefined || search.spanToUnixNs === undefined)
    throw new HttpError(400, 'the parameters query.start_time_min and query.start_time_max are required');
  return search;
};

/** The parameters of the older /api/traces. */
export const v1Search = (query: URLSearchParams, maxTraces: number): TraceSearch => {
  const service = required(query, 'service');
  const tags: (readonly [key: string, value: string])[] = [];
  for (const tag of query.getAll('tag')) {
    const at = tag.indexOf(':');
    if (at < 0) throw new HttpError(400, 'the parameter tag must be key:value');
    tags.push([tag.slice(0, at), tag.slice(at + 1)]);
  }
  for (const map of query.getAll('tags')) if (map !== '') tags.push(...Object.entries(textMap(['tags', map])));
  return checked({
    ...ofOneSpan(
      mapped(pick(query, 'start'), microsecondsNs),
      mapped(pick(query, 'end'), microsecondsNs),
      duration(pick(query, 'minDuration')),
      duration(pick(query, 'maxDuration')),
    ),
    service,
    name: pick(query, 'operation')?.[1],
    // Keys may be any text, `__proto__` too: an assignment would lose it, and with it a condition.
    ...withStatus(Object.fromEntries(tags)),
    limit:
      mapped(pick(query, 'limit'), (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_LIMIT, maxTraces),
  });
};
