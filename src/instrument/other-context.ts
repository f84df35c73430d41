// Which span of elsewhere is the parent, where a program has made a context of OpenTelemetry's API current without a span of ours; and what is current in
// untraced work.
import type { Context, SpanContext as Place } from '@opentelemetry/api';
import { SpanQueue } from '../local-span/local-span.js';
import { contexts, getSpanContext } from '../otel/api-values.js';
import { SUPPRESS_KEY } from '../otel/otel-context.js';
import { Span } from '../span/span.js';
import { SpanContext } from '../span/span-context.js';

/** The place of the span in it; undefined without one, and for one that is nowhere. */
export const parentIn = (context: object): SpanContext | undefined => {
  const place = getSpanContext(context as Context);
  return place === undefined ? undefined : fromPlace(place);
};

/** A place of OpenTelemetry's API as a context that came from elsewhere; undefined for one that is nowhere. */
export const fromPlace = ({ traceId, spanId, traceFlags, traceState }: Place): SpanContext | undefined => {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  return SpanContext.fromTraceparent(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize());
};

/**
 * Current in untraced work, with all that it calls: a queue whose span is not a span. It is also visible to libraries that trace by OpenTelemetry's
 * API.
 */
export const IGNORED = new SpanQueue(Span.noop(), false);

IGNORED.context = contexts.root.setValue(SUPPRESS_KEY, true);
