// SpanQueue: the ongoing local spans of one task, and its next parent: the innermost local span that is still open, as in TiKV's minitrace. It also
// has the span that they belong to, and whether that is sampled. Never pooled: an un-awaited continuation may hold it after its trace ended.
import { now } from '../clock/index.js';
import { Counter, count, countMany } from '../rows/counters.js';
import type { Properties, PropertyValue } from '../rows/property.js';
import { spanMeasures } from '../rows/span-measures.js';
import { type LocalSpan, NOOP_LOCAL_SPAN } from './local-span.js';
import { warnOutOfOrder } from './misuse.js';
import { closeAfterTurn } from './stretches.js';

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
