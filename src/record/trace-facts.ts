// What is said of a trace whose spans are at hand, beyond its summary.
import type { ArchivedSpan, ArchivedValue } from './archived-span.js';
import { propertyOf } from './properties.js';

/** What OpenTelemetry calls a service whose name nobody gave. */
export const UNKNOWN_SERVICE = 'unknown_service';

/** The name of a service as it is shown: in files one that has none is ''. */
export const shownName = (service: string, unnamed = UNKNOWN_SERVICE): string => (service === '' ? unnamed : service);

export const serviceOf = ({ resource }: Pick<ArchivedSpan, 'resource'>): string => {
  const name = propertyOf(resource.properties, 'service.name');
  return shownName(typeof name === 'string' ? name : '');
};

/** The keys of a status code of HTTP: that of now, and that of before. */
const HTTP_STATUS_KEYS = ['http.response.status_code', 'http.status_code'];

/** The status code of HTTP among properties that are read by `find`; formats without numbers have it as text. */
export const httpStatusBy = (find: (key: string) => ArchivedValue | undefined): number | undefined => {
  for (const key of HTTP_STATUS_KEYS) {
    const value = find(key);
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number') return status;
  }
  return undefined;
};

/** The status code of HTTP that a span has. */
export const httpStatusOf = ({ properties }: Pick<ArchivedSpan, 'properties'>): number | undefined =>
  httpStatusBy((key) => propertyOf(properties, key));

/** Ids of parents that are not among the spans. */
export const absentParents = (spans: readonly Pick<ArchivedSpan, 'spanId' | 'parentSpanId'>[]): string[] => {
  const present = new Set(spans.map(({ spanId }) => spanId));
  return [
    ...new Set(spans.map(({ parentSpanId }) => parentSpanId).filter((parent) => parent !== '' && !present.has(parent))),
  ];
};

/** Services with the number of their spans, the busiest first. */
export const servicesOf = (spans: readonly Pick<ArchivedSpan, 'resource'>[]): [service: string, spans: number][] => {
  const counts = new Map<string, number>();
  for (const span of spans) counts.set(serviceOf(span), (counts.get(serviceOf(span)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};
