// SpanlineTracer: starts spans of ours where OpenTelemetry's API asks for one. What is below a span of ours is its child; what is below
// another's, or below none, is a root of ours.
//
// Where spans go that a sampler wants recorded and not sampled: processors see them, nobody gets them, and their contexts go out as not sampled.

import type { Context, Span, SpanContext, SpanOptions, Tracer } from '@opentelemetry/api';
import { state } from '../context/process-state.js';
import { enteredQueue } from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import { guarded } from '../rows/property.js';
import { KINDS } from '../rows/row-chunk.js';
import { RowStore } from '../rows/row-store.js';
import { internScope, type SpanScope } from '../rows/row-text.js';
import { type ActiveTrace, defaultSink, type RootCollector, type TraceSink } from '../span/active-trace.js';
import { Span as CoreSpan } from '../span/span.js';
import { SpanContext as CoreContext, parseSpanId, parseTraceId } from '../span/span-context.js';
import { currentContext, runWith } from './api-global.js';
import {
  deleteSpan,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  KIND_INTERNAL,
  stateText,
  wrapSpanContext,
} from './api-values.js';
import { type AttributeLimits, attributesToProperties } from './attributes.js';
import { activeContext } from './context-manager.js';
import { contextWithSpan, isSuppressed, spanOf } from './otel-context.js';
import { coreOf, OtelSpan } from './otel-span.js';
import { ProcessedSpan } from './processed-span.js';
import type { OtelIdGenerator, OtelSampler, OtelSpanProcessor } from './sdk-interfaces.js';
import { toTicks } from './time-input.js';

// Rows of a chunk.
const ROWS_OF_ONE = 64;

const watched = new WeakMap<TraceSink, TraceSink>();

const discard = (trace: ActiveTrace): void => trace.discard();

/** One for each collector, with its bounds and its resource, as they are set. */
export const watchedSink = (of: TraceSink): TraceSink => {
  let sink = watched.get(of);
  if (sink === undefined) {
    sink = {
      get sampler() {
        return of.sampler;
      },
      get limits() {
        return of.limits;
      },
      // One a trace, which goes with its handles: a root that never ends is in no bound.
      get rows() {
        return new RowStore(ROWS_OF_ONE);
      },
      reportsNothing: true,
      get resource() {
        return of.resource;
      },
      opened() {},
      ended: discard,
      cancelled(trace) {
        count(Counter.tracesCancelled);
        trace.discard();
      },
      grew() {},
      outcomeOf: () => 'dropped',
      returned() {},
    };
    watched.set(of, sink);
  }
  return sink;
};

/** What the tracers of a provider have alike. */
export interface TracerSettings {
  /** The collector that gets the traces; the default one when undefined. */
  readonly collector: RootCollector | undefined;
  /** Asked for every span; undefined leaves it to the collector, which is asked for every root. */
  readonly sampler: OtelSampler | undefined;
  readonly idGenerator: OtelIdGenerator | undefined;
  readonly processors: readonly OtelSpanProcessor[];
  readonly limits: AttributeLimits;
}

const NO_OPTIONS: SpanOptions = Object.freeze({});
const SAMPLED = 1;
const RANDOM = 2;
const RECORD = 1;
const RECORD_AND_SAMPLED = 2;
/** Of a sampler that throws: against it, as that of a collector. */
const UNDECIDED: ReturnType<OtelSampler['shouldSample']> = Object.freeze({ decision: 0 });

const current = (): Context => (state.carriesContexts ? activeContext() : currentContext());

/** The place that a span of another library names; undefined when it names none. */
const toCoreContext = (from: SpanContext | undefined): CoreContext | undefined => {
  if (from === undefined) return undefined;
  const traceId = parseTraceId(from.traceId);
  const spanId = parseSpanId(from.spanId);
  if (traceId === undefined || spanId === undefined) return undefined;
  const { traceFlags, isRemote = false, traceState } = from;
  const [w0, w1, w2, w3] = traceId;
  const [idHi, idLo] = spanId;
  const [sampled, isRandom] = [(traceFlags & SAMPLED) !== 0, (traceFlags & RANDOM) !== 0];
  const members = stateText(traceState) ?? '';
  return new CoreContext(w0, w1, w2, w3, idHi, idLo, sampled, isRemote, members, isRandom);
};

const validContext = (span: Span | undefined): SpanContext | undefined => {
  const context = span?.spanContext();
  return context !== undefined && isSpanContextValid(context) ? context : undefined;
};

const withTraceState = (context: CoreContext, traceState: string): CoreContext => {
  const { w0, w1, w2, w3, idHi, idLo, sampled, isRemote, isRandom } = context;
  return new CoreContext(w0, w1, w2, w3, idHi, idLo, sampled, isRemote, traceState, isRandom);
};

/** Also through one that takes a trace of the collector for whoever asked for it. */
const goesTo = (sink: TraceSink, of: TraceSink): boolean => sink === of || sink.of === of;

export class SpanlineTracer implements Tracer {
  private readonly scope: number;

  constructor(
    /** The library that records through it. */
    readonly instrumentationScope: SpanScope,
    private readonly settings: TracerSettings,
  ) {
    this.scope = internScope(instrumentationScope);
  }

  startSpan(name: string, given?: SpanOptions, around?: Context): Span {
    const options = given ?? NO_OPTIONS;
    const context = around ?? current();
    const { sampler, processors, limits } = this.settings;
    if (isSuppressed(context)) return wrapSpanContext(INVALID_SPAN_CONTEXT);
    const parent = options.root === true ? undefined : spanOf(context);
    // What is below a span that does not record passes its place on.
    if (sampler === undefined && parent !== undefined && coreOf(parent)?.trace === null) return parent;
    const started =
      sampler === undefined ? this.#start(name, parent) : this.#sampled(sampler, name, options, context, parent);
    if (!(started instanceof CoreSpan)) return started;
    if (started.trace === null) return new OtelSpan(started, limits);
    started.setScope(this.scope);
    if (processors.length === 0) {
      const span = new OtelSpan(started, limits);
      if (options !== NO_OPTIONS) this.#describe(span, options);
      return span;
    }
    const span = new ProcessedSpan(started, limits, validContext(parent), this.instrumentationScope, processors);
    this.#describe(span, options);
    span.started(context);
    return span;
  }

  startActiveSpan<F extends (span: Span) => unknown>(name: string, fn: F): ReturnType<F>;
  startActiveSpan<F extends (span: Span) => unknown>(name: string, options: SpanOptions, fn: F): ReturnType<F>;
  startActiveSpan<F extends (span: Span) => unknown>(
    name: string,
    options: SpanOptions,
    context: Context,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan(name: string, ...rest: unknown[]): unknown {
    const fn = rest.at(-1);
    if (typeof fn !== 'function') return undefined;
    const options = rest.length > 1 ? (rest[0] as SpanOptions | undefined) : undefined;
    const context = (rest.length > 2 ? (rest[1] as Context | undefined) : undefined) ?? current();
    const span = this.startSpan(name, options, context);
    return runWith(contextWithSpan(context, span), fn as (span: Span) => unknown, span);
  }

  #start(name: string, parent: Span | undefined): CoreSpan {
    const core = coreOf(parent);
    if (core !== undefined) return this.#child(name, core);
    const { collector } = this.settings;
    const from = this.#origin(parent);
    const root = CoreSpan.root(name, from, collector === undefined ? undefined : { collector });
    return this.#identified(root);
  }

  // Under the innermost local span that is open, where the parent is what is current.
  #child(name: string, parent: CoreSpan): CoreSpan {
    const queue = enteredQueue();
    const isCurrent = queue !== undefined && queue.nextParent !== null && queue.mount === parent;
    return this.#identified(isCurrent ? CoreSpan.startWithLocalParent(name) : CoreSpan.start(name, parent));
  }

  /** Where a root begins: below the span of another library, or with a new trace. */
  #origin(parent: Span | undefined): CoreContext {
    const from = toCoreContext(parent?.spanContext());
    if (from !== undefined) return from;
    const { idGenerator } = this.settings;
    const made =
      idGenerator === undefined ? undefined : guarded(() => CoreContext.fromTraceId(idGenerator.generateTraceId()));
    return made ?? CoreContext.random();
  }

  #identified(span: CoreSpan): CoreSpan {
    const { idGenerator } = this.settings;
    if (idGenerator === undefined || span.trace === null) return span;
    const id = guarded(() => parseSpanId(idGenerator.generateSpanId()));
    if (id !== undefined) span.identify(...id);
    return span;
  }

  #sampled(
    sampler: OtelSampler,
    name: string,
    options: SpanOptions,
    context: Context,
    parent: Span | undefined,
  ): CoreSpan | Span {
    const sink = this.settings.collector?.life ?? defaultSink();
    if (!state.enabled || sink === undefined) return CoreSpan.noop();
    const core = coreOf(parent);
    const above = core?.context;
    const origin = above ?? this.#origin(parent);
    const { attributes, links, kind } = options;
    const asked = options.root === true ? deleteSpan(context) : context;
    const result =
      guarded(() =>
        sampler.shouldSample(asked, origin.traceId, name, kind ?? KIND_INTERNAL, { ...attributes }, links ?? []),
      ) ?? UNDECIDED;
    const traceState = stateText(result.traceState) ?? origin.traceState;
    const from = traceState === origin.traceState ? origin : withTraceState(origin, traceState);
    const isSampled = result.decision === RECORD_AND_SAMPLED;
    // What is recorded for processors alone is nothing where there are none.
    if (!isSampled && (result.decision !== RECORD || this.settings.processors.length === 0)) {
      return new CoreSpan(null, name, 0, 0, true, from.withSampled(false));
    }
    // A trace has one state: a span that is given another one begins a part of its own.
    const isSame = from === origin && core?.trace != null && goesTo(core.trace.sink, sink) && !core.isDiscarded;
    const isChild = isSampled && isSame;
    const span = isChild
      ? this.#child(name, core)
      : this.#identified(
          CoreSpan.recordedRoot(name, from.withSampled(isSampled), isSampled ? sink : watchedSink(sink)),
        );
    for (const [key, value] of Object.entries(
      attributesToProperties(result.attributes, this.settings.limits.text) ?? {},
    )) {
      if (value !== undefined) span.setProperty(key, value);
    }
    return span;
  }

  #describe(span: OtelSpan, { kind, attributes, links, startTime }: SpanOptions): void {
    const { spanlineSpan } = span;
    if (startTime !== undefined && spanlineSpan.trace !== null) {
      spanlineSpan.begin = toTicks(startTime, spanlineSpan.trace);
    }
    if (typeof kind === 'number' && kind !== KIND_INTERNAL) spanlineSpan.setKind(KINDS[kind] ?? 'internal');
    if (attributes !== undefined) span.setAttributes(attributes);
    if (links) span.addLinks(links);
  }
}
