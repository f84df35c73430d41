// Collector: the public object. It has the options, the life of its traces and their reports, and is flushed and shut down. Nothing of it is called from the
// recording path.
import { timers } from '../base/calls/timers.js';
import { state } from '../context/process-state.js';
import { closeUnfinished } from '../local-span/task-context.js';
import type { RowStore } from '../rows/row-store.js';
import type { RootCollector } from '../span/active-trace.js';
import type { Sampler } from '../span/sampler.js';
import { type CollectorOptions, checkReporters, resolveOptions } from './options.js';
import type { Reporter, Resource } from './reporter.js';
import { type CollectorStats, type FlushResult, Reporting } from './reporting.js';
import { TraceLife } from './trace-life.js';
import type { TraceObserver } from './trace-part.js';

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
export class Collector implements RootCollector {
  private given: CollectorOptions;
  /** @internal */
  readonly life: TraceLife;
  private readonly reporting: Reporting;

  constructor(options: CollectorOptions = {}) {
    this.given = options;
    this.life = new TraceLife(resolveOptions(options));
    this.reporting = new Reporting(this.life);
    this.life.reporting = this.reporting;
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
      this.life.options = resolved;
      this.given = given;
      this.reporting.armIfWaiting();
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
    this.reporting.setReporters(wanted);
  }

  get sampler(): Sampler {
    return this.life.sampler;
  }

  /** @internal */
  get resource(): Resource {
    return this.life.resource;
  }

  get exitTimeoutMs(): number {
    return this.life.options.exitTimeoutMs;
  }

  /** @internal The rows of its traces. */
  get rows(): RowStore {
    return this.life.rows;
  }

  /** @internal Show all spans to this one from now on, or to none. */
  observeWith(observer: TraceObserver | null): void {
    this.life.takeObserved();
    this.life.observer = observer;
    this.rows.observeWith(observer);
  }

  /** @internal Show the observer what it has not seen. */
  observeNow(): void {
    this.life.takeObserved();
    this.rows.observeAll();
  }

  /** Hand over everything finished and wait until reporters have it. Never rejects. */
  async flush(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    // What is open at the end of this turn is handed over then, and is part of what came before the call.
    if (state.unfinished.some((queue) => queue.hasOpen)) await undefined;
    return await this.reporting.flush(options.timeoutMs ?? DEFAULT_FLUSH_MS);
  }

  /** Flush, then release the reporters. What cannot be delivered in time is dropped and counted. Never rejects. */
  async shutdown(options: { readonly timeoutMs?: number } = {}): Promise<FlushResult> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_SHUTDOWN_MS;
    const deadline = timers.monotonicMs() + timeoutMs;
    const result = await this.flush({ timeoutMs });
    // What finished meanwhile: a synchronous reporter still gets it, another drops and counts it.
    this.reporting.report();
    this.life.isShutDown = true;
    await this.reporting.stop(Math.max(deadline - timers.monotonicMs(), MIN_RELEASE_MS));
    return result;
  }

  /** @internal For `process.on('exit')`: hand everything to reporters that work synchronously, which have until `deadline` (monotonic) for it. */
  reportSync(deadline = timers.monotonicMs() + this.exitTimeoutMs): void {
    closeUnfinished();
    this.reporting.reportSync(deadline);
  }

  /** @internal Work left that an orderly exit should wait for. */
  get hasPending(): boolean {
    return this.reporting.hasPending;
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
      handedSpans: this.reporting.handedSpans,
      ...this.reporting.dropped,
      droppedSpansAfterShutdown,
      reporters: this.reporting.stats(),
    };
  }
}
