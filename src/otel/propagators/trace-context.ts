// W3C Trace Context, level 2, as a propagator of OpenTelemetry's API. A header that breaks the format is as if there were none.
import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { formatTraceparent, SpanContext } from '../../span/span-context.js';
import { getSpanContext, isSpanContextValid, setSpanContext } from '../api-values.js';
import { isSuppressed } from '../otel-context.js';
import { toSpanContext } from '../otel-span.js';

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

/** Reads and writes `traceparent` and `tracestate`. */
export class W3CTraceContextPropagator implements TextMapPropagator {
  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    const from = getSpanContext(context);
    if (from === undefined || isSuppressed(context) || !isSpanContextValid(from)) return;
    setter.set(carrier, TRACEPARENT, formatTraceparent(from.traceId, from.spanId, from.traceFlags));
    const state = from.traceState?.serialize();
    if (state) setter.set(carrier, TRACESTATE, state);
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    const parents = getter.get(carrier, TRACEPARENT);
    // Two of them are none.
    const parent = Array.isArray(parents) && parents.length === 1 ? parents[0] : parents;
    const from = SpanContext.fromTraceparent(parent, getter.get(carrier, TRACESTATE));
    return from === undefined ? context : setSpanContext(context, { ...toSpanContext(from), isRemote: true });
  }

  fields(): string[] {
    return [TRACEPARENT, TRACESTATE];
  }
}
