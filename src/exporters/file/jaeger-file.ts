// Jaeger's UI document in a file that is whole after every report. It replaces what an earlier process left there.

import { Slices } from '../../base/calls/timers.js';
import { type FsSteps, runAsync, runSync } from '../../base/files/fs-steps.js';
import { type WholeFileOptions, writeWhole } from '../../base/files/whole-file.js';
import type { ReportBatch } from '../../collector/reporter.js';
import { NO_SCOPE } from '../../formats/library.js';
import { BatchSpans, type Undelivered, UndeliveredByBatch } from '../batch-spans.js';
import { type FileFormat, toFileError } from './append-line.js';
import { JaegerDocument } from './jaeger-document.js';

/** Not synced: it is written anew with every report. */
const WRITING: WholeFileOptions = { makesDirectory: true, isDurable: false };

export class JaegerFile implements FileFormat {
  readonly #path: string;
  readonly #document: JaegerDocument;
  /** Spans not taken into the document yet: it keeps what it took when writing fails. */
  readonly #untaken = new UndeliveredByBatch();
  readonly #counts = { spansWritten: 0, spansInvalid: 0, filesWritten: 0 };

  constructor(path: string, maxTraces: number, maxBytes: number) {
    this.#path = path;
    this.#document = new JaegerDocument(maxTraces, maxBytes);
  }

  async report(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    const slices = new Slices();
    for (const bytes of this.#take(batch, this.#untaken.of(batch))) {
      if (slices.isOver(bytes)) await slices.next();
      signal.throwIfAborted();
    }
    await runAsync(this.#write());
  }

  reportSync(batch: ReportBatch): void {
    for (const _bytes of this.#take(batch, this.#untaken.of(batch)));
    runSync(this.#write());
  }

  stats(): Readonly<Record<string, number>> {
    const { traceCount, tracesDropped, spansDropped, spansRefused } = this.#document;
    return {
      ...this.#counts,
      tracesInFile: traceCount,
      tracesDropped,
      spansDropped,
      spansRefused,
    };
  }

  *#write(): FsSteps<void> {
    try {
      yield* writeWhole(this.#path, this.#document.chunks(), WRITING);
    } catch (error) {
      throw toFileError(this.#path, error);
    }
    this.#counts.filesWritten++;
  }

  /** Yields the bytes of each span taken. */
  *#take(batch: ReportBatch, untaken: Undelivered): Generator<number> {
    const spans = new BatchSpans(batch, NO_SCOPE);
    for (const { from, to } of untaken.ranges) {
      let next = from;
      try {
        while (next < to) yield this.#takeOne(spans, next++, batch);
      } finally {
        // Also when the caller stops half-way.
        untaken.settle({ from, to: next });
      }
    }
  }

  #takeOne(spans: BatchSpans, index: number, batch: ReportBatch): number {
    try {
      const bytes = this.#document.add(spans.viewAt(index), batch.resource);
      if (bytes > 0) this.#counts.spansWritten++;
      return bytes;
    } catch {
      // A value the types forbid, from an untyped caller: it must not hold up the spans around it.
      this.#counts.spansInvalid++;
      return 0;
    }
  }
}
