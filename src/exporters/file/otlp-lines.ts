// OTLP/JSON lines: one ExportTraceServiceRequest a line, appended. A line that is in the file is settled at once, so that
// a retry after a full disk goes on behind it.

import { type FsSteps, runAsync, runSync } from '../../base/files/fs-steps.js';
import type { ReportBatch } from '../../collector/reporter.js';
import { JsonFormat } from '../../formats/otlp/write-json.js';
import {
  type EncodedRequest,
  encodeRequests,
  encodeSteps,
  type LeftOut,
  RequestBuilder,
  type Undelivered,
  UndeliveredByBatch,
} from '../batch-spans.js';
import { appendLine, type FileFormat, type Rotation, toFileError } from './append-line.js';

/** A reader holds a line in memory as a whole. */
const MAX_LINE_BYTES = 4 << 20;
const MAX_LINE_SPANS = 4096;

/** OTLP/JSON with the line break inside what a request ends with, so that a line is one piece of memory. */
class JsonLineFormat extends JsonFormat {
  override readonly ending = ']}\n';
}

export class OtlpLines implements FileFormat {
  readonly #path: string;
  readonly #rotation: Rotation;
  readonly #builder = new RequestBuilder(new JsonLineFormat(), MAX_LINE_BYTES);
  readonly #undelivered = new UndeliveredByBatch();
  readonly #counts = {
    linesWritten: 0,
    spansWritten: 0,
    bytesWritten: 0,
    spansTooLarge: 0,
    spansInvalid: 0,
    filesRemoved: 0,
  };

  constructor(path: string, rotation: Rotation) {
    this.#path = path;
    this.#rotation = rotation;
  }

  async report(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    const undelivered = this.#undelivered.of(batch);
    const lines = encodeRequests(batch, undelivered, this.#builder, MAX_LINE_SPANS, this.#leftOut, signal);
    for await (const line of lines) await runAsync(this.#write(undelivered, line));
    signal.throwIfAborted();
  }

  reportSync(batch: ReportBatch): void {
    const undelivered = this.#undelivered.of(batch);
    for (const line of encodeSteps(batch, undelivered, this.#builder, MAX_LINE_SPANS, this.#leftOut))
      if (typeof line !== 'number') runSync(this.#write(undelivered, line));
  }

  stats(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  *#write(undelivered: Undelivered, line: EncodedRequest): FsSteps<void> {
    try {
      this.#counts.filesRemoved += yield* appendLine(this.#path, line.body, this.#rotation);
    } catch (error) {
      throw toFileError(this.#path, error);
    }
    this.#builder.release(line.body);
    undelivered.settle(line.range);
    this.#counts.linesWritten++;
    this.#counts.spansWritten += line.spanCount;
    this.#counts.bytesWritten += line.body.length;
  }

  readonly #leftOut: LeftOut = (_span, reason) => {
    if (reason === 'too-large') this.#counts.spansTooLarge++;
    else this.#counts.spansInvalid++;
  };
}
