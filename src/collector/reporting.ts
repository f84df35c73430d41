// Reporting: when a report is made and who gets it. It hands what the life of traces has queued to the pipelines at intervals, or at once in the next turn of
// the event loop. Nothing of a reporter or of `keep` may run while a span ends: what passes a bound there waits for the next turn, or is dropped and counted.
//
// Waits for pipelines and retires them. A reporter that rejects or hangs must not affect the caller.

import { timerMs, timers, within } from '../base/calls/timers.js';
import { state } from '../context/process-state.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { guarded } from '../rows/property.js';
import { decision } from '../span/sampler.js';
import type { ResolvedOptions } from './options.js';
import { Pipeline, type PipelineStats } from './pipeline.js';
import type { Reporter } from './reporter.js';
import type { TraceLife } from './trace-life.js';
import { compactParts, type TracePart } from './trace-part.js';

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

export class Reporting {
  #pipelines: Pipeline[] = [];
  /** Replaced or shut down: still delivering, or kept for `stats()` until the next reporter is set. */
  #former: Pipeline[] = [];
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  handedSpans = 0;
  readonly dropped = {
    droppedTracesBeforeReporter: 0,
    droppedSpansBeforeReporter: 0,
    droppedTracesQueueFull: 0,
    droppedSpansQueueFull: 0,
  };
  readonly #life: TraceLife;

  constructor(life: TraceLife) {
    this.#life = life;
  }

  /** These get what is reported from now on. */
  setReporters(reporters: readonly Reporter[]): void {
    const before = this.#delivering;
    this.#pipelines = reporters.map(
      (one) => before.find((pipeline) => pipeline.reporter === one) ?? new Pipeline(one, () => this.#options),
    );
    // One replaced still delivers what it was given, unless it is set again meanwhile; it gets nothing new.
    this.#former = before.filter((pipeline) => !this.#pipelines.includes(pipeline));
    for (const old of this.#former) {
      void old.whenSettled().then(() => (this.#former.includes(old) ? retire(old) : undefined));
    }
    this.armIfWaiting();
  }

  /** Something was queued: a report comes in time, or a bound is kept. */
  wake(): void {
    const { queued, observed } = this.#life;
    const { maxQueuedBytes, reportThresholdSpans } = this.#options;
    if (observed.bytes > maxQueuedBytes) this.#life.takeObserved();
    if (queued.bytes > maxQueuedBytes) this.#relieve(maxQueuedBytes);
    const isReported = this.#pipelines.length > 0;
    if (observed.spans >= reportThresholdSpans || (isReported && queued.spans >= reportThresholdSpans)) this.#armNow();
    else if (this.#timer === undefined && (isReported || observed.length > 0)) this.#arm();
  }

  /** A report comes if something waits that the options want reported. */
  armIfWaiting(): void {
    const { queued, open } = this.#life;
    if (queued.length > 0 || (this.#options.reportOpenTraces && open.size > 0)) this.#arm();
  }

  /** Hand over everything finished and wait until reporters have it. */
  async flush(timeoutMs: number): Promise<FlushResult> {
    this.report();
    const marks = this.#delivering.map((pipeline) => ({ pipeline, mark: pipeline.mark }));
    // What finishes from here on is not waited for: under steady traffic a flush would never end.
    const work = Promise.all(marks.map(({ pipeline, mark }) => drained(pipeline, mark)));
    await within(timeoutMs, work);
    const pendingSpans = marks.reduce(
      (sum, { pipeline, mark }) => sum + pipeline.pendingBefore(mark),
      this.#pipelines.length === 0 ? this.#life.queued.spans : 0,
    );
    return { complete: pendingSpans === 0, pendingSpans };
  }

  /** Nobody gets anything any more; resolves when all reporters are released, those that an earlier call is still releasing too. */
  async stop(timeoutMs: number): Promise<void> {
    this.#disarm();
    const pipelines = [...this.#pipelines, ...this.#former];
    this.#pipelines = [];
    this.#former = pipelines;
    await within(timeoutMs, Promise.all(pipelines.map(retire)));
  }

  report(): void {
    this.#disarm();
    this.#life.takeObserved();
    const parts = this.#takeReportable();
    if (parts.length > 0) this.#handOver(parts, (pipeline) => pipeline.push(parts));
    if (this.#options.reportOpenTraces && this.#life.open.size > 0) this.#arm();
  }

  /** Hand everything to reporters that work synchronously. */
  reportSync(deadline: number): void {
    this.#disarm();
    const parts = this.#takeReportable();
    this.#handOver(parts, (pipeline) => pipeline.reportSync(parts, deadline));
    for (const pipeline of this.#former) pipeline.reportSync([], deadline);
  }

  /** Work left that an orderly exit should wait for. */
  get hasPending(): boolean {
    return this.#delivering.some((one) => !one.isIdle) || (this.#pipelines.length > 0 && this.#life.queued.length > 0);
  }

  /** By reporter name; a second one of a name is `name#2`. */
  stats(): CollectorStats['reporters'] {
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

  get #options(): ResolvedOptions {
    return this.#life.options;
  }

  get #delivering(): Pipeline[] {
    return [...this.#pipelines, ...this.#former].filter((pipeline) => !pipeline.isClosed);
  }

  // The queue is full before a timer could run. With a reporter it is emptied in the next turn, and its pipeline, which has the same bound, takes over.
  // Without one, or where no turn comes, the oldest go: the newest spans are the ones worth keeping.
  #relieve(maxQueuedBytes: number): void {
    const { dropped } = this;
    if (this.#pipelines.length === 0) {
      const { traces, spans } = this.#life.dropOldest();
      dropped.droppedTracesBeforeReporter += traces;
      dropped.droppedSpansBeforeReporter += spans;
      return;
    }
    this.#armNow();
    if (this.#life.queued.bytes <= MAX_OVER_BOUND * maxQueuedBytes) return;
    const { traces, spans } = this.#life.dropOldest();
    dropped.droppedTracesQueueFull += traces;
    dropped.droppedSpansQueueFull += spans;
  }

  #arm(): void {
    if (this.#timer !== undefined || (this.#pipelines.length === 0 && this.#life.observed.length === 0)) return;
    this.#timer = timers.setTimeout(() => this.report(), timerMs(this.#options.reportIntervalMs));
    this.#timer.unref();
  }

  #armNow(): void {
    if (this.#immediate !== undefined) return;
    this.#immediate = timers.setImmediate(() => this.report());
    this.#immediate.unref();
  }

  #disarm(): void {
    timers.clearTimeout(this.#timer);
    timers.clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }

  #handOver(parts: readonly TracePart[], give: (to: Pipeline) => void): void {
    const readers = this.#pipelines.length;
    for (const part of parts) {
      // For all pipelines: the first may be done before the second has them.
      part.hold(readers);
      this.handedSpans += part.spanCount;
    }
    for (const pipeline of this.#pipelines) give(pipeline);
  }

  #takeReportable(): readonly TracePart[] {
    if (this.#pipelines.length === 0) return [];
    const parts = this.#life.takeReportable();
    if (parts.length === 0) return [];
    state.queueStore.heedReaders();
    const reported = this.#options.keep === undefined ? parts : this.#wanted(parts);
    this.#life.observer?.reporting(reported);
    return reported;
  }

  // The decision is made once, on the whole trace; parts that follow (late spans) go the way of the first, and a part
  // without its root (an early report) is not a whole trace.
  #wanted(parts: readonly TracePart[]): readonly TracePart[] {
    const wanted = parts.filter((part) => {
      // What a program is shown it may keep.
      part.abandonRows();
      if (this.#life.cameWithRefused(part)) {
        countMany(Counter.spansOfDiscardedTraces, part.spanCount);
        return false;
      }
      if (part.isContinuation || !part.hasRoot || part.mustReport || this.#isWanted(part)) return true;
      this.#life.refused(part);
      return false;
    });
    compactParts(wanted, parts);
    return wanted;
  }

  #isWanted(part: TracePart): boolean {
    try {
      return decision('keep', this.#options.keep?.(part)) !== false;
    } catch {
      count(Counter.callbackErrors);
      return true;
    }
  }
}
