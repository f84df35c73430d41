// Writes finished traces to a file on this host. It must never leave half a line or half a document in it.
import { resolve } from 'node:path';
import { OptionError, wrongOption } from '../base/errors.js';
import { wholeNumber } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import type { ReportBatch } from '../collector/reporter.js';
import type { FileFormat } from './file/append-line.js';
import { JaegerFile } from './file/jaeger-file.js';
import { OtlpLines } from './file/otlp-lines.js';
import { QueuedReporter } from './http/sender.js';

/** Options of {@link FileReporter}. */
export interface FileReporterOptions {
  /** The file; its directory is made when it is missing. One process and one reporter to a file. */
  readonly path: string;
  /**
   * `otlp-jsonl`, the default: OTLP/JSON, one request a line, appended; the form the OpenTelemetry Collector's file exporter
   * and receiver use. `jaeger-json`: one document to upload in Jaeger's UI, replaced at each report.
   */
  readonly format?: 'otlp-jsonl' | 'jaeger-json';
  /**
   * Bytes. `otlp-jsonl`: a new file begins when the old one would grow beyond, default 64 MiB. `jaeger-json`: the whole
   * document; the oldest traces make room, counted, default 16 MiB.
   */
  readonly maxBytes?: number;
  /** `otlp-jsonl`: full files kept as `path.1` (the newest) to `path.N`; older ones are removed, counted. Default 4. */
  readonly keepFiles?: number;
  /** `jaeger-json`: traces in the document; the oldest make room, counted. Default 1000. */
  readonly maxTraces?: number;
}

const KNOWN = ['path', 'format', 'maxBytes', 'keepFiles', 'maxTraces'];

const integer = (name: string, value: number, min: number): number =>
  wholeNumber(`Option "${name}"`, value, [min], wrongOption);

const makeFormat = (options: FileReporterOptions, path: string): FileFormat => {
  const { format = 'otlp-jsonl', maxBytes, keepFiles, maxTraces } = options;
  if (format === 'otlp-jsonl') {
    if (maxTraces !== undefined) throw new OptionError('Option "maxTraces" is for the format "jaeger-json".');
    return new OtlpLines(path, {
      maxBytes: integer('maxBytes', maxBytes ?? 64 << 20, 1024),
      keepFiles: integer('keepFiles', keepFiles ?? 4, 0),
    });
  }
  if (format === 'jaeger-json') {
    if (keepFiles !== undefined) throw new OptionError('Option "keepFiles" is for the format "otlp-jsonl".');
    return new JaegerFile(
      path,
      integer('maxTraces', maxTraces ?? 1000, 1),
      integer('maxBytes', maxBytes ?? 16 << 20, 1024),
    );
  }
  throw new OptionError(`Option "format" must be "otlp-jsonl" or "jaeger-json", not ${String(format)}.`);
};

/**
 * Writes finished traces to a file. Use it where no server listens: a batch job, a test run, a demo. It also delivers in
 * `process.on('exit')`. A full disk or a missing right fails the report with `ERR_SPANLINE_FILE`, which the collector tries
 * again. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * setReporter(new FileReporter({ path: 'traces/run.json', format: 'jaeger-json' }));
 * ```
 */
export class FileReporter extends QueuedReporter {
  override readonly name = 'file';
  /** Absolute, so that a later change of directory moves nothing. */
  readonly path: string;
  readonly #format: FileFormat;

  constructor(options: FileReporterOptions) {
    super();
    checkNames(options, KNOWN);
    if (typeof options.path !== 'string' || options.path === '') {
      throw new OptionError(`Option "path" must name a file, not ${String(options.path)}.`);
    }
    this.path = resolve(options.path);
    this.#format = makeFormat(options, this.path);
  }

  reportSync(batch: ReportBatch): void {
    this.#format.reportSync(batch);
  }

  override stats(): Readonly<Record<string, number>> {
    return this.#format.stats();
  }

  protected override async deliver(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#format.report(batch, signal);
  }
}
