// LocalSpan: a span of one synchronous stretch. The handle has what the span is until its end, which writes its row; then it can do
// nothing. Hot path: nothing here may throw.
import { now } from '../clock/index.js';
import { Counter, count } from '../rows/counters.js';
import {
  keptProperties,
  keptValue,
  lazyProperties,
  type Properties,
  type PropertyValue,
  SpanDetails,
} from '../rows/property.js';
import { reserveSpanIds, spanIdPrefix } from './ids.js';
import { recordingTaskQueue } from './task-context.js';

/** Properties and events one local span may have; beyond it they are counted and dropped. */
export const MAX_LOCAL_DETAILS = 1 << 17;

/** What a handle asks of its queue. */
interface RecordingQueue {
  readonly mount: { readonly isDiscarded: boolean };
  start(name: string): LocalSpan;
  addCurrentProperty(key: string, value: PropertyValue): void;
  addCurrentEvent(name: string, properties: Properties | (() => Properties) | undefined): void;
  finish(span: LocalSpan): void;
}

const recordingQueue = recordingTaskQueue as () => RecordingQueue | undefined;

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
    private readonly queue: RecordingQueue | null,
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
