// How a context travels in the headers of HTTP and the like. Reading takes what strangers send: it must never throw.
import { getOrMake } from '../base/maps/maps.js';
import { Counter, count } from '../rows/counters.js';
import type { Span } from '../span/span.js';
import { SpanContext } from '../span/span-context.js';
import { quiet } from './channel.js';

/** Headers as servers have them: names in lower case. */
export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the context of a caller from headers, and writes ours into those of a call. */
export interface Propagator {
  /** Undefined when the headers bring none. */
  extract(headers: IncomingHeaders): SpanContext | undefined;
  /** What else the headers bring: a context of OpenTelemetry's API, with baggage, that is active while the request is answered. */
  carried?(headers: IncomingHeaders): object | undefined;
  /**
   * Names of the headers that hold a context, in lower case: a request that is sent has those of its own context alone. Where it is not said, they are
   * those that `inject` writes.
   */
  fields?(): readonly string[];
  /** Calls `set` for each header. */
  inject(context: SpanContext, set: (name: string, value: string) => void): void;
}

/** W3C Trace Context: `traceparent` and `tracestate`. */
export const w3c: Propagator = {
  fields: () => ['traceparent', 'tracestate'],
  extract: ({ traceparent, tracestate }) =>
    traceparent === undefined ? undefined : SpanContext.fromTraceparent(traceparent, tracestate),
  inject(context, set) {
    set('traceparent', context.toTraceparent());
    if (context.traceState !== '') set('tracestate', context.traceState);
  },
};

/** The context that headers bring. What a propagator throws, which may be the program's, is counted: work begins, and its span ends, without it. */
export const extractFrom = (propagator: Propagator, headers: IncomingHeaders): SpanContext | undefined => {
  try {
    return propagator.extract(headers);
  } catch {
    count(Counter.instrumentationErrors);
    return undefined;
  }
};

/** What else they bring. */
export const carriedBy = (propagator: Propagator, headers: IncomingHeaders): object | undefined => {
  try {
    return propagator.carried?.(headers);
  } catch {
    count(Counter.instrumentationErrors);
    return undefined;
  }
};

/** A place in a trace: of the start of one, which has no span, most propagators write nothing. */
const PLACE = `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`;

const known = new WeakMap<Propagator, readonly string[]>();

/** Names of the headers in which `propagator` writes a context, in lower case. */
export const headersOf = (propagator: Propagator): readonly string[] => getOrMake(known, propagator, readHeaders);

const readHeaders = (propagator: Propagator): readonly string[] => {
  const names: string[] = [];
  try {
    if (propagator.fields !== undefined) return propagator.fields().map((name) => name.toLowerCase());
    const place = SpanContext.fromTraceparent(PLACE, 'state=1') as SpanContext;
    propagator.inject(place, (name) => void names.push(name.toLowerCase()));
  } catch {
    // Counted where it is to write one.
  }
  return names;
};

/**
 * Write the context of `span`, when it has one. A propagator and what it writes are the program's, and baggage a stranger's: what is refused is left out
 * and counted, and neither the call nor its span ends by it. `remove` is for a request that may have the context of another call: no header of
 * that may stay beside ours.
 */
export const injectSpan = (
  propagator: Propagator,
  span: Span,
  set: (name: string, value: string) => void,
  remove?: (name: string) => void,
): void => {
  const { context } = span;
  if (context === undefined) return;
  if (remove !== undefined) headersOf(propagator).forEach(quiet(remove));
  try {
    propagator.inject(context, quiet(set));
  } catch {
    count(Counter.instrumentationErrors);
  }
};
