// A Context of OpenTelemetry with a span of ours in it: one object, where the API's own copies a Map for each span. What else a context
// holds stays in the context it is put on, which never has such a one below it: no chain grows with nested spans.
import type { Context, Span } from '@opentelemetry/api';
import { contexts, deleteSpan, getSpan, SPAN_KEY } from './api-values.js';

export const SUPPRESS_KEY = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

export class SpanInContext implements Context {
  constructor(
    readonly base: Context,
    readonly span: Span,
  ) {}

  getValue(key: symbol): unknown {
    return key === SPAN_KEY ? this.span : this.base.getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    if (key === SPAN_KEY) return new SpanInContext(this.base, value as Span);
    return new SpanInContext(this.base.setValue(key, value), this.span);
  }

  deleteValue(key: symbol): Context {
    if (key === SPAN_KEY) return this.base;
    return new SpanInContext(this.base.deleteValue(key), this.span);
  }
}

/** The context with another span. */
export const contextWithSpan = (context: Context, span: Span): Context => {
  if (context instanceof SpanInContext) return new SpanInContext(context.base, span);
  return new SpanInContext(context.getValue(SPAN_KEY) === undefined ? context : deleteSpan(context), span);
};

/** The span in it. */
export const spanOf = (context: Context): Span | undefined =>
  context instanceof SpanInContext ? context.span : getSpan(context);

/** True where an exporter or a library asks that nothing is traced. */
export const isSuppressed = (context: Context): boolean => {
  const base = context instanceof SpanInContext ? context.base : context;
  return base !== contexts.root && base.getValue(SUPPRESS_KEY) === true;
};
