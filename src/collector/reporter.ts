// What a reporter is: the one interface between the collector and every way out. No behaviour but the error type.
import { SpanlineError } from '../base/errors.js';
import type { SpanRecord } from '../record/record.js';
import type { Properties } from '../rows/property.js';

/** Who produced the spans. Sent with every batch, never frozen from a first span. */
export interface Resource {
  readonly serviceName: string;
  /** Further resource attributes; `service.name` is not repeated here. */
  readonly attributes: Properties;
}

/** The spans of one trace that are reported together. Normally the whole trace; see `isContinuation`. */
export interface Trace {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  readonly spanCount: number;
  /** Estimated bytes held until reported. */
  readonly byteSize: number;
  /** True when spans of this trace were reported or dropped before (late spans, or an early report of an open root). */
  readonly isContinuation: boolean;
  /** The i-th span, made on demand: 0 is the root when the root is in this batch. Lets an encoder work in slices. */
  spanAt(index: number): SpanRecord;
  /** All spans, root first; made at first use and kept. */
  readonly spans: readonly SpanRecord[];
  /** The root, when it is in this batch. */
  readonly root: SpanRecord | undefined;
  /** Duration of the root in nanoseconds; 0 when the root is not in this batch. */
  readonly durationNs: number;
  /** True when any span has the status `error`. */
  readonly hasError: boolean;
}

/** What a reporter gets: traces, or parts of them, that share one resource. Never empty. */
export interface ReportBatch {
  readonly traces: readonly Trace[];
  /** Sum over the traces. */
  readonly spanCount: number;
  readonly resource: Resource;
  /** Aborted when the report takes longer than its bound, or at shutdown. */
  readonly signal: AbortSignal;
}

/**
 * A way out for finished traces. `report` may be sync or async; a throw or rejection means: not delivered.
 *
 * @example
 * ```ts
 * setReporter({
 *   name: 'slow',
 *   report({ traces }) {
 *     for (const one of traces) if (one.durationNs > 1e9) console.log(one.traceId, one.root?.name);
 *   },
 * });
 * ```
 */
export interface Reporter {
  /** Shown in `stats()`. */
  readonly name: string;
  /**
   * True for a reporter that keeps no trace of a batch once `report` has settled. Those of any other are copied then, so that a trace
   * that is kept does not keep the memory of all that came with it.
   */
  readonly keepsNoTrace?: boolean;
  /** At most one call at a time. The collector retries a failed batch with backoff unless the error says `retryable: false`. */
  report(batch: ReportBatch): void | Promise<void>;
  /**
   * Last chance in `process.on('exit')`, where nothing asynchronous runs: it may take `timeoutMs` at most, 0 where a flush has used up the
   * time of the exit; what needs no waiting is delivered then too. Leave out when there is no synchronous way.
   */
  reportSync?(batch: ReportBatch, timeoutMs: number): void;
  /** Wait until everything handed over is out of this process. */
  flush?(): Promise<void>;
  /** Release sockets and files; called once. */
  shutdown?(): Promise<void>;
  /** Counters of this reporter: sent, refused, bytes. */
  stats?(): Readonly<Record<string, number>>;
}

/**
 * Why a batch was not delivered. `retryable: false` makes the collector drop it, counted, instead of trying again.
 *
 * @example
 * ```ts
 * setReporter({
 *   name: 'picky',
 *   report({ spanCount }) {
 *     if (spanCount > 1000) throw new ReportError('ERR_TOO_MANY', `${spanCount} spans are too many`, { retryable: false });
 *   },
 * });
 * ```
 */
export class ReportError extends SpanlineError {
  override readonly name = 'ReportError';
  /** @param code Stable, for programs: `ERR_SPANLINE_HTTP_STATUS`, `ERR_SPANLINE_CONNECT`, ... */
  constructor(
    code: string,
    message: string,
    readonly options: { readonly retryable?: boolean; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(code, message, { cause: options.cause });
  }
  get retryable(): boolean {
    return this.options.retryable ?? true;
  }
  /** The server's Retry-After in milliseconds, when it gave one. */
  get retryAfterMs(): number | undefined {
    return this.options.retryAfterMs;
  }
}
