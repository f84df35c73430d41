// Runs an exporter made for the OpenTelemetry SDK on our records. The SDK itself is not needed. What such an exporter does
// with the event loop, retries and time limits is its own business; here it gets spans, and its verdict is passed on.

import { inSlices, unlessAborted } from '../base/calls/timers.js';
import { OptionError, wrongOption } from '../base/errors.js';
import { wholeNumber } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import { type ReportBatch, ReportError } from '../collector/reporter.js';
import { BatchSpans, type SpanRange, UndeliveredByBatch } from './batch-spans.js';
import { QueuedReporter } from './http/sender.js';
import { type SdkSpan, toSdkResource, toSdkSpan } from './otel-sdk/sdk-span.js';

/** Any span exporter made for the OpenTelemetry SDK, 1.x or 2.x. */
export interface SdkSpanExporter {
  // biome-ignore lint/suspicious/noExplicitAny: each major version of the SDK declares spans of its own, all met by SdkSpan
  export(spans: any[], resultCallback: (result: any) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

/** `code` 0 is success, anything else failure. */
interface SdkExportResult {
  readonly code: number;
  readonly error?: Error;
}

/** Options of {@link OtelSdkReporter}. */
export interface OtelSdkReporterOptions {
  /** Spans in one call of the exporter, which encodes them in one go: what it holds the event loop for. Default 512. */
  readonly maxExportSpans?: number;
  /**
   * Times one call's spans are tried before they are given up, counted. Default 3: exporters retry by themselves, and one
   * that stumbles over a span of its own would send its neighbours again and again.
   */
  readonly maxAttempts?: number;
}

const NUMBERS = { maxExportSpans: 512, maxAttempts: 3 } as const;

const wrongExporter = (exporter: unknown): boolean => {
  const { export: run, shutdown } = (exporter ?? {}) as Partial<SdkSpanExporter>;
  return typeof run !== 'function' || typeof shutdown !== 'function';
};

/** An exporter with an HTTP status has it in `code`: what the server refused once it will refuse again. */
const isFinal = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' && code >= 400 && code < 500 && code !== 408 && code !== 429;
};

/**
 * Hands finished traces to any OpenTelemetry SDK `SpanExporter`, of SDK 1.x or 2.x. Use it for a backend that has an
 * exporter of its own and no OTLP; `OtlpReporter` costs less and loses nothing. A result other than success fails the
 * report with `ERR_SPANLINE_EXPORT`. Throws `ERR_SPANLINE_OPTION` when an option or the exporter is wrong.
 *
 * @example
 * ```ts
 * import { JaegerExporter } from '@opentelemetry/exporter-jaeger';
 *
 * setReporter(new OtelSdkReporter(new JaegerExporter()));
 * ```
 */
export class OtelSdkReporter extends QueuedReporter {
  override readonly name: string;
  readonly #exporter: SdkSpanExporter;
  readonly #maxExportSpans: number;
  readonly #maxAttempts: number;
  readonly #undelivered = new UndeliveredByBatch();
  readonly #counts = { exportCalls: 0, exportsFailed: 0, spansExported: 0, spansGivenUp: 0 };
  #lastError = '';
  /** Failed attempts of the part of a batch that is next. */
  readonly #attempts = new WeakMap<ReportBatch, number>();

  constructor(exporter: SdkSpanExporter, options: OtelSdkReporterOptions = {}) {
    super();
    if (wrongExporter(exporter)) {
      throw new OptionError('OtelSdkReporter needs a SpanExporter: an object with the methods export and shutdown.');
    }
    checkNames(options, Object.keys(NUMBERS));
    const { maxExportSpans = NUMBERS.maxExportSpans, maxAttempts = NUMBERS.maxAttempts } = options;
    for (const [key, value] of Object.entries({ maxExportSpans, maxAttempts })) {
      wholeNumber(`Option "${key}"`, value, [1], wrongOption);
    }
    this.name = `otel-sdk:${exporter.constructor?.name ?? 'SpanExporter'}`;
    this.#exporter = exporter;
    this.#maxExportSpans = maxExportSpans;
    this.#maxAttempts = maxAttempts;
  }

  /** Why the exporter failed last; empty when it never did. */
  get lastError(): string {
    return this.#lastError;
  }

  override async flush(): Promise<void> {
    await super.flush();
    await this.#exporter.forceFlush?.();
  }

  override stats(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  protected override async close(): Promise<void> {
    await this.#exporter.shutdown();
  }

  protected override async deliver(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    const undelivered = this.#undelivered.of(batch);
    const resource = toSdkResource(batch.resource);
    let givenUp: ReportError | undefined;
    for (const range of undelivered.ranges) {
      for (let from = range.from; from < range.to; from += this.#maxExportSpans) {
        const part = { from, to: Math.min(range.to, from + this.#maxExportSpans) };
        const spans = await makeSpans(batch, part, resource, signal);
        signal.throwIfAborted();
        const failure = await this.#export(spans, signal);
        if (failure === undefined) {
          undelivered.deliveredSpans += spans.length;
          this.#counts.spansExported += spans.length;
        } else {
          this.#throwUnlessLast(batch, failure);
          this.#counts.spansGivenUp += spans.length;
          givenUp = failure;
        }
        undelivered.settle(part);
      }
    }
    // When other parts arrived, those given up are in our own counters: to fail the whole batch would count all as lost.
    if (givenUp !== undefined && undelivered.deliveredSpans === 0) {
      throw new ReportError(givenUp.code, givenUp.message, { retryable: false, cause: givenUp.cause });
    }
  }

  #throwUnlessLast(batch: ReportBatch, failure: ReportError): void {
    const attempts = (this.#attempts.get(batch) ?? 0) + 1;
    const isLast = !failure.retryable || attempts >= this.#maxAttempts;
    this.#attempts.set(batch, isLast ? 0 : attempts);
    if (!isLast) throw failure;
  }

  async #export(spans: SdkSpan[], signal: AbortSignal): Promise<ReportError | undefined> {
    this.#counts.exportCalls++;
    try {
      const exported = new Promise<SdkExportResult>((resolve) => this.#exporter.export(spans, resolve));
      // An exporter that never answers is given up when the signal is aborted.
      const { code, error } = await unlessAborted(signal, exported);
      if (code === 0) return undefined;
      return this.#failed(spans.length, error ?? new Error('it gave no reason'));
    } catch (error) {
      return this.#failed(spans.length, error);
    }
  }

  #failed(spanCount: number, error: unknown): ReportError {
    this.#counts.exportsFailed++;
    const reason = error instanceof Error ? error.message : String(error);
    this.#lastError = `${this.name} did not export ${spanCount} spans: ${reason}`;
    if (error instanceof ReportError) return error;
    return new ReportError('ERR_SPANLINE_EXPORT', this.#lastError, { retryable: !isFinal(error), cause: error });
  }
}

const makeSpans = async (
  batch: ReportBatch,
  { from, to }: SpanRange,
  resource: ReturnType<typeof toSdkResource>,
  signal: AbortSignal,
): Promise<SdkSpan[]> => {
  const records = new BatchSpans(batch);
  const spans: SdkSpan[] = [];
  const makeOne = (index: number): undefined => {
    spans.push(toSdkSpan(records.at(from + index), resource));
  };
  await inSlices(to - from, makeOne, signal);
  return spans;
};
