// Collector: the public object. It has the options, the life of its traces, and when a report is made and who gets it: what is queued goes to the pipelines at
// intervals, or at once in the next turn of the event loop. Nothing of a reporter or of `keep` may run while a span ends: what passes a bound there waits
// for the next turn, or is dropped and counted. A reporter that rejects or hangs must not affect a caller.
import { timerMs, timers, within } from '../base/calls/timers.js';
import { state } from '../context/process-state.js';
import { closeUnfinished } from '../local-span/task-context.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { guarded } from '../rows/property.js';
import type { RootCollector } from '../span/active-trace.js';
import { decision, type Sampler } from '../span/sampler.js';
import { type CollectorOptions, checkReporters, resolveOptions } from './options.js';
import { Pipeline, type PipelineStats } from './pipeline.js';
import type { Reporter } from './reporter.js';
import { TraceLife } from './trace-life.js';
import { compactParts, type TraceObserver, type TracePart } from './trace-part.js';

const DEFAULT_FLUSH_MS = 30_000;
const DEFAULT_SHUTDOWN_MS = 5_000;
// What reporters get to release their sockets when the flush before took all the time.
const MIN_RELEASE_MS = 100;

/** What became of a flush. */
export interface FlushResult {
  /** True when everything accepted before the call was delivered, refused or dropped by a bound, counted. */
  readonly complete: boolean;
  /** Spans still waiting when the time was up. */
  readonly pendingSpans: number;
}

/** Counters of one collector. */
export interface CollectorStats {
  readonly openTraces: number;
  readonly openBytes: number;
  /** Finished, not yet handed to a reporter. */
  readonly readyTraces: number;
  readonly readyBytes: number;
  readonly readySpans: number;
  /** Chunks of rows in use, of open and ready traces, and their bytes. */
  readonly rowChunks: number;
  readonly rowBytes: number;
  /** Chunks that wait to be used again. */
  readonly rowChunksPooled: number;
  /** Chunks whose few waiting rows were moved to another one. */
  readonly chunksCompacted: number;
  /** Spans that reports have handed to the reporters; each of several gets them. */
  readonly handedSpans: number;
  readonly droppedTracesBeforeReporter: number;
  readonly droppedSpansBeforeReporter: number;
  /** The queue had passed twice its bound before the event loop could turn to a report. */
  readonly droppedTracesQueueFull: number;
  readonly droppedSpansQueueFull: number;
  readonly droppedSpansAfterShutdown: number;
  /** By reporter name; a second reporter of one name is `name#2`. */
  readonly reporters: Readonly<
    Record<string, PipelineStats & { readonly lastError?: string; readonly own?: Readonly<Record<string, number>> }>
  >;
}

/** Wait until what was pushed before `mark` is out of this process. */
const drained = async (pipeline: Pipeline, mark: number): Promise<void> => {
  await pipeline.whenSettled(mark);
  try {
    await pipeline.reporter.flush?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};

/** Stop a pipeline and release its reporter, once: every call waits for the same release. */
const retire = (pipeline: Pipeline): Promise<void> => {
  pipeline.released ??= release(pipeline);
  return pipeline.released;
};

const release = async (pipeline: Pipeline): Promise<void> => {
  pipeline.close();
  try {
    await pipeline.reporter.shutdown?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};

/** The queue may grow to so many times its bound until the next turn, when a report takes it. */
const MAX_OVER_BOUND = 2;

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
export class Collector implements RootCollector {
  /** @internal */
  readonly life: TraceLife;
  #given: CollectorOptions;
  #pipelines: Pipeline[] = [];
  /** Replaced or shut down: still delivering, or kept for `stats()` until the next reporter is set. */
  #former: Pipeline[] = [];
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #handedSpans = 0;
  readonly #dropped = {
    droppedTracesBeforeReporter: 0,
    droppedSpansBeforeReporter: 0,
    droppedTracesQueueFull: 0,
    droppedSpansQueueFull: 0,
  };

  constructor(options: CollectorOptions = {}) {
    this.#given = options;
    this.life = new TraceLife(resolveOptions(options), this);
  }

  /** Change options; what is not named stays. Throws `ERR_SPANLINE_OPTION` and changes nothing when one is wrong. */
  configure(options: CollectorOptions): void {
    this.prepare(options)();
  }

  /** @internal Checks options, and gives what puts them in force, which cannot fail. Throws `ERR_SPANLINE_OPTION`. */
  prepare(options: CollectorOptions): () => void {
    const given = { ...this.#given, ...options };
    const resolved = resolveOptions(given);
    return () => {
      this.life.options = resolved;
      this.#given = given;
      this.armIfWaiting();
    };
  }

  /**
   * Report to this reporter, or to each of several, from now on. Traces finished before the first one are kept for it,
   * within bounds. Throws `ERR_SPANLINE_OPTION` and changes nothing when one is not a reporter.
   */
  setReporter(reporter: Reporter | readonly Reporter[]): void {
    const wanted = checkReporters(Array.isArray(reporter) ? reporter : [reporter]);
    this.life.isShutDown = false;
    if (state.enabled) state.queueStore.follow();
    const before = this.#delivering;
    this.#pipelines = wanted.map(
      (one) => before.find((pipeline) => pipeline.reporter === one) ?? new Pipeline(one, () => this.life.options),
    );
    // One replaced still delivers what it was given, unless it is set again meanwhile; it gets nothing new.
    this.#former = before.filter((pipeline) => !this.#pipelines.includes(pipeline));
    for (const old of this.#former) {
      void old.whenSettled().then(() => (this.#former.includes(old) ? retire(old) : undefined));
    }
    this.armIfWaiting();
  }

  get sampler(): Sampler {
    return this.life.sampler;
  }

  get exitTimeoutMs(): number {
    return this.life.options.exitTimeoutMs;
  }

  /** @internal Show all spans to this one from now on, or to none. */
  observeWith(observer: TraceObserver | null): void {
    this.life.takeObserved();
    this.life.observer = observer;
    this.life.rows.observeWith(observer);
  }

  /** @internal Show the observer what it has not seen. */
  observeNow(): void {
    this.life.takeObserved();
    this.life.rows.observeAll();
  }

  /** @internal Something was queued: a report comes in time, or a bound is kept. */
  wake(): void {
    const { queued, observed } = this.life;
    const { maxQueuedBytes, reportThresholdSpans } = this.life.options;
    if (observed.bytes > maxQueuedBytes) this.life.takeObserved();
    if (queued.bytes > maxQueuedBytes) this.#relieve(maxQueuedBytes);
    const isReported = this.#pipelines.length > 0;
    if (observed.spans >= reportThresholdSpans || (isReported && queued.spans >= reportThresholdSpans)) this.#armNow();
    else if (this.#timer === undefined && (isReported || observed.length > 0)) this.#arm();
  }

  /** @internal A report comes if something waits that the options want reported. */
  armIfWaiting(): void {
    const { queued, open, options } = this.life;
    if (queued.length > 0 || (options.reportOpenTraces && open.size > 0)) this.#arm();
  }

  /** Hand over everything finished and wait until reporters have it. Never rejects. */
  async flush(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    // What is open at the end of this turn is handed over then, and is part of what came before the call.
    if (state.unfinished.some((queue) => queue.hasOpen)) await undefined;
    this.#report();
    const marks = this.#delivering.map((pipeline) => ({ pipeline, mark: pipeline.mark }));
    // What finishes from here on is not waited for: under steady traffic a flush would never end.
    const work = Promise.all(marks.map(({ pipeline, mark }) => drained(pipeline, mark)));
    await within(options.timeoutMs ?? DEFAULT_FLUSH_MS, work);
    const pendingSpans = marks.reduce(
      (sum, { pipeline, mark }) => sum + pipeline.pendingBefore(mark),
      this.#pipelines.length === 0 ? this.life.queued.spans : 0,
    );
    return { complete: pendingSpans === 0, pendingSpans };
  }

  /** Flush, then release the reporters. What cannot be delivered in time is dropped and counted. Never rejects. */
  async shutdown(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_SHUTDOWN_MS;
    const deadline = timers.monotonicMs() + timeoutMs;
    const result = await this.flush({ timeoutMs });
    // What finished meanwhile: a synchronous reporter still gets it, another drops and counts it.
    this.#report();
    this.life.isShutDown = true;
    this.#disarm();
    // Those too that an earlier call is still releasing.
    this.#former = [...this.#pipelines, ...this.#former];
    this.#pipelines = [];
    const left = Math.max(deadline - timers.monotonicMs(), MIN_RELEASE_MS);
    await within(left, Promise.all(this.#former.map(retire)));
    return result;
  }

  /** @internal For `process.on('exit')`: hand everything to reporters that work synchronously, which have until `deadline` (monotonic) for it. */
  reportSync(deadline = timers.monotonicMs() + this.exitTimeoutMs): void {
    closeUnfinished();
    this.#disarm();
    const parts = this.#takeReportable();
    this.#handOver(parts, (pipeline) => pipeline.reportSync(parts, deadline));
    for (const pipeline of this.#former) pipeline.reportSync([], deadline);
  }

  /** @internal Work left that an orderly exit should wait for. */
  get hasPending(): boolean {
    return this.#delivering.some((one) => !one.isIdle) || (this.#pipelines.length > 0 && this.life.queued.length > 0);
  }

  stats(): CollectorStats {
    const { open, queued, rows, droppedSpansAfterShutdown } = this.life;
    const { chunks, bytes, pooled } = rows.size;
    return {
      openTraces: open.size,
      openBytes: open.bytes,
      readyTraces: queued.length,
      readyBytes: queued.bytes,
      readySpans: queued.spans,
      rowChunks: chunks,
      rowBytes: bytes,
      rowChunksPooled: pooled,
      chunksCompacted: rows.compacted,
      handedSpans: this.#handedSpans,
      ...this.#dropped,
      droppedSpansAfterShutdown,
      reporters: this.#reporterStats(),
    };
  }

  #reporterStats(): CollectorStats['reporters'] {
    const reporters: Record<string, CollectorStats['reporters'][string]> = {};
    for (const pipeline of [...this.#pipelines, ...this.#former]) {
      const { reporter } = pipeline;
      let { name } = reporter;
      for (let n = 2; name in reporters; n++) name = `${reporter.name}#${n}`;
      reporters[name] = {
        ...pipeline.stats(),
        lastError: pipeline.lastError,
        own: guarded(() => reporter.stats?.()),
      };
    }
    return reporters;
  }

  get #delivering(): Pipeline[] {
    return [...this.#pipelines, ...this.#former].filter((pipeline) => !pipeline.isClosed);
  }

  // The queue is full before a timer could run. With a reporter it is emptied in the next turn, and its pipeline, which has the same bound, takes over.
  // Without one, or where no turn comes, the oldest go: the newest spans are the ones worth keeping.
  #relieve(maxQueuedBytes: number): void {
    const dropped = this.#dropped;
    if (this.#pipelines.length === 0) {
      const { traces, spans } = this.life.dropOldest();
      dropped.droppedTracesBeforeReporter += traces;
      dropped.droppedSpansBeforeReporter += spans;
      return;
    }
    this.#armNow();
    if (this.life.queued.bytes <= MAX_OVER_BOUND * maxQueuedBytes) return;
    const { traces, spans } = this.life.dropOldest();
    dropped.droppedTracesQueueFull += traces;
    dropped.droppedSpansQueueFull += spans;
  }

  #arm(): void {
    if (this.#timer !== undefined || (this.#pipelines.length === 0 && this.life.observed.length === 0)) return;
    this.#timer = timers.setTimeout(() => this.#report(), timerMs(this.life.options.reportIntervalMs));
    this.#timer.unref();
  }

  #armNow(): void {
    if (this.#immediate !== undefined) return;
    this.#immediate = timers.setImmediate(() => this.#report());
    this.#immediate.unref();
  }

  #disarm(): void {
    timers.clearTimeout(this.#timer);
    timers.clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }

  #report(): void {
    this.#disarm();
    this.life.takeObserved();
    const parts = this.#takeReportable();
    if (parts.length > 0) this.#handOver(parts, (pipeline) => pipeline.push(parts));
    if (this.life.options.reportOpenTraces && this.life.open.size > 0) this.#arm();
  }

  #handOver(parts: readonly TracePart[], give: (to: Pipeline) => void): void {
    const readers = this.#pipelines.length;
    for (const part of parts) {
      // For all pipelines: the first may be done before the second has them.
      part.hold(readers);
      this.#handedSpans += part.spanCount;
    }
    for (const pipeline of this.#pipelines) give(pipeline);
  }

  #takeReportable(): readonly TracePart[] {
    if (this.#pipelines.length === 0) return [];
    const parts = this.life.takeReportable();
    if (parts.length === 0) return [];
    state.queueStore.heedReaders();
    const reported = this.life.options.keep === undefined ? parts : this.#wanted(parts);
    this.life.observer?.reporting(reported);
    return reported;
  }

  // The decision is made once, on the whole trace; parts that follow (late spans) go the way of the first, and a part
  // without its root (an early report) is not a whole trace.
  #wanted(parts: readonly TracePart[]): readonly TracePart[] {
    const wanted = parts.filter((part) => {
      // What a program is shown it may keep.
      part.abandonRows();
      if (this.life.cameWithRefused(part)) {
        countMany(Counter.spansOfDiscardedTraces, part.spanCount);
        return false;
      }
      if (part.isContinuation || !part.hasRoot || part.mustReport || this.#isWanted(part)) return true;
      this.life.refused(part);
      return false;
    });
    compactParts(wanted, parts);
    return wanted;
  }

  #isWanted(part: TracePart): boolean {
    try {
      return decision('keep', this.life.options.keep?.(part)) !== false;
    } catch {
      count(Counter.callbackErrors);
      return true;
    }
  }
}
