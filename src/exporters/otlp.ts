// Sends finished traces to any OTLP server over HTTP. It must never hold the event loop, nor send again what is known to have
// arrived.
import { attempt, warn as emitWarning } from '../base/calls/attempt.js';
import { type ReportBatch, ReportError } from '../collector/reporter.js';
import { JsonFormat } from '../formats/otlp/write-json.js';
import { ProtobufFormat } from '../formats/otlp/write-protobuf.js';
import type { FinishedSpan } from '../record/finished-span.js';
import {
  type EncodedRequest,
  encodeRequests,
  encodeSteps,
  type LeftOut,
  RequestBuilder,
  type Undelivered,
  UndeliveredByBatch,
} from './batch-spans.js';
import { type HttpAnswer, type HttpSender, QueuedHttpReporter } from './http/sender.js';
import {
  endpointOrigin,
  type OtlpReporterOptions,
  otlpSender,
  type ResolvedOtlpOptions,
  resolveOtlpOptions,
} from './otlp/options.js';
import { readPartialSuccess } from './otlp/read-answer.js';

export type { TlsOptions } from './http/send-at-exit.js';
export type { OtlpReporterOptions } from './otlp/options.js';

/** Says what is wrong, at once where the process is about to end. */
type Warn = (message: string, isExiting: boolean) => void;

const warnProcess: Warn = (message, isExiting) => {
  const code = 'ERR_SPANLINE_OTLP';
  // At the exit nothing comes after this.
  if (isExiting)
    attempt(() => process.emit('warning', Object.assign(new Error(message), { name: 'SpanlineWarning', code })));
  else emitWarning(message, code);
};

/** Every span that the reporter does not deliver is in one of these numbers. */
class OtlpCounters {
  readonly #warn: Warn;
  /** What the user should know last; empty when nothing went wrong. */
  lastError = '';
  readonly counts = {
    requestsSent: 0,
    requestsFailed: 0,
    spansSent: 0,
    bytesSent: 0,
    rejectedSpans: 0,
    refusedSpans: 0,
    spansTooLarge: 0,
    spansInvalid: 0,
  };
  #hasWarned = false;
  /** Somebody has answered, or it was said that nobody does. */
  #isAnswerKnown = false;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** @param answer Undefined where nobody could read it. */
  sent(spanCount: number, bytes: number, answer: HttpAnswer | undefined): void {
    this.#isAnswerKnown = true;
    this.counts.requestsSent++;
    this.counts.spansSent += spanCount;
    this.counts.bytesSent += bytes;
    if (answer === undefined || answer.body.length === 0) return;
    const partial = readPartialSuccess(answer.body, answer.headers['content-type'] ?? '');
    if (partial === undefined) return;
    const { rejectedSpans, message } = partial;
    this.counts.rejectedSpans += rejectedSpans;
    const verdict = rejectedSpans > 0 ? `rejected ${rejectedSpans} of ${spanCount} spans` : 'took all spans and warns';
    this.#note(`The OTLP server ${verdict}: ${message || 'it gave no reason'}`);
  }

  refused(spanCount: number, error: ReportError): void {
    this.counts.refusedSpans += spanCount;
    this.#note(error.message);
  }

  /** Said of the first request, once: later ones are in the counters, and a collector may come up after the service. */
  unanswered(what: string, endpointName: string, isExiting: boolean): void {
    if (this.#isAnswerKnown) return;
    this.#isAnswerKnown = true;
    const origin = endpointOrigin(endpointName);
    this.#warn(`No collector answers, so spans wait and the oldest are dropped. ${what} ${origin}`, isExiting);
  }

  leftOut(span: FinishedSpan, reason: 'too-large' | 'invalid', maxBytes: number): void {
    const which = `OtlpReporter left out span ${JSON.stringify(String(span.name).slice(0, 100))} of trace ${span.traceId}`;
    if (reason === 'too-large') {
      this.counts.spansTooLarge++;
      this.#note(`${which}: it needs more than maxRequestBytes, ${maxBytes}; record less on it or raise the option`);
    } else {
      this.counts.spansInvalid++;
      this.#note(`${which}: its name or a property has a type that spans cannot have`);
    }
  }

  // Warned of once: what is wrong with one request is wrong with many. The others are in stats().
  #note(message: string): void {
    this.lastError = message;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(message, false);
  }
}

/** Codes of requests that nobody has answered. */
const UNANSWERED: readonly string[] = ['ERR_SPANLINE_CONNECT', 'ERR_SPANLINE_HTTP_TIMEOUT'];

/**
 * Sends finished traces over OTLP/HTTP, in protobuf or JSON, to the OpenTelemetry Collector, Jaeger, Tempo or any other
 * OTLP server. Batches are split by bytes, compressed when asked, and what a server says with a partial success or a
 * failure is in {@link OtlpReporter.stats} and {@link OtlpReporter.lastError}. The collector tries again what failed in a way that may pass.
 * Defaults come from OpenTelemetry's OTEL_EXPORTER_OTLP_* variables. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * const headers = { 'api-key': process.env.OTLP_KEY ?? '' };
 * setReporter(new OtlpReporter({ endpoint: 'https://otlp.example.com', headers, compression: 'gzip' }));
 * ```
 */
export class OtlpReporter extends QueuedHttpReporter {
  override readonly name = 'otlp';
  /** Where requests go. */
  readonly url: string;
  readonly #options: ResolvedOtlpOptions;
  readonly #sender: HttpSender;
  readonly #builder: RequestBuilder;
  readonly #undelivered = new UndeliveredByBatch();
  readonly #counters: OtlpCounters;

  /**
   * @param env Internal: the environment that is read, where it is not the process's.
   * @param warn Internal: where warnings go, if not to the process.
   */
  constructor(options: OtlpReporterOptions = {}, env: NodeJS.ProcessEnv = process.env, warn: Warn = warnProcess) {
    super();
    this.#counters = new OtlpCounters(warn);
    const resolved = resolveOtlpOptions(options, env);
    this.#options = resolved;
    this.url = resolved.url;
    this.#builder = this.#newBuilder();
    this.#sender = otlpSender(resolved, this.#builder.contentType);
  }

  /** The last thing that went wrong without failing a report: a partial success, a span left out; else empty. */
  get lastError(): string {
    return this.#counters.lastError;
  }

  /**
   * Sends what is left of `batch` before the process ends, from a thread of its own, while this one waits. What was in flight goes out
   * again: a server may get it twice, with the same ids.
   */
  reportSync(batch: ReportBatch, timeoutMs: number): void {
    if (timeoutMs <= 0) throw this.#untaken();
    const undelivered = this.#undelivered.of(batch);
    // That of a report in flight is in the middle of a request.
    const builder = this.#newBuilder();
    const steps = encodeSteps(batch, undelivered, builder, this.#options.maxRequestSpans, this.#leaveOut);
    const requests = [...steps].filter((step) => typeof step !== 'number');
    const bodies = requests.map(({ body }) => body);
    const { taken, hasAnswered, bytes } = this.#sender.postAtExit(bodies, timeoutMs);
    requests.slice(0, taken).forEach(({ range, spanCount }, i) => {
      undelivered.settle(range);
      this.#counters.sent(spanCount, bytes[i], undefined);
    });
    if (taken === requests.length) return;
    this.#counters.counts.requestsFailed++;
    if (!hasAnswered)
      this.#counters.unanswered(`${this.#sender.shownUrl} did not answer.`, this.#options.endpointName, true);
    throw this.#untaken();
  }

  override stats(): Readonly<Record<string, number>> {
    return { ...this.#counters.counts };
  }

  protected override close(): void {
    this.#sender.close();
  }

  protected override async deliver(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const undelivered = this.#undelivered.of(batch);
    const { maxRequestSpans, concurrency } = this.#options;
    const inFlight = new Set<Promise<void>>();
    const failures: ReportError[] = [];
    const requests = encodeRequests(batch, undelivered, this.#builder, maxRequestSpans, this.#leaveOut, signal);
    try {
      for await (const request of requests) {
        const sending = this.#send(request, undelivered, signal).catch(
          (error: ReportError) => void failures.push(error),
        );
        inFlight.add(sending);
        void sending.then(() => inFlight.delete(sending));
        if (inFlight.size >= concurrency) await Promise.race(inFlight);
        // What may pass later would only meet the same trouble now.
        if (failures.some((failure) => failure.retryable)) break;
      }
    } finally {
      await Promise.all(inFlight);
      this.#builder.trim();
    }
    signal.throwIfAborted();
    conclude(failures, undelivered);
  }

  #newBuilder(): RequestBuilder {
    const { protocol, maxRequestBytes } = this.#options;
    return new RequestBuilder(protocol === 'json' ? new JsonFormat() : new ProtobufFormat(), maxRequestBytes);
  }

  #untaken(): ReportError {
    return new ReportError('ERR_SPANLINE_EXIT', `${this.url} has not taken all spans before the process ended.`);
  }

  readonly #leaveOut: LeftOut = (span, reason) => {
    this.#counters.leftOut(span, reason, this.#options.maxRequestBytes);
  };

  async #send(request: EncodedRequest, undelivered: Undelivered, signal: AbortSignal): Promise<void> {
    const { body, range, spanCount } = request;
    try {
      const answer = await this.#sender.post(body, signal);
      // Only now: of a request that failed, a part may still be on its way.
      this.#builder.release(body);
      undelivered.settle(range);
      undelivered.deliveredSpans += spanCount;
      this.#counters.sent(spanCount, answer.sentBytes, answer);
    } catch (error) {
      this.#counters.counts.requestsFailed++;
      if (error instanceof ReportError && !error.retryable) {
        undelivered.settle(range);
        this.#counters.refused(spanCount, error);
      }
      if (error instanceof ReportError && UNANSWERED.includes(error.code))
        this.#counters.unanswered(error.message, this.#options.endpointName, false);
      throw error;
    }
  }
}

/** Throws what the collector has to know: to try again, or that nothing of the batch arrived. */
const conclude = (failures: readonly ReportError[], undelivered: Undelivered): void => {
  const retryable = failures.filter((failure) => failure.retryable);
  if (retryable.length > 0) throw retryable.reduce((a, b) => ((b.retryAfterMs ?? 0) > (a.retryAfterMs ?? 0) ? b : a));
  // When some requests arrived and others were refused, the refused spans are in our own counters: to fail the whole batch
  // would count the others as lost.
  if (failures.length > 0 && undelivered.deliveredSpans === 0) throw failures[0];
};
