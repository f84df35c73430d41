// Span: a cross-async span. Starts in one task, ends in another, has one or many parents, and is the mount point of
// local batches. Recording path: a refused or unrecorded span is a value (a no-op), never an exception.
//
// One class, though it is long: a base class for what a span says costs each span a tenth of its time. What runs under a span, and its
// unsampled form, are in span-tasks, its further parents in a file of their own.
import { now, nsPerTick } from '../clock/index.js';
import { state } from '../context/process-state.js';
import type { LocalBatch, LocalSpans } from '../local-span/local-collector.js';
import {
  enteredQueue,
  LocalSpan,
  type QueueMount,
  queueStore,
  reserveSpanIds,
  SpanQueue,
  spanIdPrefix,
} from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import {
  type EndedSpan,
  keptProperties,
  keptValue,
  type Link,
  lazyProperties,
  type Properties,
  type PropertyValue,
  SpanDetails,
  type SpanKind,
  type StatusCode,
  spanMeasures,
} from '../rows/property.js';
import { ERROR, Flag, statusIn } from '../rows/row-chunk.js';
import { internScope } from '../rows/row-text.js';
import {
  ActiveTrace,
  defaultSink,
  isSamePlace,
  type TraceCollector,
  type TraceLimits,
  type TraceSink,
} from './active-trace.js';
import {
  contextArgument,
  errorMessage,
  exceptionProperties,
  isSpan,
  localSpansArgument,
  noFunction,
  optionsArgument,
  parentArgument,
  pendingLink,
  type RootOptions,
  type SpanOptions,
  sinkArgument,
  withKind,
  withStatus,
  workArgument,
} from './arguments.js';
import { FurtherParents } from './further-parents.js';
import { decide } from './sampler.js';
import { SpanContext } from './span-context.js';
import { runToEndUnder, runUnder, SpanGuard, TaskQueues, Unsampled } from './span-tasks.js';

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
export class Span implements Disposable, QueueMount, EndedSpan {
  /** @internal Ids are signed 32-bit words. */
  idHi = 0;
  /** @internal */
  idLo = 0;
  /** @internal */
  begin = 0;
  /** @internal 0 while open. */
  endTicks = 0;
  /** @internal Key, value, key, value. */
  propertyList: (string | PropertyValue)[] | null = null;
  /** @internal */
  details: SpanDetails | null = null;
  /** @internal Kind, status and the number of the scope, as in the flags of a row. */
  rowFlags = 0;
  /** @internal */
  further: FurtherParents | null = null;
  // Its trace is full. What starts below belongs to the span above, whose id it has.
  private isRefused = false;
  /** @internal */
  tasks: TaskQueues | null = null;
  // Its place among the spans that are open; -1 without one.
  private openPlace = -1;
  // Null for a span that records, and for the no-op.
  private readonly unsampled: Unsampled | null;

  /** @internal Use the static methods. */
  constructor(
    /** @internal Null when this span does not record. */
    readonly trace: ActiveTrace | null,
    readonly name: string,
    /** @internal */
    readonly parentHi: number,
    /** @internal */
    readonly parentLo: number,
    /** @internal */
    readonly isRoot: boolean,
    // Only for a span that does not record.
    unsampledContext: SpanContext | null,
  ) {
    this.unsampled = unsampledContext === null ? null : new Unsampled(unsampledContext);
    if (trace === null) return;
    if (isRoot || trace.admit()) {
      this.idLo = reserveSpanIds(1);
      this.idHi = spanIdPrefix();
    } else {
      this.isRefused = true;
      this.idLo = parentLo;
      this.idHi = parentHi;
    }
    this.begin = now();
    const { openSpans } = trace.sink;
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
    const span = childUnder(name, mount, idHi, idLo);
    return options ? span.withOptions(options) : span;
  }

  /**
   * @internal The same for code of our own that a program calls whether it traces or not: undefined where the span of this task does not record or has ended,
   * which nobody counts, and one look at the context for all of it.
   */
  static startHere(name: string): Span | undefined {
    const queue = state.enabled ? enteredQueue() : undefined;
    if (queue === undefined || !queue.mount.isSpan) return undefined;
    const mount = queue.mount as Span;
    if (!mount.isRecording) return undefined;
    const { idHi, idLo } = queue.nextParent ?? mount;
    return childUnder(name, mount, idHi, idLo);
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

  /** @internal */
  get isSpan(): boolean {
    return true;
  }

  /** True while this span records, for a reporter or for the flight recorder: not ended, and somebody waits for its trace. */
  get isRecording(): boolean {
    return this.endTicks === 0 && this.isKept && this.recordingTrace !== null;
  }

  /** @internal Whether {@link context} of a span that records is sampled. */
  get passesSampled(): boolean {
    const { recordingTrace } = this;
    return recordingTrace?.isSampled === true && recordingTrace.sink.reportsNothing !== true;
  }

  /** @internal The ids of {@link context}, six words, without making one. False where it is not sampled. */
  writeSampledIds(words: Int32Array, at: number): boolean {
    if (this.trace === null || !this.passesSampled) return false;
    const { w0, w1, w2, w3 } = (this.recordingTrace ?? this.trace).context;
    words[at] = w0;
    words[at + 1] = w1;
    words[at + 2] = w2;
    words[at + 3] = w3;
    words[at + 4] = this.idHi;
    words[at + 5] = this.idLo;
    return true;
  }

  /** Nanoseconds since the start; until the end once ended. 0 when not recording. */
  elapsed(): number {
    if (this.trace === null) return 0;
    return ((this.endTicks === 0 ? now() : this.endTicks) - this.begin) * nsPerTick();
  }

  /** Add one property. A later value of the same key wins. An array is copied now. */
  addProperty(key: string, value: PropertyValue): this {
    if (!this.accepts()) return this;
    const list = this.propertyList;
    const max = 2 * this.limits.maxPropertiesPerSpan;
    // A literal has room for what is in it, where the first push makes room for twenty more.
    if (list === null && max > 0) this.propertyList = [key, keptValue(value)];
    else if (list !== null && list.length < max) {
      if (list.length === 2) this.propertyList = [list[0], list[1], key, keptValue(value)];
      else list.push(key, keptValue(value));
    } else {
      count(Counter.propertiesOverCap);
      this.detailed.droppedProperties++;
    }
    return this;
  }

  /** @internal Set a property: one of this key that is there is replaced, and takes no further place. */
  setProperty(key: string, value: PropertyValue): void {
    const list = this.propertyList;
    if (list !== null && this.endTicks === 0) {
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] !== key) continue;
        list[i + 1] = keptValue(value);
        return;
      }
    }
    this.addProperty(key, value);
  }

  /** Add properties; a callback runs at once, and only when recording. */
  addProperties(properties: Properties | (() => Properties)): this {
    if (this.accepts()) lazyProperties(properties, (key, value) => this.addProperty(key, value));
    return this;
  }

  /** Add an event at this moment. Properties are copied now; a callback runs at once, and only when recording. */
  addEvent(name: string, properties?: Properties | (() => Properties)): this {
    if (!this.accepts()) return this;
    const event = { name, ticks: now(), properties: keptProperties(properties), dropped: 0 };
    this.detailed.addEvent(event, this.limits.maxEventsPerSpan);
    return this;
  }

  /** @internal Its work has failed: the exception as an event, and the status. */
  recordFailure(error: unknown): this {
    return this.recordException(error).setStatus('error', errorMessage(error));
  }

  /** @internal An event of another moment, `dropped` of whose properties were refused. */
  addEventAt(name: string, ticks: number, properties: Properties | undefined, dropped = 0): void {
    if (!this.accepts()) return;
    const event = { name, ticks, properties: keptProperties(properties), dropped };
    this.detailed.addEvent(event, this.limits.maxEventsPerSpan);
  }

  /** Set the outcome; the last call wins. */
  setStatus(code: StatusCode, message?: string): this {
    if (!this.accepts()) return this;
    this.rowFlags = withStatus(this.rowFlags, code, message);
    const text = typeof message === 'string' ? message : '';
    if (text !== '' || this.details !== null) this.detailed.message = text;
    return this;
  }

  /** Add an `exception` event with type, message and stack. Does not set the status. Accepts any thrown value. */
  recordException(error: unknown, properties?: Properties | (() => Properties)): this {
    if (!this.accepts()) return this;
    // One list: of a key that comes twice the later value wins that a property may have.
    const list = [...(keptProperties(exceptionProperties(error)) ?? []), ...(keptProperties(properties) ?? [])];
    const event = { name: 'exception', ticks: now(), properties: list, dropped: 0 };
    this.detailed.addEvent(event, this.limits.maxEventsPerSpan);
    return this;
  }

  /** @internal */
  setKind(kind: SpanKind): void {
    this.rowFlags = withKind(this.rowFlags, kind);
  }

  /** @internal The number of the scope that recorded it. */
  setScope(number: number): void {
    this.rowFlags |= number << Flag.scopeShift;
  }

  /** @internal True when a status other than `unset` was set. */
  get hasStatus(): boolean {
    return statusIn(this.rowFlags) !== 0;
  }

  /** @internal Another name, until it ends: a server learns the route of a request after its start. */
  rename(name: string): void {
    if (this.accepts()) (this as { name: string }).name = name;
  }

  /** @internal Take the options of its start; it records. */
  withOptions(options: SpanOptions): this {
    const { kind, properties, scope } = optionsArgument(options);
    if (scope !== undefined) this.setScope(internScope(scope));
    if (kind !== undefined) this.setKind(kind);
    if (properties !== undefined) this.addProperties(properties);
    return this;
  }

  private get detailed(): SpanDetails {
    this.details ??= new SpanDetails();
    return this.details;
  }

  /** @internal Take an id of the program's. A span that its trace had no place for keeps that of the span above, which is recorded. */
  identify(idHi: number, idLo: number): void {
    if (this.isRefused) return;
    this.idHi = idHi;
    this.idLo = idLo;
  }

  /** @internal */
  startLocal(queue: SpanQueue, name: string, outer: LocalSpan | null): LocalSpan | null {
    const { trace } = this;
    // A queue that was held under an unsampled root: no bound refuses that.
    if (trace === null) return null;
    if (!trace.hasNumber && this.recordingTrace === null) {
      count(Counter.spansOfDiscardedTraces);
      return null;
    }
    if (this.hasFurtherRows) return (this.further as FurtherParents).startLocal(trace, queue, name, outer);
    return trace.admit(Counter.localSpansOverCap) ? new LocalSpan(queue, name, outer) : null;
  }

  /** @internal */
  addLocal(span: LocalSpan, endTicks: number): void {
    const { idHi, idLo } = span.outer ?? this;
    if (span.traces === null) this.trace?.write(span, idHi, idLo, Flag.local, endTicks, null);
    else for (const one of span.traces as ActiveTrace[]) one.write(span, idHi, idLo, Flag.local, endTicks, null);
  }

  /** @internal Rows are written as local spans end. */
  closeBatch(): void {}

  /** @internal A batch that may be mounted under further spans of the same trace. */
  mountShared(batch: LocalBatch): void {
    const place = { parentHi: this.idHi, parentLo: this.idLo };
    this.trace?.mount(batch, place);
    this.further?.mount(batch, place);
  }

  /** @internal True when nothing of this span can be reported any more, in any of its traces. */
  get isDiscarded(): boolean {
    return this.trace !== null && this.recordingTrace === null;
  }

  /** @internal Take over the further parents of a parent, one per trace. */
  inherit({ rows }: FurtherParents, parentHi: number, parentLo: number): void {
    for (const { trace } of rows) this.addParent(trace, parentHi, parentLo);
  }

  /** @internal A further parent: in a trace this span is in already it becomes a link, else a row there. */
  addParent(trace: ActiveTrace, parentHi: number, parentLo: number): void {
    const parent = { trace, parentHi, parentLo };
    const row = trace === this.trace ? this : this.further?.rowIn(trace);
    if (row === undefined) {
      if (!trace.admit()) return;
      if (this.isRefused && !this.hasFurtherRows) {
        this.idLo = reserveSpanIds(1);
        this.idHi = spanIdPrefix();
      }
      this.further ??= new FurtherParents();
      this.further.rows.push(parent);
    } else if (!isSamePlace(row, parent) && !this.further?.hasLink(trace, parent)) {
      if (!this.hasRoomForLink()) return;
      this.further ??= new FurtherParents();
      this.further.links.push(parent);
    }
  }

  private get hasFurtherRows(): boolean {
    return this.further !== null && this.further.rows.length > 0;
  }

  // Where this span goes to: its own trace, or that of a further parent when its own was discarded.
  private get recordingTrace(): ActiveTrace | null {
    const { trace } = this;
    if (trace === null || !trace.isDiscarded) return trace;
    return this.further === null ? null : this.further.recordingTrace;
  }

  private hasRoomForLink(): boolean {
    const links = (this.details?.links?.length ?? 0) + (this.further?.links.length ?? 0);
    if (links < this.limits.maxLinksPerSpan) return true;
    count(Counter.linksOverCap);
    this.detailed.droppedLinks++;
    return false;
  }

  private get limits(): TraceLimits {
    return (this.trace as ActiveTrace).sink.limits;
  }

  // A row in each trace, under its first parent there; further parents of that trace are links of that row.
  private write(trace: ActiveTrace): void {
    const { isRoot, endTicks, further, rowFlags: flags } = this;
    const rootFlags = isRoot ? Flag.root | (this.hasRemoteParent(trace) ? Flag.remoteParent : 0) : 0;
    const links = further === null ? null : further.linksIn(trace);
    if (!this.isRefused) trace.write(this, this.parentHi, this.parentLo, flags | rootFlags, endTicks, links);
    if (further !== null) further.write(this, flags, endTicks);
  }

  // Of a root, whose context is looked at only where it has a parent: it was made long before, and is in no cache of the processor any more.
  private hasRemoteParent({ context }: ActiveTrace): boolean {
    return (this.parentHi !== 0 || this.parentLo !== 0) && context.isRemote;
  }

  /** @internal False without a place in any trace. */
  private get isKept(): boolean {
    return this.trace !== null && (!this.isRefused || this.hasFurtherRows);
  }

  /** @internal Whether it takes what is added now; what comes after the end is counted. */
  private accepts(): boolean {
    if (!this.isKept) return false;
    if (this.endTicks === 0) return this.recordingTrace !== null;
    count(Counter.changedAfterEnd);
    return false;
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

  /** @internal Properties behind those it has: key, value, key, value. No value is an array of the program's. */
  addAll(list: (string | PropertyValue)[]): void {
    if (!this.accepts()) return;
    const { propertyList: own } = this;
    const length = own === null ? 0 : own.length;
    if (length + list.length > 2 * this.limits.maxPropertiesPerSpan) {
      for (let i = 0; i < list.length; i += 2) this.addProperty(list[i] as string, list[i + 1]);
    } else if (own === null) this.propertyList = list;
    // A loop: `concat` takes twice as long.
    else for (let i = 0; i < list.length; i++) own.push(list[i]);
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

  /** Discard the whole trace, when this is its root and it runs: nothing that was not reported before is reported, now or late. */
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
      if (measures !== undefined) measures.ended(this, this, ticks, statusIn(this.rowFlags) === ERROR);
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

// Under `span` itself, or under a local span of it, whose ids these are: the caller reads them, for V8 reads those of one class faster.
const childUnder = (name: string, span: Span, idHi: number, idLo: number): Span => {
  const child = new Span(span.trace, name, idHi, idLo, false, null);
  if (span.further !== null) child.inherit(span.further, idHi, idLo);
  return child;
};

// Parents may be missing where types do not reach: `Span.start('x', Span.current())` in JavaScript must not throw.
const childOf = (name: string, parent: Span | null | undefined): Span => {
  if (!parent) {
    count(Counter.spansWithoutParent);
    return NOOP_SPAN;
  }
  if (parent.trace === null) return parent;
  return parent.isDiscarded ? childOfDiscarded(name, parent) : childUnder(name, parent, parent.idHi, parent.idLo);
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
