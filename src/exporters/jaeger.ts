// The way to Jaeger: one reporter, four protocols. It only chooses; each protocol is a reporter of its own.
import type { ReportBatch, Reporter } from '../collector/reporter.js';
import { BinaryWriter } from '../formats/jaeger-thrift/binary-writer.js';
import { CompactWriter } from '../formats/jaeger-thrift/compact-writer.js';
import { HttpReporter } from './jaeger/http-reporter.js';
import {
  checkProtocol,
  type JaegerHttpOptions,
  type JaegerOtlpOptions,
  type JaegerProtocol,
  type JaegerReporterOptions,
  type JaegerUdpOptions,
  resolveHttp,
  resolveUdp,
} from './jaeger/options.js';
import { UdpReporter } from './jaeger/udp-reporter.js';
import { OtlpReporter, type OtlpReporterOptions } from './otlp.js';

export type {
  JaegerHttpOptions,
  JaegerOtlpOptions,
  JaegerProtocol,
  JaegerReporterOptions,
  JaegerUdpOptions,
} from './jaeger/options.js';

/** `protocol` chose the way here; to the OTLP reporter the word means protobuf or JSON, and its default serves. */
const toOtlp = ({ protocol: _chosen, ...options }: JaegerOtlpOptions): OtlpReporterOptions => options;

const makeWay = (options: JaegerReporterOptions): Reporter & { readonly lastError?: string } => {
  switch (checkProtocol(options)) {
    case 'thrift-compact-udp':
      return new UdpReporter({ writer: new CompactWriter(), ...resolveUdp(options as JaegerUdpOptions) });
    case 'thrift-binary-udp':
      return new UdpReporter({ writer: new BinaryWriter(), ...resolveUdp(options as JaegerUdpOptions) });
    case 'thrift-http':
      return new HttpReporter(resolveHttp(options as JaegerHttpOptions));
    case 'otlp':
      return new OtlpReporter(toOtlp(options as JaegerOtlpOptions));
  }
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
  readonly #way: Reporter & { readonly lastError?: string };
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
    return this.#way.lastError ?? '';
  }

  async report(batch: ReportBatch): Promise<void> {
    await this.#way.report(batch);
  }

  async flush(): Promise<void> {
    await this.#way.flush?.();
  }

  async shutdown(): Promise<void> {
    await this.#way.shutdown?.();
  }

  stats(): Readonly<Record<string, number>> {
    return this.#way.stats?.() ?? {};
  }
}
