// What a context of OpenTelemetry's API contains where a program has made one current without a span of ours: that nothing may be traced, or which
// span of elsewhere is the parent; and what is current in untraced work. By the API's keys, so that it need not be there.
import { SpanQueue } from '../local-span/local-span.js';
import { contexts } from '../otel/api-values.js';
import { Span } from '../span/span.js';
import { SpanContext } from '../span/span-context.js';

// Keys of the API are symbols of the whole process, so that all its copies share them.
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

interface OtherSpan {
  spanContext(): {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
    readonly traceState?: { serialize(): string };
  };
}

const valueIn = (context: object, key: symbol): unknown =>
  (context as { getValue?(key: symbol): unknown }).getValue?.(key);

export const isSuppressing = (context: object): boolean => valueIn(context, SUPPRESS_TRACING) === true;

/** The place of the span in it; undefined without one, and for one that is nowhere. */
export const parentIn = (context: object): SpanContext | undefined => {
  const span = valueIn(context, SPAN) as OtherSpan | undefined;
  if (span === undefined) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  return SpanContext.fromTraceparent(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize());
};

/**
 * Current in untraced work, with all that it calls: a queue whose span is not a span. It is also visible to libraries that trace by OpenTelemetry's
 * API.
 */
export const IGNORED = new SpanQueue(Span.noop(), false);

IGNORED.context = contexts.root.setValue(SUPPRESS_TRACING, true);
