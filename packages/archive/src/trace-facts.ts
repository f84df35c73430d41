// What is said of a trace whose spans are at hand, beyond its summary.
import { type ArchivedSpan, propertyOf } from 'spanline/internal/record';

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

/** The status code of HTTP that a span has; formats without numbers have it as text. */
export const httpStatusOf = ({ properties }: Pick<ArchivedSpan, 'properties'>): number | undefined => {
  for (const key of HTTP_STATUS_KEYS) {
    const value = propertyOf(properties, key);
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number') return status;
  }
  return undefined;
};
