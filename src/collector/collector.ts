// Collector: gathers finished traces, decides which are kept, and hands whole traces to reporters at intervals. Called
// from the recording path, so those methods (opened, ended, cancelled, grew) only link and count.

import { timerMs } from '../base/calls/timer-ms.js';
import { timers } from '../base/calls/timers.js';
import { within } from '../base/calls/within.js';
import { checkDrift } from '../clock/index.js';
import { state } from '../context/process-state.js';
import { closeUnfinished, isTurnUnfinished } from '../local-span/stretches.js';
import type { SpanRecord } from '../record/record.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { guarded } from '../rows/lazy.js';
import { RowStore } from '../rows/row-store.js';
import type { ActiveTrace, EndedRoot, OpenSpans, TraceLimits, TraceSink } from '../span/active-trace.js';
import { decision } from '../span/decision.js';
import type { Sampler } from '../span/sampler.js';
import type { CollectorStats, FlushResult } from './collector-stats.js';
import { drained, retire } from './draining.js';
import { type CollectorOptions, checkReporters, type ResolvedOptions, resolveOptions } from './options.js';
import { Pipeline } from './pipeline.js';
import { ReadyQueue } from './ready-queue.js';
import type { Reporter, Resource } from './reporter.js';
import { compactParts, takeTraces } from './take-traces.js';
import type { TraceKeeper } from './trace-keeper.js';
import { TraceList } from './trace-list.js';
import type { TracePart } from './trace-part.js';

const DEFAULT_FLUSH_MS = 30_000;
const DEFAULT_SHUTDOWN_MS = 5_000;
// What reporters get to release their sockets when the flush before took all the time.
const MIN_RELEASE_MS = 100;

/**
 * Gathers the spans of the roots started with it and hands them to its reporters.
 *
 * Most programs use the default one through `setReporter` and `configure`; make your own to embed the library or in tests.
 *
 * @example
 * ```ts
 * const collector = new Collector({ serviceName: 'job' });
 * collector.setReporter(new ConsoleReporter());
 * const root = Span.root('job', undefined, { collector });
 * root.end();
 * await collector.shutdown();
 * ```
 */
export class Collector implements TraceSink {
  private options: ResolvedOptions;
  private given: CollectorOptions;
  private pipelines: Pipeline[] = [];
  /** Replaced or shut down: still delivering, or kept for `stats()` until the next reporter is set. */
  private former: Pipeline[] = [];
  /** @internal The rows of its traces. */
  readonly rows = new RowStore();
  private readonly open = new TraceList();
  private openBytes = 0;
  private readonly ready = new ReadyQueue();
  private keeper: TraceKeeper | null = null;
  // Traces for the keeper alone.
  private readonly unreported = new ReadyQueue();
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private isShutDown = false;
  private droppedTracesBeforeReporter = 0;
  private droppedSpansBeforeReporter = 0;
  private droppedSpansAfterShutdown = 0;

  constructor(options: CollectorOptions = {}) {
    this.given = options;
    this.options = resolveOptions(options);
  }

  /** Change options; what is not named stays. Throws `ERR_SPANLINE_OPTION` and changes nothing when one is wrong. */
  configure(options: CollectorOptions): void {
    this.prepare(options)();
  }

  /** @internal Checks options, and gives what puts them in force, which cannot fail. Throws `ERR_SPANLINE_OPTION`. */
  prepare(options: CollectorOptions): () => void {
    const given = { ...this.given, ...options };
    const resolved = resolveOptions(given);
    return () => {
      this.options = resolved;
      this.given = given;
      this.armIfWaiting();
    };
  }

  /**
   * Report to this reporter, or to each of several, from now on. Traces finished before the first one are kept for it,
   * within bounds. Throws `ERR_SPANLINE_OPTION` and changes nothing when one is no reporter.
   */
  setReporter(reporter: Reporter | readonly Reporter[]): void {
    const wanted = checkReporters(Array.isArray(reporter) ? reporter : [reporter]);
    const before = this.delivering;
    this.pipelines = wanted.map(
      (one) => before.find((pipeline) => pipeline.reporter === one) ?? new Pipeline(one, () => this.options),
    );
    // One replaced still delivers what it was given, unless it is set again meanwhile; it gets nothing new.
    this.former = before.filter((pipeline) => !this.pipelines.includes(pipeline));
    for (const old of this.former) {
      void old.whenSettled().then(() => (this.former.includes(old) ? retire(old) : undefined));
    }
    this.isShutDown = false;
    this.armIfWaiting();
  }

  get sampler(): Sampler {
    return this.options.sampler;
  }

  /** @internal */
  get limits(): TraceLimits {
    return this.options;
  }

  /** @internal */
  get resource(): Resource {
    return this.options.resource;
  }

  get exitTimeoutMs(): number {
    return this.options.exitTimeoutMs;
  }

  /** @internal Roots that are not sampled are recorded too. */
  get recordsAll(): boolean {
    return this.keeper !== null;
  }

  /** @internal */
  get openSpans(): OpenSpans | null {
    return this.keeper === null ? null : this.keeper.openSpans;
  }

  /** @internal Show all spans to this one from now on, or to none. */
  keepWith(keeper: TraceKeeper | null): void {
    this.takeUnreported();
    this.keeper = keeper;
    this.rows.keepWith(keeper);
  }

  /** @internal Show the keeper what it has not seen. */
  keepNow(): void {
    this.takeUnreported();
    this.rows.keepAll();
  }

  /** @internal The same in the middle of any code: what traces have written, as far as it lies still. */
  keepWhatIsStill(): void {
    this.rows.keepWhatIsStill();
  }

  /** @internal */
  opened(trace: ActiveTrace): void {
    trace.resource = this.resource;
    this.open.add(trace);
    if (this.open.size > this.options.maxOpenTraces) this.evict();
    if (this.options.reportOpenTraces) this.arm();
  }

  /** @internal */
  ended(trace: ActiveTrace, root: EndedRoot): void {
    this.close(trace);
    if (this.keeper?.ended(trace, root) && !trace.isLetGo) {
      // What waits for the keeper alone goes the way of the rest.
      if (!trace.isSampled) trace.queue?.remove(trace);
      trace.isSampled = true;
      trace.mustReport = true;
    }
    this.enqueue(trace);
    trace.collector?.release();
  }

  /** @internal */
  cancelled(trace: ActiveTrace): void {
    this.close(trace);
    count(Counter.tracesCancelled);
    this.keeper?.cancelled(trace);
    countMany(Counter.spansOfDiscardedTraces, trace.pending);
    trace.discard();
    trace.collector?.release();
  }

  /** @internal */
  grew(trace: ActiveTrace, spans: number, bytes: number): void {
    if (trace.isLetGo) countMany(Counter.spansOfDiscardedTraces, spans);
    if (trace.isListed) {
      this.openBytes += bytes;
      while (this.openBytes > this.options.maxOpenBytes && this.open.first !== null) this.evict();
    } else if (trace.queue !== null) {
      trace.queue.grew(spans, bytes);
      if (this.ready.bytes > this.options.maxQueuedBytes) this.relieve();
      if (this.unreported.bytes > this.options.maxQueuedBytes) this.takeUnreported();
    } else this.enqueue(trace);
  }

  /** Hand over everything finished and wait until reporters have it. Never rejects. */
  async flush(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    // What is open at the end of this turn is handed over then, and is part of what came before the call.
    if (isTurnUnfinished()) await undefined;
    this.report();
    const marks = this.delivering.map((pipeline) => ({ pipeline, mark: pipeline.mark }));
    // What finishes from here on is not waited for: under steady traffic a flush would never end.
    const work = Promise.all(marks.map(({ pipeline, mark }) => drained(pipeline, mark)));
    await within(options.timeoutMs ?? DEFAULT_FLUSH_MS, work);
    const pendingSpans = marks.reduce(
      (sum, { pipeline, mark }) => sum + pipeline.pendingBefore(mark),
      this.pipelines.length === 0 ? this.ready.spans : 0,
    );
    return { complete: pendingSpans === 0, pendingSpans };
  }

  /** Flush, then release the reporters. What cannot be delivered in time is dropped and counted. Never rejects. */
  async shutdown(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_SHUTDOWN_MS;
    const deadline = timers.monotonicMs() + timeoutMs;
    const result = await this.flush({ timeoutMs });
    // What finished meanwhile: a synchronous reporter still gets it, another drops and counts it.
    this.report();
    this.isShutDown = true;
    this.disarm();
    // Those that an earlier call is still releasing too.
    const pipelines = [...this.pipelines, ...this.former];
    this.pipelines = [];
    this.former = pipelines;
    await within(Math.max(deadline - timers.monotonicMs(), MIN_RELEASE_MS), Promise.all(pipelines.map(retire)));
    return result;
  }

  /** @internal For `process.on('exit')`: hand everything to reporters that work synchronously. */
  reportSync(): void {
    this.disarm();
    closeUnfinished();
    const deadline = timers.monotonicMs() + this.exitTimeoutMs;
    const parts = this.takeReady();
    this.handOver(parts, (pipeline) => pipeline.reportSync(parts, deadline));
    for (const pipeline of this.former) pipeline.reportSync([], deadline);
  }

  /** @internal Work left that an orderly exit should wait for. */
  get hasPending(): boolean {
    const { delivering } = this;
    return delivering.some((one) => !one.isIdle) || (this.pipelines.length > 0 && this.ready.length > 0);
  }

  stats(): CollectorStats {
    const reporters: Record<string, CollectorStats['reporters'][string]> = {};
    for (const pipeline of [...this.pipelines, ...this.former]) {
      const { reporter } = pipeline;
      let name = reporter.name;
      for (let n = 2; name in reporters; n++) name = `${reporter.name}#${n}`;
      reporters[name] = {
        ...pipeline.stats(),
        lastError: pipeline.lastError,
        own: guarded(() => reporter.stats?.()),
      };
    }
    const { chunks, bytes, pooled } = this.rows.size;
    return {
      openTraces: this.open.size,
      openBytes: this.openBytes,
      readyTraces: this.ready.length,
      readyBytes: this.ready.bytes,
      rowChunks: chunks,
      rowBytes: bytes,
      rowChunksPooled: pooled,
      chunksCompacted: this.rows.compacted,
      droppedTracesBeforeReporter: this.droppedTracesBeforeReporter,
      droppedSpansBeforeReporter: this.droppedSpansBeforeReporter,
      droppedSpansAfterShutdown: this.droppedSpansAfterShutdown,
      reporters,
    };
  }

  /** @internal The records of a trace that collects itself. */
  takeRecords(trace: ActiveTrace): SpanRecord[] {
    return takeTraces([trace], trace.rows).flatMap(({ spans }) => spans);
  }

  private get delivering(): Pipeline[] {
    return [...this.pipelines, ...this.former].filter((pipeline) => !pipeline.isClosed);
  }

  private close(trace: ActiveTrace): void {
    if (!trace.isListed) return;
    this.open.remove(trace);
    this.openBytes -= trace.byteSize;
  }

  // The oldest open root holds memory without an end in sight: early report when asked for, else its data is let go.
  private evict(): void {
    const trace = this.open.first as ActiveTrace;
    this.close(trace);
    count(Counter.tracesEvicted);
    if (this.options.reportOpenTraces && trace.collector === null) {
      // From here on each of its spans is ready as soon as it ends.
      if (trace.pending > 0) this.enqueue(trace);
    } else {
      countMany(Counter.spansOfDiscardedTraces, trace.pending);
      this.letGo(trace);
    }
  }

  // Nothing of it is reported any more. Who keeps all sees what it has, and goes on.
  private letGo(trace: ActiveTrace): void {
    if (this.keeper === null || trace.collector !== null) {
      trace.discard(true);
      trace.collector?.release();
      return;
    }
    // One that was to be reported is not; one that was not may still be wanted when its root ends.
    if (trace.isSampled) {
      trace.queue?.remove(trace);
      trace.isSampled = false;
      trace.isLetGo = true;
    }
    if (trace.pending > 0) this.enqueue(trace);
  }

  private enqueue(trace: ActiveTrace): void {
    if (trace.collector !== null) return;
    if (!trace.isSampled) {
      if (this.keeper === null) {
        trace.discard();
        return;
      }
      if (trace.queue === null) this.unreported.add(trace);
      if (this.unreported.bytes > this.options.maxQueuedBytes) this.takeUnreported();
      else if (this.unreported.spans >= this.options.reportThresholdSpans) this.armNow();
      else if (this.timer === undefined) this.arm();
      return;
    }
    if (this.isShutDown) {
      this.droppedSpansAfterShutdown += trace.pending;
      this.letGo(trace);
      return;
    }
    if (trace.queue === null) this.ready.add(trace);
    if (this.ready.bytes > this.options.maxQueuedBytes) this.relieve();
    else if (this.pipelines.length === 0) return;
    else if (this.ready.spans >= this.options.reportThresholdSpans) this.armNow();
    else if (this.timer === undefined) this.arm();
  }

  // The queue is full before a timer could run. With a reporter its pipeline takes over, which has the same bound; without
  // one the oldest go: start-up is long over, the newest spans are the ones worth keeping.
  private relieve(): void {
    if (this.pipelines.length > 0) {
      this.report();
      return;
    }
    for (const trace of this.ready.takeOldest()) {
      this.droppedTracesBeforeReporter++;
      this.droppedSpansBeforeReporter += trace.pending;
      trace.forget(true);
    }
  }

  private armIfWaiting(): void {
    if (this.ready.length > 0 || (this.options.reportOpenTraces && this.open.size > 0)) this.arm();
  }

  private arm(): void {
    if (this.timer !== undefined || (this.pipelines.length === 0 && this.unreported.length === 0)) return;
    this.timer = timers.setTimeout(() => this.report(), timerMs(this.options.reportIntervalMs));
    this.timer.unref();
  }

  private armNow(): void {
    if (this.immediate !== undefined) return;
    this.immediate = timers.setImmediate(() => this.report());
    this.immediate.unref();
  }

  private disarm(): void {
    timers.clearTimeout(this.timer);
    timers.clearImmediate(this.immediate);
    this.timer = undefined;
    this.immediate = undefined;
  }

  private report(): void {
    this.disarm();
    this.takeUnreported();
    const parts = this.takeReady();
    if (parts.length > 0) this.handOver(parts, (pipeline) => pipeline.push(parts));
    if (this.options.reportOpenTraces && this.open.size > 0) this.arm();
  }

  private handOver(parts: readonly TracePart[], give: (to: Pipeline) => void): void {
    // Until each pipeline holds them: the first may be done before the second has them.
    for (const part of parts) part.hold();
    for (const pipeline of this.pipelines) give(pipeline);
    for (const part of parts) part.release();
  }

  // Their rows are free as soon as the keeper has them.
  private takeUnreported(): void {
    if (this.unreported.length === 0) return;
    for (const part of takeTraces(this.unreported.takeAll(), this.rows, this.keeper)) {
      part.hold();
      part.release();
    }
  }

  private takeReady(): readonly TracePart[] {
    if (this.pipelines.length === 0) return [];
    if (this.options.reportOpenTraces) this.enqueueOpen();
    if (this.ready.length === 0) return [];
    checkDrift();
    state.lineStore.heedReaders();
    const parts = takeTraces(this.ready.takeAll(), this.rows, this.keeper);
    const reported = this.options.keep === undefined ? parts : this.keptOf(parts);
    this.keeper?.reporting(reported);
    return reported;
  }

  private enqueueOpen(): void {
    for (let trace = this.open.first; trace !== null; trace = trace.newer) {
      if (trace.pending === 0 || trace.queue !== null || !trace.isSampled || trace.collector !== null) continue;
      this.openBytes -= trace.byteSize;
      this.ready.add(trace);
    }
  }

  // The decision is made once, on the whole trace; parts that follow (late spans) go the way of the first, and a part
  // without its root (an early report) is not a whole trace.
  private keptOf(parts: readonly TracePart[]): readonly TracePart[] {
    const kept = parts.filter((part) => {
      // What a program is shown it may keep.
      part.leave();
      if (part.isContinuation || !part.hasRoot || part.mustReport || this.isKept(part)) return true;
      count(Counter.tracesNotKept);
      countMany(Counter.spansOfDiscardedTraces, part.spanCount);
      this.letGo(part.trace);
      return false;
    });
    compactParts(kept, parts);
    return kept;
  }

  private isKept(part: TracePart): boolean {
    try {
      return decision('keep', this.options.keep?.(part)) !== false;
    } catch {
      count(Counter.callbackErrors);
      return true;
    }
  }
}
