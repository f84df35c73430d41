// Zipkin's B3, as one header or as several, as a propagator of OpenTelemetry's API. A header that breaks the format is as if there were none.
import type { Context, SpanContext, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { getSpanContext, isSpanContextValid, setSpanContext } from '../api-values.js';
import { isSuppressed } from '../otel-context.js';
import { firstOf, ids } from './header-values.js';

const SINGLE = 'b3';
const TRACE_ID = 'x-b3-traceid';
const SPAN_ID = 'x-b3-spanid';
const SAMPLED = 'x-b3-sampled';
const FLAGS = 'x-b3-flags';

const FORM = /^([0-9a-fA-F]{32}|[0-9a-fA-F]{16})-([0-9a-fA-F]{16})(?:-([01d])(?:-[0-9a-fA-F]{16})?)?$/;
const MAX_LENGTH = 128;

const isYes = (decision: string | undefined): boolean => decision === '1' || decision === 'd' || decision === 'true';

const fromSingle = (header: string | undefined): SpanContext | undefined => {
  const match = header === undefined || header.length > MAX_LENGTH ? null : FORM.exec(header.trim());
  return match === null ? undefined : ids(match[1], match[2], isYes(match[3]));
};

const fromMany = <C>(carrier: C, getter: TextMapGetter<C>): SpanContext | undefined => {
  const read = (name: string): string | undefined => firstOf(getter.get(carrier, name));
  const [traceId, spanId] = [read(TRACE_ID), read(SPAN_ID)];
  if (traceId === undefined || spanId === undefined) return undefined;
  return ids(traceId, spanId, read(FLAGS) === '1' || isYes(read(SAMPLED)));
};

/** Options of {@link B3Propagator}. */
export interface B3Options {
  /** Write `X-B3-TraceId` and its like in place of `b3`. Both are read. Default false. */
  readonly multipleHeaders?: boolean;
}

/** Reads either form of B3 and writes one. */
export class B3Propagator implements TextMapPropagator {
  readonly #isMultiple: boolean;

  constructor({ multipleHeaders = false }: B3Options = {}) {
    this.#isMultiple = multipleHeaders;
  }

  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    const from = getSpanContext(context);
    if (from === undefined || isSuppressed(context) || !isSpanContextValid(from)) return;
    const sampled = (from.traceFlags & 1) === 0 ? '0' : '1';
    if (this.#isMultiple) {
      setter.set(carrier, TRACE_ID, from.traceId);
      setter.set(carrier, SPAN_ID, from.spanId);
      setter.set(carrier, SAMPLED, sampled);
    } else setter.set(carrier, SINGLE, `${from.traceId}-${from.spanId}-${sampled}`);
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    const from = fromSingle(firstOf(getter.get(carrier, SINGLE))) ?? fromMany(carrier, getter);
    return from === undefined ? context : setSpanContext(context, from);
  }

  fields(): string[] {
    return this.#isMultiple ? [TRACE_ID, SPAN_ID, SAMPLED, FLAGS] : [SINGLE];
  }
}
