// Pipeline: the queue in front of one reporter. One call at a time, retry with backoff inside a byte bound, oldest
// trace dropped first and counted. A reporter that throws, rejects or hangs must never be felt by the application.
import { backoffMs, isThenable, timerMs, timers } from '../base/calls/timers.js';
import { errorMessage } from '../span/arguments.js';
import type { ResolvedOptions } from './options.js';
import { type ReportBatch, ReportError, type Reporter, type Resource, type Trace } from './reporter.js';

/** A trace, or a part of one, on its way to a reporter. */
export interface QueuedTrace extends Trace {
  readonly resource: Resource;
  /** Called when a reporter that may keep it has been given it. */
  detach?(): void;
  /** Called when the reporter reads it no more; it was queued as one that is held for that. */
  release?(): void;
  /** Called when a program gets it, which may keep it. */
  show?(): void;
}

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

/** A batch as the library itself reads it, without any trace counting as shown to a program. */
export interface PartBatch extends ReportBatch {
  readonly parts?: readonly QueuedTrace[];
}

interface Batch extends PartBatch {
  readonly parts: readonly QueuedTrace[];
  /** The reporter has looked at its traces, and may keep them. */
  wasRead: boolean;
  /** A call that was given up may go on to read. */
  isAbandoned: boolean;
  readonly byteSize: number;
  /** Number of its first part, in the order they were pushed. */
  readonly first: number;
  signal: AbortSignal;
}

export class Pipeline {
  readonly #options: () => ResolvedOptions;
  // Those from `#head` to before `#tail` wait. Never shortened: an array that grows again at each report leaves copies of itself.
  readonly #queue: (QueuedTrace | undefined)[] = [];
  #head = 0;
  #tail = 0;
  #queuedBytes = 0;
  #queuedSpans = 0;
  /** Parts pushed so far; a mark to wait for. */
  #pushed = 0;
  /** The batch being sent or waiting to be sent again; it stays the oldest. */
  #batch: Batch | null = null;
  #isCalling = false;
  #attempt = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #abort: AbortController | null = null;
  #waiters: { readonly mark: number; readonly resolve: () => void }[] = [];
  isClosed = false;
  /** Its reporter is released when this resolves. */
  released: Promise<void> | undefined;
  lastError: string | undefined;

  readonly #counters = {
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
    options: () => ResolvedOptions,
  ) {
    this.#options = options;
  }

  stats(): PipelineStats {
    return { ...this.#counters, queuedSpans: this.#queuedSpans, queuedBytes: this.#queuedBytes };
  }

  get isIdle(): boolean {
    return this.#batch === null && this.#head === this.#tail;
  }

  /** Queue parts and start sending. Older ones make room for them; they do not make room for each other, for the queue before had the bound. */
  push(parts: readonly QueuedTrace[]): void {
    const before = this.#queuedBytes;
    this.#add(parts);
    this.#dropOverBound(this.#queuedBytes - before);
    this.#pump();
  }

  /** What {@link whenSettled} and {@link pendingBefore} are asked about: everything pushed until now. */
  get mark(): number {
    return this.#pushed;
  }

  /** Resolves when everything pushed before `mark` is delivered or dropped. A waiting retry is tried at once. */
  whenSettled(mark = this.#pushed): Promise<void> {
    if (this.#isSettled(mark)) return Promise.resolve();
    if (this.#retryTimer !== undefined) this.#call();
    if (this.#isSettled(mark)) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ mark, resolve }));
  }

  /** Spans pushed before `mark` that are neither delivered nor dropped. */
  pendingBefore(mark: number): number {
    const batch = this.#batch;
    const sending = batch === null ? [] : batch.parts.slice(0, Math.max(0, mark - batch.first));
    const waiting = this.#parts(this.#head, this.#head + Math.max(0, mark - this.#headNumber));
    return [...sending, ...waiting].reduce((sum, part) => sum + part.spanCount, 0);
  }

  /**
   * Queue parts and deliver everything in `process.on('exit')`: synchronously, or not at all. A reporter without
   * `reportSync` gets its `report` called as long as that works synchronously. It gets the time left until `deadline`.
   */
  reportSync(parts: readonly QueuedTrace[], deadline = timers.monotonicMs() + this.#options().exitTimeoutMs): void {
    this.#add(parts);
    const { reporter } = this;
    if (this.isClosed || (this.#isCalling && reporter.reportSync === undefined)) return;
    this.#cancelRetry();
    // A batch that is being sent asynchronously is sent again: twice is better than never, and the spans have ids.
    if (this.#isCalling && this.#batch !== null) this.#batch.isAbandoned = true;
    for (this.#batch ??= this.#nextBatch(); this.#batch !== null; this.#batch = this.#nextBatch()) {
      const left = Math.max(0, deadline - timers.monotonicMs());
      try {
        const result =
          reporter.reportSync === undefined ? reporter.report(this.#batch) : reporter.reportSync(this.#batch, left);
        if (isThenable(result)) return;
        this.#delivered(this.#batch);
      } catch (error) {
        this.#counters.reportErrors++;
        this.lastError = messageOf(error);
        return;
      }
    }
  }

  /** Stop: what is still queued is dropped and counted, a call in flight is aborted. */
  close(): void {
    this.isClosed = true;
    this.#cancelRetry();
    this.#abort?.abort(new ReportError('ERR_SPANLINE_SHUTDOWN', 'The collector was shut down.'));
    this.#counters.droppedSpansAtShutdown += this.#queuedSpans;
    this.#queue.length = 0;
    this.#head = 0;
    this.#tail = 0;
    this.#queuedBytes = 0;
    this.#queuedSpans = 0;
    this.#batch = null;
    this.#settleWaiters();
  }

  #add(parts: readonly QueuedTrace[]): void {
    for (const part of parts) {
      this.#queue[this.#tail++] = part;
      this.#queuedBytes += part.byteSize;
      this.#queuedSpans += part.spanCount;
    }
    this.#pushed += parts.length;
  }

  get #headNumber(): number {
    return this.#pushed - (this.#tail - this.#head);
  }

  #isSettled(mark: number): boolean {
    return (this.#batch === null || this.#batch.first >= mark) && this.#headNumber >= mark;
  }

  #pump(): void {
    if (this.#isCalling || this.#retryTimer !== undefined || this.isClosed) return;
    this.#batch ??= this.#nextBatch();
    this.#settleWaiters();
    if (this.#batch !== null) this.#call();
  }

  #call(): void {
    this.#cancelRetry();
    // There is one: what drops it takes its timer away.
    const batch = this.#batch as Batch;
    this.#isCalling = true;
    const abort = new AbortController();
    this.#abort = abort;
    batch.signal = abort.signal;
    const { reportTimeoutMs } = this.#options();
    let isSettled = false;
    const settle = (error?: unknown): void => {
      if (isSettled) return;
      isSettled = true;
      timers.clearTimeout(timer);
      this.#isCalling = false;
      this.#abort = null;
      // Delivered by reportSync or dropped meanwhile.
      if (this.#batch !== batch) this.#pump();
      else if (error === undefined) {
        this.#delivered(batch);
        this.#finish();
      } else this.#failed(batch, error);
    };
    const timer = timers.setTimeout(() => {
      const error = new ReportError(
        'ERR_SPANLINE_REPORT_TIMEOUT',
        `${this.reporter.name} took over ${reportTimeoutMs} ms.`,
      );
      batch.isAbandoned = true;
      abort.abort(error);
      settle(error);
    }, timerMs(reportTimeoutMs));
    timer.unref();
    try {
      const result = this.reporter.report(batch);
      // Anything but a promise is a synchronous reporter's own business: an arrow function often returns something.
      if (!isThenable(result)) settle();
      else
        result.then(
          () => settle(),
          (error) => settle(error ?? new Error('rejected without a reason')),
        );
    } catch (error) {
      settle(error ?? new Error('threw without a reason'));
    }
  }

  #failed(batch: Batch, error: unknown): void {
    this.#counters.reportErrors++;
    this.lastError = messageOf(error);
    // Not instanceof: the error may come from the other build of this package.
    const { retryable = true, retryAfterMs } = Object(error) as Partial<ReportError>;
    if (!retryable) {
      this.#counters.droppedSpansRefused += batch.spanCount;
      this.#released(batch);
      this.#finish();
      return;
    }
    this.#counters.retries++;
    const { retryMinMs, retryMaxMs } = this.#options();
    // A server's own word is taken as it is.
    const wait = Number.isFinite(retryAfterMs)
      ? (retryAfterMs as number)
      : backoffMs(++this.#attempt, { firstMs: retryMinMs, maxMs: retryMaxMs });
    this.#retryTimer = timers.setTimeout(() => this.#call(), timerMs(wait));
    this.#retryTimer.unref();
    this.#dropOverBound();
    if (this.#retryTimer === undefined) this.#pump();
  }

  // It is done with, and the next one comes. Not recursive: a synchronous reporter with a long queue would overflow the stack.
  #finish(): void {
    this.#batch = null;
    this.#attempt = 0;
    this.#settleWaiters();
    if (this.#head !== this.#tail) timers.queueMicrotask(() => this.#pump());
  }

  #delivered(batch: Batch): void {
    this.#counters.reportedTraces += batch.parts.length;
    this.#counters.reportedSpans += batch.spanCount;
    this.#released(batch);
  }

  #released(batch: Batch): void {
    this.#queuedBytes -= batch.byteSize;
    this.#queuedSpans -= batch.spanCount;
    const mayKeep = this.reporter.keepsNoTrace !== true;
    // One that has kept the batch itself may read it later.
    if (mayKeep && !batch.wasRead) return;
    for (const part of batch.parts) {
      // Whoever keeps a trace must not hold what came with it.
      if (mayKeep) part.detach?.();
      if (!batch.isAbandoned) part.release?.();
    }
  }

  #nextBatch(): Batch | null {
    if (this.#head === this.#tail) return null;
    const from = this.#head;
    const first = this.#headNumber;
    const { resource } = this.#first;
    const { maxBatchSpans } = this.#options();
    let spanCount = 0;
    let byteSize = 0;
    while (this.#head < this.#tail) {
      const part = this.#first;
      if (part.resource !== resource) break;
      if (this.#head > from && spanCount + part.spanCount > maxBatchSpans) break;
      spanCount += part.spanCount;
      byteSize += part.byteSize;
      this.#head++;
    }
    const parts = this.#parts(from, this.#head);
    this.#queue.fill(undefined, from, this.#head);
    this.#trim();
    const { signal } = new AbortController();
    const batch = { parts, wasRead: false, isAbandoned: false, spanCount, byteSize, first, resource, signal };
    return Object.defineProperty(batch, 'traces', TRACES) as unknown as Batch;
  }

  get #first(): QueuedTrace {
    return this.#queue[this.#head] as QueuedTrace;
  }

  #parts(from: number, to: number): QueuedTrace[] {
    return this.#queue.slice(from, to) as QueuedTrace[];
  }

  // Taking from the front by index and moving the rest now and then: `shift` moves the whole array each time.
  #trim(): void {
    if (this.#head !== this.#tail && this.#head <= 1024) return;
    const [from, waiting] = [this.#head, this.#tail - this.#head];
    // Not `copyWithin`, which asks an array for every item whether it has it.
    for (let i = 0; i < waiting; i++) this.#queue[i] = this.#queue[from + i];
    this.#queue.fill(undefined, Math.max(from, waiting), this.#tail);
    this.#tail = waiting;
    this.#head = 0;
  }

  /** @param atLeast Bytes that may stay whatever the bound is. */
  #dropOverBound(atLeast = 0): void {
    const maxQueuedBytes = Math.max(this.#options().maxQueuedBytes, atLeast);
    if (this.#queuedBytes <= maxQueuedBytes) return;
    if (this.#batch !== null && this.#retryTimer !== undefined) {
      this.#dropped(this.#batch.parts.length, this.#batch.spanCount);
      this.#released(this.#batch);
      this.#batch = null;
      this.#cancelRetry();
      this.#attempt = 0;
    }
    while (this.#queuedBytes > maxQueuedBytes && this.#head < this.#tail) {
      const part = this.#first;
      this.#queue[this.#head++] = undefined;
      this.#queuedBytes -= part.byteSize;
      this.#queuedSpans -= part.spanCount;
      this.#dropped(1, part.spanCount);
      part.release?.();
    }
    this.#trim();
    this.#settleWaiters();
  }

  #dropped(traces: number, spans: number): void {
    this.#counters.droppedTracesQueueFull += traces;
    this.#counters.droppedSpansQueueFull += spans;
  }

  #cancelRetry(): void {
    timers.clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
  }

  #settleWaiters(): void {
    if (this.#waiters.length === 0) return;
    const settled = this.#waiters.filter(({ mark }) => this.#isSettled(mark));
    this.#waiters = this.#waiters.filter((waiter) => !settled.includes(waiter));
    for (const { resolve } of settled) resolve();
  }
}

// One getter for all batches: V8 keeps one made for each in a hidden class of its own, and with it all traces of the batch until the next
// collection of old objects.
const TRACES: PropertyDescriptor & ThisType<Batch> = {
  enumerable: true,
  get() {
    if (!this.wasRead) for (const part of this.parts) part.show?.();
    this.wasRead = true;
    return this.parts;
  },
};

const messageOf = (error: unknown): string => errorMessage(error) ?? 'no message';
