// The way to Jaeger: one reporter, four protocols. It only chooses; each protocol is a reporter of its own.
import type { ReportBatch, Reporter } from '../collector/reporter.js';
import type { QueuedReporter } from './http/sender.js';
import { HttpReporter } from './jaeger/http-reporter.js';
import {
  checkProtocol,
  type JaegerHttpOptions,
  type JaegerOtlpOptions,
  type JaegerProtocol,
  type JaegerReporterOptions,
  type JaegerUdpOptions,
} from './jaeger/options.js';
import { UdpReporter } from './jaeger/udp-reporter.js';
import { OtlpReporter } from './otlp.js';

export type {
  JaegerHttpOptions,
  JaegerOtlpOptions,
  JaegerProtocol,
  JaegerReporterOptions,
  JaegerUdpOptions,
} from './jaeger/options.js';

type Way = QueuedReporter & Pick<Reporter, 'reportSync'> & { readonly lastError: string };

const makeWay = (options: JaegerReporterOptions): Way => {
  const chosen = checkProtocol(options);
  if (chosen === 'thrift-http') return new HttpReporter(options as JaegerHttpOptions);
  if (chosen !== 'otlp') return new UdpReporter(options as JaegerUdpOptions);
  // To the OTLP reporter the word means protobuf or JSON, and its default serves.
  const { protocol: _chosen, ...others } = options as JaegerOtlpOptions;
  return new OtlpReporter(others);
};

/**
 * Sends finished traces to Jaeger. Use it without options for a Jaeger on this host: it speaks OTLP to port 4318, where
 * nothing of a span is lost. Choose a Thrift protocol for an older Jaeger or an agent; it keeps microseconds, and the
 * nanoseconds as tags. Sizes are in bytes, times in milliseconds. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * setReporter(new JaegerReporter({ protocol: 'thrift-compact-udp', host: 'agent.internal' }));
 * ```
 */
export class JaegerReporter implements Reporter {
  readonly name = 'jaeger';
  /** @internal */
  readonly keepsNoTrace = true;
  readonly protocol: JaegerProtocol;
  readonly #way: Way;
  /** Present when the protocol can send without waiting. */
  readonly reportSync?: (batch: ReportBatch, timeoutMs: number) => void;

  constructor(options: JaegerReporterOptions = {}) {
    this.#way = makeWay(options);
    this.protocol = options.protocol ?? 'otlp';
    const way = this.#way;
    if (way.reportSync !== undefined) this.reportSync = (batch, timeoutMs) => way.reportSync?.(batch, timeoutMs);
  }

  /** The last thing that went wrong without failing a report, such as a span too large for a packet; else empty. */
  get lastError(): string {
    return this.#way.lastError;
  }

  report(batch: ReportBatch): Promise<void> {
    return this.#way.report(batch);
  }

  flush(): Promise<void> {
    return this.#way.flush();
  }

  shutdown(): Promise<void> {
    return this.#way.shutdown();
  }

  stats(): Readonly<Record<string, number>> {
    return this.#way.stats();
  }
}
