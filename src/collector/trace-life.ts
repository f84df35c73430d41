// The life of a trace: its states, what leads from one to the next, and why a trace is dropped. All transitions of a collector's traces are here, and
// nobody else moves one between the open traces and the queues. Must never run code of a program, of a reporter or of `keep`.
//
//     start          root ends, sampled          report
//    ───────> OPEN ─────────────────────> QUEUED ───────> reported
//              │                             ▲
//              │  root ends, not sampled     │ root ends, wanted by a trigger, and no bound has dropped it
//              └─────────────────────────> OBSERVED ────> seen by the observer, reported to nobody
//
//    state              event                        next
//    OPEN               root ends, wanted            QUEUED, sampled or not
//    OPEN               evicted, reportOpenTraces    as if its root had ended: QUEUED, or OBSERVED
//    OPEN, sampled      evicted                      dropped: evicted. OBSERVED where there is an observer
//    OPEN, not sampled  evicted                      OBSERVED, and still wanted by a trigger; dropped where there is no observer
//    OPEN, sampled      report, reportOpenTraces     OPEN; what it has is reported
//    QUEUED             report, `keep` refuses       dropped: not kept
//    QUEUED             the queue is over its bound  what the oldest quarter has is dropped: queue full, or before the first reporter. What comes later is
//                                                    reported
//    any, or none       to QUEUED, after shutdown    dropped: after the shutdown. OBSERVED where there is an observer
//    its root runs      root is cancelled            dropped: cancelled, from any state, or none where it was not dropped before. The observer forgets it too
//    its root has ended root is cancelled            nothing: `changedAfterEnd` counts the call, and the trace goes the way that was decided
//    reported           a span of it ends            UNLISTED, until the span is counted; then by what was decided QUEUED, OBSERVED or nothing
//    dropped            a span of it ends            nothing; the same as of one that was reported where there is an observer
//    cancelled          a span of it ends            nothing
//
// What would be OBSERVED is given up where there is no observer, or no more. A trace without spans is nothing: its number is free at once, and one that was
// evicted stays dropped. One that was reported or dropped has no number, but for one that the observer still waits for. What a report has taken and `keep`
// lets pass is reported, also when the root is cancelled before the reporter has it. A trace whose rows are elsewhere (`openedExternal`) is OPEN until it is
// closed or evicted, and then dropped, with `reportOpenTraces` too. A bound on open traces belongs into `evict` and what calls it.
import { firstIndex } from '../base/maps/first-index.js';
import { type ClockAnchor, checkDrift, takeAnchor } from '../clock/index.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { RowStore } from '../rows/row-store.js';
import { OpenTraces, TRACE_BYTES, TraceBit, type TraceKey, TraceQueue, TraceWord } from '../rows/trace-table.js';
import type { ActiveTrace, EndedRoot, OpenSpans, TraceLimits, TraceOutcome, TraceSink } from '../span/active-trace.js';
import type { Sampler } from '../span/sampler.js';
import type { ResolvedOptions } from './options.js';
import type { Resource } from './reporter.js';
import { PartPool, type TraceObserver, type TracePart, takeTraces } from './trace-part.js';

/** The states of a trace that has a number. Unlisted: it is in none of the lists yet, as each number is when it is given. */
export const TraceState = { unlisted: 0, open: 1, queued: 2, observed: 3 } as const;
export type TraceState = (typeof TraceState)[keyof typeof TraceState];

/** A trace whose rows are not here, but which is open here: one that a request collects itself. */
interface ExternalTrace {
  /** The bounds of the collector have dropped it. */
  evicted(): void;
}

/** Reports of some minutes under load, of a quarter of an hour without. */
const MAX_ANCHORS = 1024;

/**
 * The anchors of the last reports, oldest first: what comes late of a trace goes by the one that its first part went by, so that a step of the system
 * clock between them cannot tear the trace. A trace that was reported after its end has no record of that; the report that took it is the first since.
 */
class RecentAnchors {
  readonly #anchors: ClockAnchor[] = [];

  add(anchor: ClockAnchor): void {
    // Half at once: taking one at a time from the front would move the rest each time.
    if (this.#anchors.length === MAX_ANCHORS) this.#anchors.splice(0, MAX_ANCHORS / 2);
    this.#anchors.push(anchor);
  }

  get last(): ClockAnchor | undefined {
    return this.#anchors.at(-1);
  }

  /** The first one at or behind these ticks; undefined when there was no report since. Of a report that is forgotten the oldest one known. */
  since(ticks: number): ClockAnchor | undefined {
    return this.#anchors[firstIndex(0, this.#anchors.length, (i) => this.#anchors[i].ticks >= ticks)];
  }
}

/** What carries traces away: the collector, as far as their life needs it. */
interface Reports {
  /** Something waits that did not before. */
  wake(): void;
  /** A trace is open that is reported before its end. */
  armIfWaiting(): void;
}

export class TraceLife implements TraceSink {
  /** The rows of its traces, and the table of them. */
  readonly rows = new RowStore();
  private readonly traces = this.rows.traces;
  readonly open = new OpenTraces(this.traces);
  /** Wait for a report. */
  readonly queued = new TraceQueue(this.traces);
  /** Wait for the observer alone. */
  readonly observed = new TraceQueue(this.traces);
  /** Where a trace waits, by its state. */
  private readonly lists = [null, this.open, this.queued, this.observed] as const;
  observer: TraceObserver | null = null;
  /** Nothing is queued any more. */
  isShutDown = false;
  droppedSpansAfterShutdown = 0;
  private readonly anchors = new RecentAnchors();
  private readonly parts = new PartPool();
  private readonly externals = new Map<number, ExternalTrace>();

  constructor(
    /** Those in force: another object when they change. */
    public options: ResolvedOptions,
    /** Woken when something waits for a report or the observer that did not before. */
    private readonly reports: Reports,
  ) {}

  get sampler(): Sampler {
    return this.options.sampler;
  }
  get limits(): TraceLimits {
    return this.options;
  }
  get resource(): Resource {
    return this.options.resource;
  }
  get recordsAll(): boolean {
    return this.observer !== null;
  }
  get openSpans(): OpenSpans | null {
    return this.observer === null ? null : this.observer.openSpans;
  }

  opened(trace: ActiveTrace): void {
    this.openNumber(trace.number);
    if (this.options.reportOpenTraces) this.reports.armIfWaiting();
  }

  /** A trace whose rows are elsewhere is open: it counts, and is evicted, like those that are here. Gives the number that it has here. */
  openedExternal(key: TraceKey, external: ExternalTrace): number {
    const number = this.traces.acquire(key, undefined, 0);
    this.externals.set(number, external);
    this.openNumber(number);
    return number;
  }

  /** It got spans. */
  externalGrew(number: number, spans: number, bytes: number): void {
    if (!this.externals.has(number)) return;
    this.traces.grow(number, spans, bytes);
    this.grewOpen(bytes);
  }

  /** It is open no longer. */
  closedExternal(number: number): void {
    if (!this.externals.delete(number)) return;
    this.open.remove(number);
    this.traces.release(number);
  }

  ended(trace: ActiveTrace, root: EndedRoot): void {
    this.moveEnded(trace, root);
    this.reports.wake();
  }

  cancelled(trace: ActiveTrace): void {
    count(Counter.tracesCancelled);
    this.observer?.cancelled(trace);
    if (trace.hasNumber) {
      const { number } = trace;
      // What a bound has dropped before, and the observer waits for, is counted.
      if (!this.traces.has(number, TraceBit.dropped))
        countMany(Counter.spansOfDiscardedTraces, this.traces.get(number, TraceWord.spans));
      this.lists[this.stateOf(number)]?.remove(number);
    }
    trace.discard();
  }

  /** It got spans, which the table has counted. */
  grew(trace: ActiveTrace, spans: number, bytes: number, state: TraceState): void {
    // Kept so small that V8 puts it into its caller.
    if (state === TraceState.open) this.grewOpen(bytes);
    else this.grewWaiting(trace.number, spans, bytes, state);
  }

  outcomeOf({ serial, isChosen, wasDropped }: ActiveTrace): TraceOutcome {
    const isDropped = wasDropped || this.traces.wasDropped(serial);
    if (this.observer === null) return isDropped || !isChosen ? 'dropped' : 'reported';
    return isDropped ? 'observed' : 'reported';
  }

  returned(trace: ActiveTrace): void {
    this.traces.set(trace.number, TraceWord.state, TraceState.unlisted);
    // Set also where it is known: the number is a new one.
    trace.anchor = trace.anchor ?? this.anchorOfReported(trace);
  }

  /** What is queued, and of open traces what is there, where that is asked for. Nothing of it waits afterwards. */
  takeReportable(): TracePart[] {
    const queued = this.queued.takeAll();
    const open = this.options.reportOpenTraces ? this.openWithSpans() : [];
    if (queued.length + open.length === 0) return [];
    for (const number of open) this.open.bytes -= this.traces.get(number, TraceWord.bytes) - TRACE_BYTES;
    // Before the anchor, which says how long a tick is.
    checkDrift();
    const anchor = takeAnchor();
    this.anchors.add(anchor);
    const parts = this.take(open.length === 0 ? queued : Int32Array.from([...queued, ...open]), anchor);
    for (const number of queued) this.traces.release(number);
    for (const number of open) this.traces.continues(number, anchor);
    return parts;
  }

  /** The observer gets what waits for it alone. */
  takeObserved(): void {
    if (this.observed.length === 0) return;
    const numbers = this.observed.takeAll();
    // Their rows are free as soon as the observer has them.
    for (const part of this.take(numbers, takeAnchor())) {
      part.hold();
      part.release();
    }
    for (const number of numbers) this.traces.release(number);
  }

  /** The oldest quarter of the queue is dropped; gives how many traces and spans that are. */
  dropOldest(): { readonly traces: number; readonly spans: number } {
    const numbers = this.queued.takeOldest();
    let spans = 0;
    for (const number of numbers) {
      spans += this.traces.get(number, TraceWord.spans);
      this.rows.drop(number, true);
    }
    return { traces: numbers.length, spans };
  }

  /** `keep` has refused a trace, whose rows were taken. */
  refused(part: TracePart): void {
    count(Counter.tracesNotKept);
    countMany(Counter.spansOfDiscardedTraces, part.spanCount);
    this.traces.setDropped(part.serial);
  }

  /** True for what came while `keep` was asked about the trace, and has refused it. */
  cameWithRefused({ isContinuation, serial }: TracePart): boolean {
    return isContinuation && this.traces.wasDropped(serial);
  }

  private take(numbers: Int32Array, anchor: ClockAnchor): TracePart[] {
    return takeTraces(numbers, { rows: this.rows, observer: this.observer, anchor, parts: this.parts });
  }

  // Of the report that its first part went by.
  private anchorOfReported({ number, isEnded, endTicks }: ActiveTrace): ClockAnchor | undefined {
    if (!this.traces.has(number, TraceBit.continuation)) return undefined;
    // While the root runs it was evicted; nothing identifies that report, and most have more soon.
    return isEnded ? this.anchors.since(endTicks) : this.anchors.last;
  }

  private stateOf(number: number): TraceState {
    return this.traces.get(number, TraceWord.state) as TraceState;
  }

  private openNumber(number: number): void {
    this.traces.set(number, TraceWord.state, TraceState.open);
    this.open.add(number);
    if (this.open.size <= this.options.maxOpenTraces) return;
    // More than one where the bound was lowered.
    while (this.open.size > this.options.maxOpenTraces) this.evict();
    this.reports.wake();
  }

  private grewOpen(bytes: number): void {
    this.open.bytes += bytes;
    if (this.open.bytes > this.options.maxOpenBytes) this.evictOverBound();
  }

  private grewWaiting(number: number, spans: number, bytes: number, state: TraceState): void {
    if (this.traces.has(number, TraceBit.dropped)) countMany(Counter.spansOfDiscardedTraces, spans);
    if (state === TraceState.queued) this.queued.grew(spans, bytes);
    else if (state === TraceState.observed) this.observed.grew(spans, bytes);
    else this.enqueue(number);
    this.reports.wake();
  }

  private evictOverBound(): void {
    while (this.open.bytes > this.options.maxOpenBytes && this.open.size > 0) this.evict();
    this.reports.wake();
  }

  // The oldest open root holds memory without an end in sight: early report when asked for, else its data is dropped.
  private evict(): void {
    const number = this.open.oldest;
    count(Counter.tracesEvicted);
    const external = this.externals.get(number);
    if (external !== undefined) {
      this.closedExternal(number);
      external.evicted();
      return;
    }
    this.open.remove(number);
    // From here on each of its spans is ready as soon as it ends.
    if (this.options.reportOpenTraces) this.enqueue(number);
    else this.drop(number, Counter.spansOfDiscardedTraces);
  }

  // Where its end, and a trigger that wants it, leads it.
  private moveEnded(trace: ActiveTrace, root: EndedRoot): void {
    const isWanted = this.observer?.ended(trace, root) === true;
    if (!trace.hasNumber) {
      if (isWanted && this.outcomeOf(trace) === 'reported') trace.choose();
      return;
    }
    const { number } = trace;
    const state = this.stateOf(number);
    // Of what was reported before, and has to outlive the number.
    const anchor = this.traces.anchorOf(number);
    if (anchor !== undefined) trace.anchor = anchor;
    if (state === TraceState.open) this.open.remove(number);
    if (isWanted && !this.traces.has(number, TraceBit.dropped)) {
      // What waits for the observer alone goes the way of the rest.
      if (state === TraceState.observed) this.observed.remove(number);
      trace.choose();
      if (state !== TraceState.queued) this.enqueue(number);
    } else if (state === TraceState.open) this.enqueue(number);
  }

  // Into the queue it belongs to. It is in none, and not among the open.
  private enqueue(number: number): void {
    const { traces } = this;
    const spans = traces.get(number, TraceWord.spans);
    if (spans === 0) traces.release(number);
    else if (!traces.has(number, TraceBit.sampled)) this.observe(number);
    else if (this.isShutDown) {
      this.droppedSpansAfterShutdown += spans;
      this.drop(number);
    } else {
      traces.set(number, TraceWord.state, TraceState.queued);
      this.queued.add(number);
    }
  }

  private observe(number: number): void {
    const { traces } = this;
    if (this.observer === null) this.rows.drop(number, true);
    else {
      traces.set(number, TraceWord.state, TraceState.observed);
      this.observed.add(number);
    }
  }

  // Nothing of it is reported any more. The observer sees what it has. One that was for the observer alone may still be wanted when its root ends.
  private drop(number: number, counter?: number): void {
    const { traces } = this;
    if (this.observer === null || traces.has(number, TraceBit.sampled)) {
      if (counter !== undefined) countMany(counter, traces.get(number, TraceWord.spans));
      traces.setDropped(traces.get(number, TraceWord.serial));
      traces.clearBits(number, TraceBit.sampled);
      traces.setBits(number, TraceBit.dropped);
    }
    if (traces.get(number, TraceWord.spans) === 0) traces.release(number);
    else this.observe(number);
  }

  private openWithSpans(): number[] {
    const numbers: number[] = [];
    for (let number = this.open.oldest; number >= 0; number = this.open.after(number)) {
      const { traces } = this;
      if (traces.get(number, TraceWord.spans) === 0 || this.externals.has(number)) continue;
      if (traces.has(number, TraceBit.sampled)) numbers.push(number);
    }
    return numbers;
  }
}
