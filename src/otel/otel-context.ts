// A Context of OpenTelemetry with a span of ours in it: one object, where the API's own copies a Map for each span. What else a context
// holds stays in the context it is put on, which never has such a one below it: no chain grows with nested spans.
import { type Context, createContextKey, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';

const SPAN_KEY = createContextKey('OpenTelemetry Context Key SPAN');
const SUPPRESS_KEY = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

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

// The key is the API's own affair. Where it is another one, its way is taken.
const knowsKey =
  trace.getSpan(new SpanInContext(ROOT_CONTEXT, trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 }))) !==
  undefined;

/** The context with another span. */
export const contextWithSpan = (context: Context, span: Span): Context => {
  if (!knowsKey) return trace.setSpan(context, span);
  if (context instanceof SpanInContext) return new SpanInContext(context.base, span);
  return new SpanInContext(context.getValue(SPAN_KEY) === undefined ? context : trace.deleteSpan(context), span);
};

/** The span in it. */
export const spanOf = (context: Context): Span | undefined =>
  context instanceof SpanInContext ? context.span : trace.getSpan(context);

/** True where an exporter or a library asks that nothing is traced. */
export const isSuppressed = (context: Context): boolean => {
  const base = context instanceof SpanInContext ? context.base : context;
  return base !== ROOT_CONTEXT && base.getValue(SUPPRESS_KEY) === true;
};
