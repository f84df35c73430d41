// Sends metrics over OTLP at an interval, and once more when the process ends. What fails is part of the next export, so nothing is sent twice on purpose
// and nothing is kept: a request has what the instruments have. It must neither hold the process longer than its bound nor keep it alive.
import { ByteWriter } from '../base/bytes/byte-writer.js';
import { Slices, timerMs, timers, within } from '../base/calls/timers.js';
import type { ReportError } from '../collector/reporter.js';
import type { HttpSender } from '../exporters/http/sender.js';
import { endpointOrigin, otlpSender, type ResolvedOtlpOptions } from '../exporters/otlp/options.js';
import { readPartialSuccess } from '../exporters/otlp/read-answer.js';
import type { ArchivedResource } from '../record/archived-span.js';
import type { Reader } from './reader.js';
import { otlpSteps, writeOtlp } from './write-otlp.js';

/** What is sent, where to, and how often. */
export interface OtlpMetricOptions {
  readonly otlp: ResolvedOtlpOptions;
  readonly reader: Reader;
  /** Asked for at each export. */
  resource(): ArchivedResource;
  readonly intervalMs: number;
  /** How long an export may take. */
  readonly timeoutMs: number;
  /** How long one may take when the process ends. */
  readonly exitTimeoutMs: number;
  /** Called once for what goes wrong first; the rest is the same again. */
  warn(message: string): void;
}

export class OtlpMetricExporter {
  readonly #options: OtlpMetricOptions;
  readonly #sender: HttpSender;
  #timer: NodeJS.Timeout | undefined;
  #inFlight: Promise<void> | undefined;
  #hasWarned = false;
  #isClosed = false;
  /** Exports that a server has taken, and those that failed. */
  exportsSent = 0;
  exportsFailed = 0;

  constructor(options: OtlpMetricOptions) {
    this.#options = options;
    const timeoutMs = Math.min(options.timeoutMs, options.otlp.timeoutMs);
    this.#sender = otlpSender({ ...options.otlp, timeoutMs }, 'application/x-protobuf');
  }

  start(): void {
    this.#timer ??= timers.setInterval(() => void this.export(), timerMs(this.#options.intervalMs)).unref();
  }

  /** Resolves when it has arrived or failed; never rejects. One at a time: a second caller waits for the first. */
  export(): Promise<void> {
    this.#inFlight ??= this.#send().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  /** The last one: while it is sent the process stays alive, within its bound. */
  async exportLast(): Promise<void> {
    const { exitTimeoutMs } = this.#options;
    // What was in flight has not all of it.
    await within(
      exitTimeoutMs,
      (this.#inFlight ?? Promise.resolve()).then(() => this.export()),
    );
  }

  /** The same where nothing asynchronous runs any more: this thread waits. */
  exportSync(): void {
    const { reader, resource, exitTimeoutMs } = this.#options;
    const metrics = reader.read();
    const body = writeOtlp(metrics, resource(), reader.readMs);
    const { taken, hasAnswered } = this.#sender.postAtExit([body], exitTimeoutMs);
    if (taken === 1) this.#delivered();
    else {
      this.#failed(`${this.#sender.shownUrl} ${hasAnswered ? 'has not taken the last metrics' : 'did not answer'}.`);
    }
  }

  /** Nothing is sent any more, nor said. */
  close(): void {
    this.#isClosed = true;
    timers.clearInterval(this.#timer);
    this.#timer = undefined;
    this.#sender.close();
  }

  async #body(): Promise<Buffer> {
    const { reader, resource } = this.#options;
    const metrics = reader.read();
    const writer = new ByteWriter();
    const slices = new Slices();
    for (const bytes of otlpSteps(writer, metrics, resource(), reader.readMs))
      if (slices.isOver(bytes)) await slices.next();
    return writer.copy();
  }

  async #send(): Promise<void> {
    try {
      const answer = await this.#sender.post(await this.#body(), new AbortController().signal);
      this.#delivered();
      const partial = readPartialSuccess(answer.body, answer.headers['content-type'] ?? '');
      if (partial === undefined) return;
      const { rejectedSpans: rejected, message } = partial;
      const verdict = rejected > 0 ? `rejected ${rejected} points` : 'took all metrics and warns';
      this.#warn(`The OTLP server ${verdict}: ${message || 'it gave no reason'}`);
    } catch (error) {
      this.#failed((error as ReportError).message);
    }
  }

  #delivered(): void {
    this.exportsSent++;
    this.#options.reader.delivered();
  }

  #failed(reason: string): void {
    this.exportsFailed++;
    const origin = this.exportsSent > 0 ? '' : ` ${endpointOrigin(this.#options.otlp.endpointName, 'METRICS')}`;
    this.#warn(`Metrics were not sent; the next export has them. ${reason}${origin}`);
  }

  #warn(message: string): void {
    if (this.#hasWarned || this.#isClosed) return;
    this.#hasWarned = true;
    this.#options.warn(message);
  }
}
