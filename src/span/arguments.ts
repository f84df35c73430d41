// What programs give the recording API, with types or without: how a span starts, its parents, context, kind, status, links and errors. What cannot
// be what was meant is counted, said once with the call that was meant, and taken as left out. Nothing here may throw, whatever a getter or a proxy
// does.
import type { EventEmitter } from 'node:events';
import { attempt } from '../base/calls/attempt.js';
import type { LocalBatch, LocalSpans } from '../local-span/local-collector.js';
import { Counter, count, wrongArgument } from '../rows/counters.js';
import {
  guarded,
  keptProperties,
  type Link,
  type PendingLink,
  type Properties,
  type SpanKind,
  type StatusCode,
} from '../rows/property.js';
import { Flag, KINDS, STATUS_CODES } from '../rows/row-chunk.js';
import type { SpanScope } from '../rows/row-text.js';
import type { RootCollector, TraceSink } from './active-trace.js';
import { parseSpanId, parseTraceId, type SpanContext } from './span-context.js';

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
  readonly collector?: RootCollector;
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

/** Where the traces of the collector go that options name. */
export const sinkArgument = (options: RootOptions | undefined | null): TraceSink | undefined => {
  if (options === undefined || options === null) return undefined;
  try {
    const { collector } = options;
    if (collector === undefined || collector === null) return undefined;
    const { life } = collector;
    if (typeof life.sampler === 'function' && typeof life.limits === 'object' && typeof life.opened === 'function')
      return life;
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

/** Type, message and stack of a thrown value. A getter or toString that throws leaves its property out. */
export const exceptionProperties = (error: unknown): Properties => {
  if (typeof error !== 'object' || error === null) {
    return { 'exception.type': typeof error, 'exception.message': guarded(() => String(error)) };
  }
  return {
    'exception.type': textOf(error as Error, 'name'),
    'exception.message': textOf(error as Error, 'message'),
    'exception.stacktrace': textOf(error as Error, 'stack'),
  };
};

const textOf = (error: Error, key: 'name' | 'message' | 'stack'): string | undefined => {
  const value: unknown = guarded(() => error[key]);
  return typeof value === 'string' ? value : undefined;
};

/** The message of a thrown value, for a status; undefined when it has none. */
export const errorMessage = (error: unknown): string | undefined =>
  exceptionProperties(error)['exception.message'] as string | undefined;

const STATUS_BITS = Flag.statusMask << Flag.statusShift;

/** The flags with a kind. */
export const withKind = (flags: number, kind: SpanKind): number => {
  const number = KINDS.indexOf(kind);
  if (number >= 0) return (flags & ~Flag.kindMask) | number;
  wrongArgument(`The kind of a span is one of ${KINDS.join(', ')}.`);
  return flags;
};

/** The flags with a status. */
export const withStatus = (flags: number, code: StatusCode, message: unknown): number => {
  const number = STATUS_CODES.indexOf(code);
  if (number < 0 || (message !== undefined && typeof message !== 'string')) {
    wrongArgument("setStatus takes 'ok', 'error' or 'unset' and a text: span.setStatus('error', error.message).");
  }
  return (flags & ~STATUS_BITS) | (Math.max(0, number) << Flag.statusShift);
};

// A program may hand on anything.
const wholeCount = (value: unknown): number =>
  Number.isInteger(value) ? Math.min(Math.max(0, value as number), 0x7fff_ffff) : 0;

/** A link with its fields read once; without ids when they are not ids. */
export const pendingLink = (
  to: SpanContext | Link,
  properties: Properties | (() => Properties) | undefined,
): PendingLink => {
  try {
    const { traceId, spanId, traceState } = to;
    const trace = parseTraceId(traceId);
    const span = parseSpanId(spanId);
    if (trace !== undefined && span !== undefined) {
      return {
        ids: [...trace, ...span],
        traceState: typeof traceState === 'string' ? traceState : '',
        properties: keptProperties(properties ?? (to as Link).properties),
        dropped: wholeCount((to as Link).droppedAttributesCount),
      };
    }
  } catch {
    // Counted below.
  }
  count(Counter.linksInvalid);
  return { ids: null, traceState: '', properties: null, dropped: 0 };
};
