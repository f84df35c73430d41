// Pipeline: the queue in front of one reporter. One call at a time, retry with backoff inside a byte bound, oldest
// trace dropped first and counted. A reporter that throws, rejects or hangs must never be felt by the application.
import type { ResolvedOptions } from './options.js';
import { type ReportBatch, ReportError, type Reporter } from './reporter.js';
import type { TracePart } from './trace-part.js';

/** Counters of one pipeline, part of `stats()`. */
export interface PipelineStats {
  reportedTraces: number;
  reportedSpans: number;
  reportErrors: number;
  retries: number;
  droppedTracesQueueFull: number;
  droppedSpansQueueFull: number;
  droppedSpansRefused: number;
  droppedSpansAtShutdown: number;
  queuedSpans: number;
  queuedBytes: number;
}

interface Batch extends ReportBatch {
  readonly traces: readonly TracePart[];
  readonly byteSize: number;
  signal: AbortSignal;
}

export class Pipeline {
  private readonly queue: TracePart[] = [];
  private head = 0;
  private queuedBytes = 0;
  private queuedSpans = 0;
  /** The batch being sent or waiting to be sent again; it stays the oldest. */
  private batch: Batch | null = null;
  private isCalling = false;
  private attempt = 0;
  private retryTimer: NodeJS.Timeout | undefined;
  private abort: AbortController | null = null;
  private idleWaiters: (() => void)[] = [];
  private isClosed = false;
  lastError: string | undefined;

  private readonly counters = {
    reportedTraces: 0,
    reportedSpans: 0,
    reportErrors: 0,
    retries: 0,
    droppedTracesQueueFull: 0,
    droppedSpansQueueFull: 0,
    droppedSpansRefused: 0,
    droppedSpansAtShutdown: 0,
  };

  constructor(
    readonly reporter: Reporter,
    private readonly options: () => ResolvedOptions,
  ) {}

  stats(): PipelineStats {
    return { ...this.counters, queuedSpans: this.queuedSpans, queuedBytes: this.queuedBytes };
  }

  get isIdle(): boolean {
    return this.batch === null && this.head === this.queue.length;
  }

  /** Queue parts and start sending. */
  push(parts: readonly TracePart[]): void {
    for (const part of parts) {
      this.queue.push(part);
      this.queuedBytes += part.byteSize;
      this.queuedSpans += part.spanCount;
    }
    this.dropOverBound();
    this.pump();
  }

  /** Resolves when everything queued is delivered or dropped. Waiting retries are tried at once. */
  whenIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    if (this.retryTimer !== undefined) this.call();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Deliver in `process.on('exit')`: synchronously, or not at all. */
  reportSync(): void {
    if (this.reporter.reportSync === undefined || this.isClosed) return;
    this.cancelRetry();
    // A batch that is being sent asynchronously is sent again: twice is better than never, and the spans have ids.
    for (this.batch ??= this.nextBatch(); this.batch !== null; this.batch = this.nextBatch()) {
      try {
        this.reporter.reportSync(this.batch);
        this.delivered(this.batch);
      } catch (error) {
        this.counters.reportErrors++;
        this.lastError = String(error);
        return;
      }
    }
  }

  /** Stop: what is still queued is dropped and counted, a call under way is aborted. */
  close(): void {
    this.isClosed = true;
    this.cancelRetry();
    this.abort?.abort(new ReportError('ERR_SPANLINE_SHUTDOWN', 'The collector was shut down.'));
    this.counters.droppedSpansAtShutdown += this.queuedSpans;
    this.queue.length = 0;
    this.head = 0;
    this.queuedBytes = 0;
    this.queuedSpans = 0;
    this.batch = null;
    this.settleIdle();
  }

  private pump(): void {
    if (this.isCalling || this.retryTimer !== undefined || this.isClosed) return;
    this.batch ??= this.nextBatch();
    if (this.batch === null) this.settleIdle();
    else this.call();
  }

  private call(): void {
    this.cancelRetry();
    const batch = this.batch;
    if (batch === null) {
      this.pump();
      return;
    }
    this.isCalling = true;
    const abort = new AbortController();
    this.abort = abort;
    batch.signal = abort.signal;
    const { reportTimeoutMs } = this.options();
    let isSettled = false;
    const settle = (error?: unknown): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      this.isCalling = false;
      this.abort = null;
      // Delivered by reportSync or dropped meanwhile.
      if (this.batch !== batch) this.pump();
      else if (error === undefined) this.succeeded(batch);
      else this.failed(batch, error);
    };
    const timer = setTimeout(() => {
      const error = new ReportError(
        'ERR_SPANLINE_REPORT_TIMEOUT',
        `${this.reporter.name} took over ${reportTimeoutMs} ms.`,
      );
      abort.abort(error);
      settle(error);
    }, reportTimeoutMs);
    timer.unref();
    try {
      const result = this.reporter.report(batch);
      if (result === undefined) settle();
      else
        result.then(
          () => settle(),
          (error) => settle(error ?? new Error('rejected without a reason')),
        );
    } catch (error) {
      settle(error ?? new Error('threw without a reason'));
    }
  }

  private succeeded(batch: Batch): void {
    this.delivered(batch);
    this.batch = null;
    this.attempt = 0;
    this.continue();
  }

  private failed(batch: Batch, error: unknown): void {
    this.counters.reportErrors++;
    this.lastError = error instanceof Error ? error.message : String(error);
    const { retryable = true, retryAfterMs } = error instanceof ReportError ? error : {};
    if (!retryable) {
      this.counters.droppedSpansRefused += batch.spanCount;
      this.released(batch);
      this.batch = null;
      this.attempt = 0;
      this.continue();
      return;
    }
    this.counters.retries++;
    const { retryMinMs, retryMaxMs } = this.options();
    const backoff = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(this.attempt++, 30));
    // Jitter keeps many processes from coming back together; a server's own word is taken as it is.
    const wait = retryAfterMs ?? backoff * (0.5 + Math.random() / 2);
    this.retryTimer = setTimeout(() => this.call(), wait);
    this.retryTimer.unref();
    this.dropOverBound();
    if (this.retryTimer === undefined) this.pump();
  }

  // Not recursive: a synchronous reporter with a long queue would overflow the stack.
  private continue(): void {
    if (this.head === this.queue.length) this.settleIdle();
    else queueMicrotask(() => this.pump());
  }

  private delivered(batch: Batch): void {
    this.counters.reportedTraces += batch.traces.length;
    this.counters.reportedSpans += batch.spanCount;
    this.released(batch);
  }

  private released(batch: Batch): void {
    this.queuedBytes -= batch.byteSize;
    this.queuedSpans -= batch.spanCount;
  }

  private nextBatch(): Batch | null {
    if (this.head === this.queue.length) return null;
    const traces: TracePart[] = [];
    let spanCount = 0;
    let byteSize = 0;
    const { resource } = this.queue[this.head];
    const { maxBatchSpans } = this.options();
    while (this.head < this.queue.length) {
      const part = this.queue[this.head];
      if (part.resource !== resource) break;
      if (traces.length > 0 && spanCount + part.spanCount > maxBatchSpans) break;
      traces.push(part);
      spanCount += part.spanCount;
      byteSize += part.byteSize;
      this.head++;
    }
    this.trim();
    return { traces, spanCount, byteSize, resource, signal: new AbortController().signal };
  }

  // Taking from the front by index and cutting now and then: `shift` moves the whole array each time.
  private trim(): void {
    if (this.head === this.queue.length || this.head > 1024) {
      this.queue.splice(0, this.head);
      this.head = 0;
    }
  }

  private dropOverBound(): void {
    const { maxQueuedBytes } = this.options();
    if (this.queuedBytes <= maxQueuedBytes) return;
    if (this.batch !== null && this.retryTimer !== undefined) {
      this.dropped(this.batch.traces.length, this.batch.spanCount);
      this.released(this.batch);
      this.batch = null;
      this.cancelRetry();
      this.attempt = 0;
    }
    while (this.queuedBytes > maxQueuedBytes && this.head < this.queue.length) {
      const part = this.queue[this.head++];
      this.queuedBytes -= part.byteSize;
      this.queuedSpans -= part.spanCount;
      this.dropped(1, part.spanCount);
    }
    this.trim();
  }

  private dropped(traces: number, spans: number): void {
    this.counters.droppedTracesQueueFull += traces;
    this.counters.droppedSpansQueueFull += spans;
  }

  private cancelRetry(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
  }

  private settleIdle(): void {
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }
}
