// How a context travels in the headers of HTTP and the like. Reading takes what strangers send: it must never throw.
import type { Span } from '../span/span.js';
import { SpanContext } from '../span/span-context.js';

/** Headers as servers have them: names in lower case. */
export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the context of a caller from headers, and writes ours into those of a call. */
export interface Propagator {
  /** Undefined when the headers bring none. */
  extract(headers: IncomingHeaders): SpanContext | undefined;
  /** What else the headers bring: a context of OpenTelemetry's API, with baggage, that is active while the request is answered. */
  carried?(headers: IncomingHeaders): object | undefined;
  /** Calls `set` for each header. */
  inject(context: SpanContext, set: (name: string, value: string) => void): void;
}

/** W3C Trace Context: `traceparent` and `tracestate`. */
export const w3c: Propagator = {
  extract: ({ traceparent, tracestate }) =>
    traceparent === undefined ? undefined : SpanContext.fromTraceparent(traceparent, tracestate),
  inject(context, set) {
    set('traceparent', context.toTraceparent());
    if (context.traceState !== '') set('tracestate', context.traceState);
  },
};

/** Write the context of `span`, when it has one. */
export const injectSpan = (propagator: Propagator, span: Span, set: (name: string, value: string) => void): void => {
  const { context } = span;
  if (context !== undefined) propagator.inject(context, set);
};
