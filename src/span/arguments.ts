// Arguments of the recording API as programs without types give them. What cannot be what was meant is counted, said once
// with the call that was meant, and taken as left out. Nothing here may throw, whatever a getter or a proxy does.
//
// What a span is started with.

import type { EventEmitter } from 'node:events';
import { attempt } from '../base/calls/attempt.js';
import type { LocalBatch } from '../local-span/local-batch.js';
import type { LocalSpans } from '../local-span/local-collector.js';
import { wrongArgument } from '../local-span/misuse.js';
import { Counter, count } from '../rows/counters.js';
import type { SpanScope } from '../rows/name-table.js';
import type { Properties } from '../rows/property.js';
import type { TraceSink } from './active-trace.js';
import type { SpanContext } from './span-context.js';
import type { SpanKind } from './span-types.js';

/** How a span starts. */
export interface SpanOptions {
  readonly kind?: SpanKind;
  /** An object, or a callback that runs only when the span records. */
  readonly properties?: Properties | (() => Properties);
  /** @internal The library that records it, where it is not this one. */
  readonly scope?: SpanScope;
}

/** How a root starts. */
export interface RootOptions extends SpanOptions {
  /** The collector that gets this trace; the default collector when left out. */
  readonly collector?: TraceSink;
}

/** What marks a span. The class is above this file, which reads its arguments. */
export interface SpanLike {
  readonly isSpan: boolean;
  readonly trace: { readonly write: unknown } | null;
  readonly mountShared: unknown;
  readonly context: SpanContext | undefined;
}

/** Not instanceof: the span may come from the other build of this package. */
export const isSpan = (value: unknown): value is SpanLike => {
  try {
    const { isSpan: isMarked, mountShared, trace } = value as SpanLike;
    if (isMarked !== true || typeof mountShared !== 'function') return false;
    return trace === null || typeof trace.write === 'function';
  } catch {
    return false;
  }
};

const isWord = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

/** Read without a throw: a context of either build of this package. */
export const isContext = (value: unknown): value is SpanContext => {
  try {
    const { w0, w1, w2, w3, idHi, idLo, sampled, isRemote, traceState, unsampledChild } = value as SpanContext;
    const hasWords = isWord(w0) && isWord(w1) && isWord(w2) && isWord(w3) && isWord(idHi) && isWord(idLo);
    if (!hasWords || (w0 | w1 | w2 | w3) === 0) return false;
    // A structured clone has the fields but not the methods.
    return (
      typeof sampled === 'boolean' &&
      typeof isRemote === 'boolean' &&
      typeof traceState === 'string' &&
      typeof unsampledChild === 'function'
    );
  } catch {
    return false;
  }
};

const has = (value: unknown, ...keys: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && keys.some((key) => key in value);

const isHeader = (value: unknown): boolean =>
  typeof value === 'string' || Array.isArray(value) || has(value, 'traceparent');

const contextRemedy = (given: unknown): string => {
  if (isSpan(given)) return 'Span.root got a span for a context: a child of it is Span.start(name, span).';
  if (isHeader(given)) {
    return 'Span.root got a header for a context: Span.root(name, SpanContext.fromTraceparent(traceparent, tracestate)).';
  }
  if (ArrayBuffer.isView(given) || has(given, 'w0')) {
    return 'Span.root got a context in transit: send contextForWorker(), then Span.root(name, contextFromWorker(bytes)).';
  }
  if (has(given, 'kind', 'properties', 'collector')) {
    return 'Span.root got options for a context: Span.root(name, undefined, options).';
  }
  return 'Span.root(name, context, options) takes a SpanContext: SpanContext.random(), or undefined for a new trace.';
};

/** The context of a new root; undefined when there is none, and then the trace is a new one. */
export const contextArgument = (given: unknown): SpanContext | undefined => {
  if (given === undefined || given === null) return undefined;
  if (isContext(given)) return given;
  wrongArgument(attempt(() => contextRemedy(given)) ?? contextRemedy(undefined));
  return undefined;
};

/** The collector that options name. */
export const sinkArgument = (options: RootOptions | undefined | null): TraceSink | undefined => {
  if (options === undefined || options === null) return undefined;
  try {
    const { collector } = options;
    if (collector === undefined || collector === null) return undefined;
    const { sampler, limits, opened } = collector;
    if (typeof sampler === 'function' && typeof limits === 'object' && typeof opened === 'function') return collector;
  } catch {
    // Said below.
  }
  wrongArgument('The option "collector" of Span.root takes a Collector: new Collector(), with the reporter set on it.');
  return undefined;
};

const parentRemedy = (given: unknown): string => {
  if (isContext(given))
    return 'Span.start got a context for a parent: a trace begins there with Span.root(name, context).';
  if (isHeader(given)) {
    return 'Span.start got a header for a parent: Span.root(name, SpanContext.fromTraceparent(traceparent, tracestate)).';
  }
  if (has(given, 'kind', 'properties')) {
    return 'Span.start got options for a parent: Span.startWithLocalParent(name, options), or Span.start(name, parent, options).';
  }
  return 'Span.start(name, parent, options) takes a Span or an array of spans; inside a local span use Span.startWithLocalParent(name).';
};

const oneParent = <S extends SpanLike>(given: S): S | undefined => {
  if (given === undefined || given === null) return undefined;
  if (isSpan(given)) return given;
  wrongArgument(attempt(() => parentRemedy(given)) ?? parentRemedy(undefined));
  return undefined;
};

/** A parent, or several: a plain array without what is none. */
export const parentArgument = <S extends SpanLike>(given: S | readonly S[]): S | readonly S[] | undefined => {
  if (isSpan(given)) return given as S;
  const many = attempt(() => (Array.isArray(given) ? [...(given as readonly S[])] : undefined));
  return many === undefined ? oneParent(given as unknown as S) : many.map(oneParent).filter((one) => one !== undefined);
};

/** The span for listeners; undefined when there is none, and then they run as without it. */
export const spanArgument = <S extends SpanLike>(given: S | undefined): S | undefined => {
  if (isSpan(given)) return given;
  if (given === undefined || given === null) count(Counter.spansWithoutParent);
  else wrongArgument('bindEmitter(emitter, span) takes a Span.');
  return undefined;
};

/** What listeners can be added to and taken from. */
export const isEmitter = (value: unknown): boolean => {
  try {
    const { on, once, off } = value as EventEmitter;
    return typeof on === 'function' && typeof once === 'function' && typeof off === 'function';
  } catch {
    return false;
  }
};

/** The parent of an iteration, when options name one. */
export const parentOption = <S extends SpanLike>(options: { readonly parent?: S } | undefined | null): S | undefined =>
  attempt(() => options?.parent);

const NO_OPTIONS: SpanOptions = {};

/** Options as plain values. */
export const optionsArgument = (options: SpanOptions): SpanOptions => {
  try {
    if (typeof options === 'object' && !isSpan(options)) {
      const { kind, properties, scope } = options;
      return { kind, properties, scope };
    }
    wrongArgument(
      'Options of a span are an object { kind, properties }; a parent is given with Span.start(name, parent, options).',
    );
  } catch {
    count(Counter.callbackErrors);
  }
  return NO_OPTIONS;
};

/** A function in place of work that has been started already, or is none: the caller still gets what it gave. */
export const workArgument = <T>(given: unknown): (() => T) => {
  const value = noFunction(given);
  return () => value as T;
};

/** Count what should be a function; gives it back. */
export const noFunction = <T>(given: T): T => {
  wrongArgument('run, runToEnd and bind of a span take a function: span.run(() => work()), not span.run(work()).');
  return given;
};

const isBatch = (value: LocalBatch): boolean =>
  Array.isArray(value.chunks) && typeof value.count === 'number' && typeof value.add === 'function';

/** Detached local spans. */
export const localSpansArgument = (given: LocalSpans): LocalSpans | undefined => {
  if (given === undefined || given === null) return undefined;
  if (attempt(() => typeof given.mountUnder === 'function' && given.batches.every(isBatch)) === true) return given;
  wrongArgument(
    'pushChildSpans and toRecords take LocalSpans: what collector.collect() gives, or the second item of LocalCollector.run(fn).',
  );
  return undefined;
};
