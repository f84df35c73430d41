// Reports spans to a Jaeger collector over HTTP: the same messages as over UDP, but larger, answered, and retried.
// A request that the server accepted is never sent again, whatever becomes of the next.

import { Slices } from '../../base/calls/timers.js';
import { type ReportBatch, ReportError } from '../../collector/reporter.js';
import { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../formats/jaeger-thrift/binary-writer.js';
import { HttpSender, QueuedHttpReporter } from '../http/sender.js';
import { type JaegerHttpOptions, resolveHttp } from './options.js';
import { DeliveryProgress, type PackedMessage } from './pack-batch.js';

export class HttpReporter extends QueuedHttpReporter {
  override readonly name = 'jaeger';
  readonly #sender: HttpSender;
  readonly #progress: DeliveryProgress;
  readonly #counts = { requestsSent: 0, requestsFailed: 0, spansSent: 0, spansRefused: 0, bytesSent: 0 };

  constructor(options: JaegerHttpOptions) {
    super();
    const { endpoint, headers, tls, timeoutMs, maxRequestBytes, keepNanoseconds } = resolveHttp(options);
    const contentType = { 'content-type': 'application/x-thrift' };
    this.#sender = new HttpSender({ endpoint, headers: { ...headers, ...contentType }, timeoutMs, tls });
    const packer = new BatchPacker(new BinaryWriter(), 'batch', maxRequestBytes, keepNanoseconds);
    this.#progress = new DeliveryProgress('JaegerReporter (HTTP)', packer, 'maxRequestBytes');
  }

  get lastError(): string {
    return this.#progress.lastError;
  }

  override stats(): Readonly<Record<string, number>> {
    return { ...this.#counts, spansTooLarge: this.#progress.spansTooLarge };
  }

  protected override close(): void {
    this.#sender.close();
  }

  protected override async deliver(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const slices = new Slices();
    const undelivered = this.#progress.of(batch);
    let refusal: ReportError | null = null;
    for (const message of this.#progress.pack(batch, slices)) {
      // Before a message too: handing megabytes to the socket is a stretch of work of its own.
      await slices.next();
      signal.throwIfAborted();
      if (message === null) continue;
      const refused = await this.#post(message, signal);
      refusal ??= refused;
      if (refused === null) undelivered.deliveredSpans += message.spanCount;
      undelivered.settle({ from: 0, to: message.throughSpan });
    }
    // When some requests arrived, the refused spans are in our own counter: to fail the batch would count all as lost.
    if (refusal !== null && undelivered.deliveredSpans === 0) throw refusal;
  }

  /** Null, or why the server will never take this message. Throws what may pass later. */
  async #post({ bytes, spanCount }: PackedMessage, signal: AbortSignal): Promise<ReportError | null> {
    try {
      await this.#sender.post(bytes, signal);
    } catch (error) {
      this.#counts.requestsFailed++;
      if (!(error instanceof ReportError) || error.retryable) throw error;
      this.#counts.spansRefused += spanCount;
      this.#progress.lastError = error.message;
      return error;
    }
    this.#counts.requestsSent++;
    this.#counts.spansSent += spanCount;
    this.#counts.bytesSent += bytes.length;
    return null;
  }
}
