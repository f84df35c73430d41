// The query parameters of Jaeger's two search APIs as a search of the archive. A condition that cannot be met is refused: to ignore it would
// answer with other traces than were asked for.
import type { TraceSearch } from '../archived-span.js';
import { HttpError } from './http-error.js';
import { durationNs, microsecondsNs, pick, rfc3339Ns, textMap, wholeNumber } from './query-values.js';

/** Traces in an answer when the question does not say. */
const DEFAULT_LIMIT = 100;

/** Jaeger shows the status of a span as a tag, which is what its users search for. */
const withStatus = (properties: Record<string, string>): Pick<TraceSearch, 'status' | 'properties'> => {
  const { error, ...rest } = properties;
  const status = error === 'true' ? 'error' : undefined;
  const wanted = status === undefined ? properties : rest;
  return { status, properties: Object.keys(wanted).length === 0 ? undefined : wanted };
};

const checked = (search: TraceSearch): TraceSearch => {
  const { fromUnixNs, toUnixNs, minDurationNs, maxDurationNs } = search;
  if (fromUnixNs !== undefined && toUnixNs !== undefined && fromUnixNs > toUnixNs)
    throw new HttpError(400, 'the start of the time range must be before its end');
  if (minDurationNs !== undefined && maxDurationNs !== undefined && minDurationNs > maxDurationNs)
    throw new HttpError(400, 'the longest duration must not be below the shortest');
  return search;
};

const mapped = <T>(
  found: readonly [string, string] | undefined,
  read: (found: readonly [string, string]) => T,
): T | undefined => (found === undefined ? undefined : read(found));

/** `query.*` of /api/v3, in the names of both its versions. */
export const v3Search = (query: URLSearchParams, maxTraces: number): TraceSearch => {
  if (pick(query, 'query.filter') !== undefined)
    throw new HttpError(400, 'the parameter query.filter is not supported; use query.attributes');
  const read = (camel: string, snake: string) => pick(query, `query.${camel}`, `query.${snake}`);
  const limit = pick(query, 'query.searchDepth', 'query.search_depth', 'query.num_traces');
  return checked({
    service: read('serviceName', 'service_name')?.[1],
    name: read('operationName', 'operation_name')?.[1],
    fromUnixNs: mapped(read('startTimeMin', 'start_time_min'), rfc3339Ns),
    toUnixNs: mapped(read('startTimeMax', 'start_time_max'), rfc3339Ns),
    minDurationNs: mapped(read('durationMin', 'duration_min'), durationNs),
    maxDurationNs: mapped(read('durationMax', 'duration_max'), durationNs),
    ...withStatus(mapped(pick(query, 'query.attributes'), textMap) ?? {}),
    limit: mapped(limit, (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_LIMIT, maxTraces),
  });
};

/** The parameters of the older /api/traces. */
export const v1Search = (query: URLSearchParams, maxTraces: number): TraceSearch => {
  const service = pick(query, 'service');
  if (service === undefined) throw new HttpError(400, 'the parameter service is required');
  const tags: (readonly [key: string, value: string])[] = [];
  for (const tag of query.getAll('tag')) {
    const at = tag.indexOf(':');
    if (at < 0) throw new HttpError(400, 'the parameter tag must be key:value');
    tags.push([tag.slice(0, at), tag.slice(at + 1)]);
  }
  for (const map of query.getAll('tags')) if (map !== '') tags.push(...Object.entries(textMap(['tags', map])));
  return checked({
    service: service[1],
    name: pick(query, 'operation')?.[1],
    fromUnixNs: mapped(pick(query, 'start'), microsecondsNs),
    toUnixNs: mapped(pick(query, 'end'), microsecondsNs),
    minDurationNs: mapped(pick(query, 'minDuration'), durationNs),
    maxDurationNs: mapped(pick(query, 'maxDuration'), durationNs),
    // Keys may be any text, `__proto__` too: an assignment would lose it, and with it a condition.
    ...withStatus(Object.fromEntries(tags)),
    limit:
      mapped(pick(query, 'limit'), (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_LIMIT, maxTraces),
  });
};
