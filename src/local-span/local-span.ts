// LocalSpan: a span of one synchronous stretch. The handle has what the span is until its end, which writes its row; then it can do nothing.
//
// SpanQueue: the ongoing local spans of one task, and its next parent: the innermost local span that is still open, as in TiKV's minitrace. It also has the
// span that they belong to, and whether that is sampled. Never pooled: an un-awaited continuation may hold it after its trace ended.
//
// At the end random words and span ids, which must be uniform, not secret: the system's source, which costs a root 0.1 to 0.3 us, gives the seed, and
// Blackman and Vigna's generator xoshiro128** (2018) the rest. Signed, because V8 keeps a 32-bit integer in place and boxes anything larger; made
// unsigned when formatted.
//
// Hot path: nothing here may throw, and no id is formatted.
import { now } from '../clock/index.js';
import type { FrameStore } from '../context/frame-store.js';
import { state } from '../context/process-state.js';
import { Counter, count, countMany } from '../rows/counters.js';
import {
  keptProperties,
  keptValue,
  lazyProperties,
  type Properties,
  type PropertyValue,
  SpanDetails,
  spanMeasures,
} from '../rows/property.js';
import {
  closeAfterTurn,
  currentTaskQueue,
  enteredTaskQueue,
  recordingTaskQueue,
  warnOutOfOrder,
} from './task-context.js';

/** Properties and events one local span may have; beyond it they are counted and dropped. */
export const MAX_LOCAL_DETAILS = 1 << 17;

// The async context with its queues as the class that they are.
export const queueStore = state.queueStore as FrameStore<SpanQueue>;

/**
 * The queue of this task, or undefined outside any `span.run`. Hold it only until the next `await`: it saves the look-up of
 * the local parent where many local spans start in one stretch.
 *
 * @example
 * ```ts
 * const root = Span.root('sort');
 * root.run(() => {
 *   const queue = currentQueue();
 *   for (let i = 0; i < 100; i++) queue?.start('compare').end();
 * });
 * root.end();
 * ```
 */
export const currentQueue = currentTaskQueue as () => SpanQueue | undefined;

/** The queue whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredQueue = enteredTaskQueue as () => SpanQueue | undefined;

/** The queue of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingQueue = recordingTaskQueue as () => SpanQueue | undefined;

/**
 * A span of one synchronous stretch of work, the cheapest thing this library records.
 *
 * Use it in hot code under a {@link Span.run}; for work that awaits use `Span` or `traced`. Without a recording parent it
 * is a no-op. Design: SpanQueue of TiKV's minitrace.
 *
 * @example
 * ```ts
 * const root = Span.root('query');
 * root.run(() => {
 *   using parse = LocalSpan.start('parse');
 *   parse.addProperty('bytes', 120);
 * });
 * root.end();
 * ```
 */
export class LocalSpan implements Disposable {
  /** @internal Ids are signed 32-bit words. */
  readonly idHi: number;
  /** @internal */
  readonly idLo: number;
  /** @internal */
  isOpen: boolean;
  /** @internal Key, value, key, value. */
  propertyList: (string | PropertyValue)[] | null = null;
  /** @internal */
  details: SpanDetails | null = null;
  /** @internal The traces it goes to, where they are not all those of its span. */
  traces: readonly object[] | null = null;
  /** @internal Ticks. */
  readonly begin: number;

  /** @internal Use {@link LocalSpan.start}. */
  constructor(
    private readonly queue: SpanQueue | null,
    /** @internal */
    readonly name: string,
    /** @internal The local span around it. */
    readonly outer: LocalSpan | null,
  ) {
    this.isOpen = queue !== null;
    if (queue === null) {
      this.idHi = 0;
      this.idLo = 0;
      this.begin = 0;
      return;
    }
    this.idLo = reserveSpanIds(1);
    this.idHi = spanIdPrefix();
    // Last, so that the cost of recording falls on the parent, not on the span itself.
    this.begin = now();
  }

  /** Start a local span under the innermost open one of this task. End it in the same synchronous stretch. */
  static start(name: string): LocalSpan {
    // Kept so small that V8 puts it into its caller whatever else it has put there.
    const queue = recordingQueue();
    return queue === undefined ? NOOP_LOCAL_SPAN : queue.start(name);
  }

  /** Add a property to the innermost open local span of this task, or to its `Span` when none is open. */
  static addProperty(key: string, value: PropertyValue): void {
    recordingQueue()?.addCurrentProperty(key, value);
  }

  /** Add properties to the innermost open local span; a callback runs only when recording. */
  static addProperties(properties: Properties | (() => Properties)): void {
    const queue = recordingQueue();
    if (queue === undefined || queue.mount.isDiscarded) return;
    lazyProperties(properties, (key, value) => queue.addCurrentProperty(key, value));
  }

  /** Add an event to the innermost open local span of this task, or to its `Span` when none is open. See {@link addEvent}. */
  static addEvent(name: string, properties?: Properties | (() => Properties)): void {
    recordingQueue()?.addCurrentEvent(name, properties);
  }

  /** True when this handle records; lets a caller skip work that only feeds properties. */
  get isRecording(): boolean {
    return this.isOpen && this.queue?.mount.isDiscarded === false;
  }

  /** Add one property. A later value of the same key wins. An array is copied now. */
  addProperty(key: string, value: PropertyValue): this {
    if (!this.accepts()) return this;
    if (this.propertyList === null) this.propertyList = [key, keptValue(value)];
    else if (this.propertyList.length < 2 * MAX_LOCAL_DETAILS) this.propertyList.push(key, keptValue(value));
    else {
      count(Counter.propertiesOverCap);
      this.details ??= new SpanDetails();
      this.details.droppedProperties++;
    }
    return this;
  }

  /** Add properties; a callback runs at once, and only when recording. */
  addProperties(properties: Properties | (() => Properties)): this {
    if (!this.accepts() || !this.isRecording) return this;
    lazyProperties(properties, (key, value) => this.addProperty(key, value));
    return this;
  }

  /** Add an event at this moment. Properties are copied now; a callback runs at once, and only when recording. */
  addEvent(name: string, properties?: Properties | (() => Properties)): this {
    if (!this.accepts()) return this;
    const ticks = now();
    this.details ??= new SpanDetails();
    const made = this.isRecording || typeof properties !== 'function' ? keptProperties(properties) : null;
    this.details.addEvent({ name, ticks, properties: made, dropped: 0 }, MAX_LOCAL_DETAILS);
    return this;
  }

  /** End the span. A second end does nothing and is counted. */
  end(): void {
    if (this.queue !== null) this.queue.finish(this);
  }

  [Symbol.dispose](): void {
    if (this.queue !== null) this.queue.finish(this);
  }

  private accepts(): boolean {
    if (this.isOpen) return true;
    if (this.queue !== null) count(Counter.changedAfterEnd);
    return false;
  }
}

/** What every refused or unrecorded start returns. */
export const NOOP_LOCAL_SPAN: LocalSpan = Object.freeze(new LocalSpan(null, '', null)) as LocalSpan;

/** Where the local spans of a queue go: a cross-async span, or a local collector. */
export interface QueueMount {
  /** False for a local collector, which has no identity in a trace. */
  readonly isSpan: boolean;
  /** Start a local span under `outer`; null when there is no place for it, which is counted. */
  startLocal(queue: SpanQueue, name: string, outer: LocalSpan | null): LocalSpan | null;
  /** Take a local span that has ended. */
  addLocal(span: LocalSpan, endTicks: number): void;
  /** No local span is open: the spans since the last call are a batch. */
  closeBatch(): void;
  /** True when nothing of this mount can be reported any more. */
  readonly isDiscarded: boolean;
  /** Properties and events added while no local span is open. */
  addProperty(key: string, value: PropertyValue): void;
  addEvent(name: string, properties?: Properties | (() => Properties)): void;
  readonly idHi: number;
  readonly idLo: number;
}

export class SpanQueue {
  /** The innermost local span still open, parent of the next one; null when none is. */
  nextParent: LocalSpan | null = null;
  /** True while local spans may start here without further checks: it records and its scope is open. */
  isLive: boolean;
  /** The queue of the scope this one belongs to: itself, but for a stretch that goes on after its scope. */
  readonly scope: SpanQueue;
  /** What was current around a scope that was left while another was innermost; null for any other. */
  leftTo: SpanQueue | undefined | null = null;
  /** A context of OpenTelemetry that it carries: its own, or that of the queue around it. Only `src/otel` reads it. */
  context: object | null = null;
  /** Its scope is not a function call, and will be left. */
  isEntered = false;
  // No scope will close it: the turn ends what is open.
  private isUnscoped = false;
  private isUnfinished = false;
  /** Neighbours in the list of running queues of the same span; see `Span.run`. */
  nextOpen: SpanQueue | null = null;
  previousOpen: SpanQueue | null = null;

  constructor(
    readonly mount: QueueMount,
    readonly sampled: boolean,
    scope?: SpanQueue,
  ) {
    this.isLive = sampled;
    this.scope = scope ?? this;
  }

  /** A queue for the stretch of code that runs now, where the scope of this one is over. Closed after the turn. */
  stretch(): SpanQueue {
    const stretch = new SpanQueue(this.mount, true, this.scope);
    stretch.isUnscoped = true;
    stretch.context = this.context;
    return stretch;
  }

  /** True while a local span is open. */
  get hasOpen(): boolean {
    return this.nextParent !== null;
  }

  /** Start a local span under the innermost one still open. */
  start(name: string): LocalSpan {
    const outer = this.nextParent;
    const span = this.mount.startLocal(this, name, outer);
    if (span === null) return NOOP_LOCAL_SPAN;
    if (this.isUnscoped && outer === null) this.finishWithTurn();
    this.nextParent = span;
    return span;
  }

  /** End `span`, which is of this queue. */
  finish(span: LocalSpan): void {
    const ticks = now();
    if (!span.isOpen) {
      count(this.isLive ? Counter.endedTwice : Counter.staleHandles);
      return;
    }
    span.isOpen = false;
    if (this.nextParent === span) {
      const { outer } = span;
      this.nextParent = outer === null || outer.isOpen ? outer : innermostOpen(outer);
    } else this.endedOutOfOrder();
    this.mount.addLocal(span, ticks);
    const measures = spanMeasures();
    if (measures !== undefined) measures.ended(span, this.mount, ticks, false);
    if (this.isUnscoped && this.nextParent === null) this.mount.closeBatch();
  }

  /** Add to the innermost open local span, or to the mount when none is open. */
  addCurrentProperty(key: string, value: PropertyValue): void {
    (this.nextParent ?? this.mount).addProperty(key, value);
  }

  /** Add to the innermost open local span, or to the mount when none is open. */
  addCurrentEvent(name: string, properties: Properties | (() => Properties) | undefined): void {
    (this.nextParent ?? this.mount).addEvent(name, properties);
  }

  /** The task is over. Spans still open end now and are counted. */
  close(): void {
    this.isLive = false;
    this.isUnscoped = true;
    this.isUnfinished = false;
    if (this.nextParent !== null) this.finishOpen();
    this.mount.closeBatch();
  }

  /** The span ends while its task goes on. What is open may belong to the code that runs now, and has until it returns. */
  settle(): void {
    this.isUnscoped = true;
    if (this.hasOpen) this.finishWithTurn();
    else if (this.isEntered) this.mount.closeBatch();
    else this.close();
  }

  private finishWithTurn(): void {
    if (this.isUnfinished) return;
    this.isUnfinished = true;
    closeAfterTurn(this);
  }

  // Innermost first.
  private finishOpen(): void {
    const ticks = now();
    let open = 0;
    for (let span = this.nextParent; span !== null; span = innermostOpen(span)) {
      span.isOpen = false;
      this.mount.addLocal(span, ticks);
      spanMeasures()?.ended(span, this.mount, ticks, false);
      open++;
    }
    this.nextParent = null;
    countMany(Counter.localSpansLeftOpen, open);
  }

  private endedOutOfOrder(): void {
    count(Counter.localSpansClosedOutOfOrder);
    warnOutOfOrder();
  }
}

const innermostOpen = (from: LocalSpan): LocalSpan | null => {
  let span: LocalSpan | null = from;
  while (span !== null && !span.isOpen) span = span.outer;
  return span;
};

let s0 = 0;
let s1 = 0;
let s2 = 0;
let s3 = 0;

const seed = (): void => {
  const words = new Int32Array(4);
  // Loaded at the first id, not with the library: it is half of the time an import takes.
  while ((words[0] | words[1] | words[2] | words[3]) === 0) {
    process.getBuiltinModule('node:crypto').randomFillSync(words);
  }
  [s0, s1, s2, s3] = words;
};

/** A random signed 32-bit word. */
export const randomWord = (): number => {
  // Its state is never all zero.
  if ((s0 | s1 | s2 | s3) === 0) seed();
  const five = Math.imul(s1, 5);
  const word = Math.imul((five << 7) | (five >>> 25), 9);
  const shifted = s1 << 9;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= shifted;
  s3 = (s3 << 11) | (s3 >>> 21);
  return word;
};

const nonZeroWord = (): number => {
  let word = randomWord();
  while (word === 0) word = randomWord();
  return word;
};

// A span id is a random 32-bit prefix and a counter. The prefix is drawn anew when the counter runs out, so ids of
// one thread never repeat before 2^63, and two processes that work on one trace collide with odds of 2^-32.
const LIMIT = 2 ** 31;
let prefix = 0;
let next = LIMIT;

/** Reserve `n` consecutive span ids; their upper halves are {@link spanIdPrefix} read right after this call. */
export const reserveSpanIds = (n: number): number => {
  if (next + n > LIMIT) {
    prefix = nonZeroWord();
    next = 1;
  }
  const first = next;
  next += n;
  return first;
};

/** The upper 32 bits of the ids reserved last. */
export const spanIdPrefix = (): number => prefix;
