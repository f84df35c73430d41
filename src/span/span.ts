// Span: a cross-async span. Starts in one task, ends in another, has one or many parents, and is the mount point of
// local batches. Recording path: a refused or unrecorded span is a value (a no-op), never an exception.
import { now } from '../clock/index.js';
import { state } from '../context/process-state.js';
import type { LocalSpans } from '../local-span/local-collector.js';
import { enteredQueue, type QueueMount, queueStore, SpanQueue } from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import { type Properties, type PropertyValue, spanMeasures } from '../rows/property.js';
import { ActiveTrace, defaultSink, type TraceSink } from './active-trace.js';
import {
  contextArgument,
  isSpan,
  localSpansArgument,
  noFunction,
  parentArgument,
  pendingLink,
  type RootOptions,
  type SpanOptions,
  sinkArgument,
  workArgument,
} from './arguments.js';
import { RecordedSpan } from './recorded-span.js';
import { decide } from './sampler.js';
import { SpanContext } from './span-context.js';
import { runToEndUnder, runUnder, SpanGuard, TaskQueues } from './span-tasks.js';
import type { Link } from './span-types.js';
import type { TraceCollector } from './trace-collector.js';
import { Unsampled } from './unsampled.js';

/**
 * A span that may cross tasks: it lives over awaits, callbacks and threads of work.
 *
 * Start a root per request, children with {@link Span.start} or {@link Span.startWithLocalParent}, and make it the local
 * parent of a task with {@link Span.run}. Design: TiKV's minitrace.
 *
 * @example
 * ```ts
 * const root = Span.root('GET /query', SpanContext.random());
 * await root.run(async () => {
 *   const rows = await Span.startWithLocalParent('read').runToEnd(async () => [1, 2, 3]);
 *   using join = LocalSpan.start('join');
 *   join.addProperty('rows', rows.length);
 * });
 * root.end();
 * ```
 */
export class Span extends RecordedSpan implements Disposable, QueueMount {
  /** @internal */
  tasks: TaskQueues | null = null;
  // Its place among the spans that are open; -1 without one.
  private openPlace = -1;
  // Null for a span that records, and for the no-op.
  private readonly unsampled: Unsampled | null;

  /** @internal Use the static methods. */
  constructor(
    trace: ActiveTrace | null,
    name: string,
    parentHi: number,
    parentLo: number,
    isRoot: boolean,
    // Only for a span that does not record.
    unsampledContext: SpanContext | null,
  ) {
    super(trace, name, parentHi, parentLo, isRoot);
    this.unsampled = unsampledContext === null ? null : new Unsampled(unsampledContext);
    const openSpans = trace?.sink.openSpans;
    if (openSpans) this.openPlace = openSpans.add(this);
  }

  /**
   * Start a trace. The sampler decides whether it records; without a context a new random one is made. With a remote
   * context the root becomes a child of the caller's span.
   */
  static root(name: string, context?: SpanContext, options?: RootOptions): Span {
    if (!state.enabled) return NOOP_SPAN;
    const sink = sinkArgument(options) ?? defaultSink();
    return sink === undefined ? NOOP_SPAN : Span.rootIn(sink, name, context, options);
  }

  /** @internal The same with the sink in place of the one that options name. */
  static rootIn(sink: TraceSink, name: string, context?: SpanContext, options?: RootOptions): Span {
    const from = contextArgument(context) ?? SpanContext.random();
    const isSampled = decide(sink, name, from);
    if (!isSampled) {
      count(Counter.tracesUnsampled);
      if (sink.recordsAll !== true) return new Span(null, name, 0, 0, true, from);
    }
    const span = Span.recordedRoot(name, from, sink, isSampled);
    return options ? span.withOptions(options) : span;
  }

  /** @internal A recorded root; the caller has decided. */
  static recordedRoot(name: string, from: SpanContext, sink: TraceSink, isSampled = true): Span {
    count(Counter.tracesStarted);
    const trace = new ActiveTrace(from, sink, isSampled);
    sink.opened(trace);
    return new Span(trace, name, from.idHi, from.idLo, true, null);
  }

  /** Start a child of one span, or of several (a batch that serves many requests). Ended parents are fine. */
  static start(name: string, parent: Span | readonly Span[], options?: SpanOptions): Span {
    if (!state.enabled) return NOOP_SPAN;
    const from = parentArgument(parent);
    const span = Array.isArray(from) ? childOfMany(name, from) : childOf(name, from as Span);
    return options && span.trace !== null ? span.withOptions(options) : span;
  }

  /** Start a child of the innermost open span of this task; a no-op without one. */
  static startWithLocalParent(name: string, options?: SpanOptions): Span {
    if (!state.enabled) return NOOP_SPAN;
    const queue = enteredQueue();
    if (queue === undefined || !queue.mount.isSpan) {
      count(Counter.spansWithoutParent);
      return NOOP_SPAN;
    }
    const mount = queue.mount as Span;
    if (mount.trace === null) return mount;
    if (mount.isDiscarded) return childOfDiscarded(name, mount);
    const { idHi, idLo } = queue.nextParent ?? mount;
    const span = new Span(mount.trace, name, idHi, idLo, false, null);
    if (mount.further !== null) span.inherit(mount.further, span.parentHi, span.parentLo);
    return options ? span.withOptions(options) : span;
  }

  /** The span that records nothing. */
  static noop(): Span {
    return NOOP_SPAN;
  }

  /** The span that is the local parent of this task; undefined outside any {@link Span.run}. */
  static current(): Span | undefined {
    const mount = enteredQueue()?.mount;
    return mount?.isSpan === true ? (mount as Span) : undefined;
  }

  /**
   * Start a root whose spans this request collects itself: nothing of the trace goes to reporters.
   *
   * @example
   * ```ts
   * const [span, collector] = Span.rootWithCollector('job');
   * span.run(() => LocalSpan.start('work').end());
   * span.end();
   * for (const record of await collector.collect()) console.log(record.name, record.durationNs);
   * ```
   */
  // Set by the collector, which alone can make records.
  static rootWithCollector: (name: string, context?: SpanContext, options?: RootOptions) => [Span, TraceCollector] =
    () => {
      throw new Error('spanline: the collector is not loaded');
    };

  /**
   * Identity for propagation: `span.context.toHeaders()`. Undefined for {@link Span.noop}; not sampled once the trace was
   * cancelled.
   */
  get context(): SpanContext | undefined {
    if (this.trace === null) return this.unsampled?.contextOf(this);
    const { w0, w1, w2, w3, traceState, isRandom } = (this.recordingTrace ?? this.trace).context;
    return new SpanContext(w0, w1, w2, w3, this.idHi, this.idLo, this.passesSampled, false, traceState, isRandom);
  }

  /** Refer to another span. */
  addLink(to: Span | SpanContext | Link, properties?: Properties | (() => Properties)): this {
    // Not instanceof: the span may come from the other build of this package.
    const target = isSpan(to) ? to.context : to;
    if (!target || !this.accepts()) return this;
    if (!this.hasRoomForLink()) return this;
    const { detailed } = this;
    detailed.links ??= [];
    detailed.links.push(pendingLink(target, properties));
    return this;
  }

  /** @internal The first of the queues whose tasks run; they are a list. */
  get runningQueue(): SpanQueue | null {
    return this.tasks === null ? null : this.tasks.first;
  }

  /** Run `fn` with this span as the local parent of everything inside, across awaits. Gives what `fn` gives. */
  run<T>(fn: () => T): T {
    if (typeof fn !== 'function') return this.run(workArgument<T>(fn));
    if (this.trace === null) return this.unsampled === null ? fn() : this.unsampled.run(this, fn);
    return runUnder(this, fn);
  }

  /**
   * Run `fn` like {@link run} and end the span when it is done: at the return, or when the promise it gives settles. A
   * throw or rejection sets the status `error`, is recorded and passed on.
   */
  runToEnd<T>(fn: () => T): T {
    if (typeof fn !== 'function') return this.runToEnd(workArgument<T>(fn));
    return this.runToEndOf(fn, fn);
  }

  /** @internal For a `fn` that only calls `maker`. */
  runToEndOf<T>(fn: () => T, maker: unknown): T {
    if (this.trace === null) return this.unsampled === null ? fn() : this.unsampled.run(this, fn);
    return runToEndUnder(this, fn, maker);
  }

  /** Make this span the local parent until the guard is disposed, in the same synchronous stretch. */
  enter(): SpanGuard {
    if (!state.enabled || (this.trace === null && this.unsampled === null)) return new SpanGuard(null);
    if (this.trace === null) return new SpanGuard(new SpanQueue(this, false));
    this.tasks ??= new TaskQueues();
    return new SpanGuard(new SpanQueue(this, true), this.tasks);
  }

  /**
   * @internal Make this span current for the code that runs now and all that it starts, where there is no function to run; with a context of
   * OpenTelemetry's API, where one came along. Gives the queue, for what comes in another's context.
   */
  enterForGood(context?: object): SpanQueue {
    const queue = new SpanQueue(this, this.trace !== null);
    if (context !== undefined) queue.context = context;
    // A scope without an end: each stretch that has local spans gets a queue of its own.
    queue.close();
    queueStore.enter(queue);
    return queue;
  }

  /** @internal The properties of a span that has just started, in one list: key, value, key, value. */
  describe(list: (string | PropertyValue)[]): void {
    if (this.trace !== null) this.propertyList = list;
  }

  /** A function that runs `fn` with this span as local parent whenever it is called: for timers and raw callbacks. */
  bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
    if (typeof fn !== 'function') return noFunction(fn);
    const span = this;
    return function (this: unknown, ...args: A): R {
      return span.run(() => Reflect.apply(fn, this, args));
    };
  }

  /** Mount detached local spans under this span. They may be mounted under other spans too, in any trace. */
  pushChildSpans(spans: LocalSpans): this {
    if (this.trace === null) return this;
    localSpansArgument(spans)?.mountUnder(this);
    return this;
  }

  /** Discard the whole trace, when this is its root: nothing of it, now or late, is reported. */
  cancel(): void {
    if (this.trace === null) return;
    if (!this.isRoot) count(Counter.cancelOnNonRoot);
    else if (this.trace.isOpen) this.trace.sink.cancelled(this.trace);
    // A root that runs, and was cancelled or dropped before, has nothing left to discard.
    else if (this.trace.isEnded) count(Counter.changedAfterEnd);
  }

  /** End the span. A second end does nothing and is counted. */
  end(): void {
    const trace = this.trace;
    if (trace === null) return;
    if (this.endTicks !== 0) {
      count(Counter.endedTwice);
      return;
    }
    this.endAt(trace, now());
  }

  /**
   * @internal The same, for a holder that asks nothing of it afterwards: its properties go, for a promise, a timer or a connection that began under it may
   * keep it for as long as old objects are not collected.
   */
  endForGood(): void {
    this.end();
    this.propertyList = null;
    this.details = null;
  }

  /** @internal End it at another moment; it is open. */
  endAt(trace: ActiveTrace, ticks: number): void {
    this.endTicks = ticks;
    if (this.tasks !== null) this.tasks.settle();
    if (this.isKept) {
      this.write(trace);
      const measures = spanMeasures();
      if (measures !== undefined) measures.ended(this, this, ticks, this.hasFailed);
    }
    // Behind its row: a process that is killed in between would leave it in neither.
    if (this.openPlace >= 0) trace.sink.openSpans?.remove(this.openPlace, this);
    if (this.isRoot) trace.end(this);
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

// Not its parent itself: the holder of the child may end it, and it would end the parent.
const childOfDiscarded = (name: string, parent: Span): Span => {
  count(Counter.spansOfDiscardedTraces);
  return new Span(null, name, 0, 0, false, parent.context ?? null);
};

// Parents may be missing where types do not reach: `Span.start('x', Span.current())` in JavaScript must not throw.
const childOf = (name: string, parent: Span | null | undefined): Span => {
  if (!parent) {
    count(Counter.spansWithoutParent);
    return NOOP_SPAN;
  }
  if (parent.trace === null) return parent;
  if (parent.isDiscarded) return childOfDiscarded(name, parent);
  const span = new Span(parent.trace, name, parent.idHi, parent.idLo, false, null);
  if (parent.further !== null) span.inherit(parent.further, parent.idHi, parent.idLo);
  return span;
};

const childOfMany = (name: string, parents: readonly Span[]): Span => {
  const recording = parents.filter((parent) => parent && parent.trace !== null && !parent.isDiscarded);
  if (recording.length === 0) return childOf(name, parents.find((parent) => parent?.context) ?? parents[0]);
  const span = childOf(name, recording[0]);
  for (const parent of recording.slice(1)) {
    span.addParent(parent.trace as ActiveTrace, parent.idHi, parent.idLo);
    if (parent.further !== null) span.inherit(parent.further, parent.idHi, parent.idLo);
  }
  return span;
};

/** The span that records nothing; every method of it is a no-op. */
export const NOOP_SPAN: Span = Object.freeze(new Span(null, '', 0, 0, false, null)) as Span;
