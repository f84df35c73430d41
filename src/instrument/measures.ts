// What instrumentations measure calls by: durations of all of them, whether or not they have spans. While metrics are off it is one look at the state of the
// process, and nothing of `src/metrics` is loaded.
import type { Context } from '@opentelemetry/api';
import { state } from '../context/process-state.js';
import { enteredQueue } from '../local-span/local-span.js';
import type { DatabaseOperation, LibraryMetrics } from '../metrics/library-metrics.js';
import { isSuppressed } from '../otel/otel-context.js';
import { Span } from '../span/span.js';
import { callError } from './http/request-properties.js';
import { knownMethod, type Sent, serverOf } from './http/url.js';

/** Undefined while metrics are off. */
export const measures = (): LibraryMetrics | undefined => state.measures as LibraryMetrics | undefined;

/** The same for a call that is made now: undefined in work that the program has ignored, whose calls are not measured either. */
export const measuresOfCall = (): LibraryMetrics | undefined => {
  const metrics = measures();
  if (metrics === undefined) return undefined;
  const queue = enteredQueue();
  const isIgnored = queue?.mount === Span.noop() && queue.context !== null && isSuppressed(queue.context as Context);
  return isIgnored ? undefined : metrics;
};

/** A request sent that is measured. */
export interface MeasuredRequest {
  readonly metrics: LibraryMetrics;
  /** In ticks. */
  readonly begin: number;
  /** Of the protocol, where it is known before the answer. */
  version?: string;
}

/** Measures a request that is sent now. */
export const measureRequest = (): MeasuredRequest | undefined => {
  const metrics = measuresOfCall();
  return metrics === undefined ? undefined : { metrics, begin: metrics.begin() };
};

/** The end of that request to the server of `sent`: its status, what it failed by, the version of the protocol. */
export const measureAnswer = (
  { metrics, begin }: MeasuredRequest,
  method: string,
  sent: Sent,
  outcome: { readonly status: number | undefined; readonly failure: unknown; readonly version: string | undefined },
  span: Span | undefined,
): void => {
  const [host, port] = serverOf(sent);
  const { status, failure, version } = outcome;
  const errorType = callError(status, failure);
  metrics.clientEnded(begin, { method: knownMethod(method), host, port }, { status, errorType, version }, span);
};

/** A call to a database that is measured, with the span that it may have. Used as a span is: it records until its end. */
export class MeasuredCall {
  readonly span: Span | undefined;
  readonly #metrics: LibraryMetrics;
  readonly #call: DatabaseOperation;
  readonly #begin: number;
  #isOver = false;

  constructor(metrics: LibraryMetrics, call: DatabaseOperation, span: Span | undefined) {
    this.#metrics = metrics;
    this.#call = call;
    this.span = span;
    this.#begin = metrics.begin();
  }

  get isRecording(): boolean {
    return !this.#isOver;
  }

  /** Once; `seconds` where its duration is known. */
  measure(errorType: string | undefined, status: string | undefined, seconds?: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const outcome = { status, errorType };
    this.#metrics.databaseEnded(this.#begin, this.#call, outcome, this.span, seconds);
  }

  /** Ends its span, where it has one. */
  endForGood(): void {
    this.span?.endForGood();
  }
}

/** What a call begins: a span, or one that is measured. */
export type Begun = Span | MeasuredCall;

/** The span of a call; undefined where it is only measured. */
export const spanOf = (begun: Begun): Span | undefined => (begun instanceof MeasuredCall ? begun.span : begun);
