// The parameters of the page's search as a search of the archive. A wrong one is refused by its name, never passed over.
import { HttpError } from '../../../archive/server/http-error.js';
import { durationNs, microsecondsNs, pick, wholeNumber } from '../../../archive/server/query-values.js';
import type { TraceSearch } from '../../../trace/archived-span.js';

/** Traces in a list at most. */
export const MAX_TRACES = 1500;
const DEFAULT_TRACES = 200;

const read = <T>(
  query: URLSearchParams,
  name: string,
  reader: (found: readonly [string, string]) => T,
): T | undefined => {
  const found = pick(query, name);
  return found === undefined ? undefined : reader(found);
};

const STATUSES = ['error', 'ok', 'unset'] as const;

const statusOf = ([name, text]: readonly [string, string]): TraceSearch['status'] => {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw new HttpError(400, `the parameter ${name} must be one of ${STATUSES.join(', ')}`);
  return status;
};

/** `key=value`, each a line or apart by blanks. */
const propertiesOf = ([name, text]: readonly [string, string]): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) throw new HttpError(400, `the parameter ${name} must be key=value, several apart by blanks`);
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
  );

/** `service`, `name`, `status`, `min`, `max` (durations of the trace), `from`, `to` (Unix microseconds), `properties`, `limit`. */
export const searchOf = (query: URLSearchParams, maxTraces = MAX_TRACES): TraceSearch => ({
  service: query.get('service') || undefined,
  name: query.get('name') || undefined,
  status: read(query, 'status', statusOf),
  minDurationNs: read(query, 'min', durationNs),
  maxDurationNs: read(query, 'max', durationNs),
  fromUnixNs: read(query, 'from', microsecondsNs),
  toUnixNs: read(query, 'to', microsecondsNs),
  properties: read(query, 'properties', propertiesOf),
  limit: read(query, 'limit', (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_TRACES, maxTraces),
});
