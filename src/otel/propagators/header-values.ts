// What headers of other formats than W3C's have alike: one value, and ids that may be shorter than ours. Nothing here may throw.
import type { SpanContext } from '@opentelemetry/api';
import { parseSpanId, parseTraceId } from '../../span/traceparent.js';

/** The value of a header that comes once, or the first of several. */
export const firstOf = (value: unknown): string | undefined => {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === 'string' ? one : undefined;
};

/** A remote place by its ids; undefined when they are none. */
export const ids = (traceId: string, spanId: string, isSampled: boolean): SpanContext | undefined => {
  const [trace, span] = [traceId.toLowerCase().padStart(32, '0'), spanId.toLowerCase().padStart(16, '0')];
  if (parseTraceId(trace) === undefined || parseSpanId(span) === undefined) return undefined;
  return { traceId: trace, spanId: span, traceFlags: isSampled ? 1 : 0, isRemote: true };
};
