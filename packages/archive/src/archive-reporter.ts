// The collector's way into an archive: rows become bytes of the write-ahead file, in slices of time. Reporting only appends; the archive's
// timer brings it to disk, and `flush` waits for that. What was taken of a batch must not be taken again when it is tried again.

import { type ReportBatch, ReportError, type Reporter } from 'spanline';
import { Slices } from 'spanline/internal/base';
import { BatchSpans } from 'spanline/internal/record';
import type { Archive } from './archive.js';

/** How far a batch has come. It must not lead to the batch: V8 keeps keys of a weak map that their own values lead to until old objects are collected. */
interface Progress {
  next: number;
}

/**
 * Writes finished traces to an archive; use it instead of, or beside, a reporter that sends them.
 *
 * The archive is yours: close it after the collector's shutdown. When the archive refuses spans the batch fails with
 * `ERR_SPANLINE_ARCHIVE_FULL` and the collector tries again.
 *
 * @example
 * ```ts
 * import { setReporter } from 'spanline';
 * import { Archive, ArchiveReporter } from '@spanline/archive';
 * setReporter(new ArchiveReporter(await Archive.open('./traces-reported')));
 * ```
 */
export class ArchiveReporter implements Reporter {
  readonly name = 'archive';
  /** @internal */
  readonly keepsNoTrace = true;
  readonly #archive: Archive;
  readonly #begun = new WeakMap<ReportBatch, Progress>();
  #spans = 0;
  #refused = 0;
  #invalid = 0;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** Resolves, or returns where that takes no longer than a slice, when all spans are in the file. */
  report(batch: ReportBatch): void | Promise<void> {
    const progress = this.#begin(batch);
    const spans = new BatchSpans(batch);
    const slices = new Slices();
    this.#append(spans, batch.spanCount, progress, slices);
    return progress.next < batch.spanCount ? this.#goOn(batch, spans, progress, slices) : undefined;
  }

  reportSync(batch: ReportBatch): void {
    this.#append(new BatchSpans(batch), batch.spanCount, this.#begin(batch));
  }

  #begin(batch: ReportBatch): Progress {
    let progress = this.#begun.get(batch);
    const left = batch.spanCount - (progress?.next ?? 0);
    if (this.#archive.room < left) {
      this.#refused += left;
      throw new ReportError(
        'ERR_SPANLINE_ARCHIVE_FULL',
        `the archive ${this.#archive.directory} holds too many spans and refused ${left}: see lastFailure of its stats()`,
        { retryable: true },
      );
    }
    if (progress === undefined) {
      progress = { next: 0 };
      this.#begun.set(batch, progress);
    }
    return progress;
  }

  async #goOn(batch: ReportBatch, spans: BatchSpans, progress: Progress, slices: Slices): Promise<void> {
    while (progress.next < batch.spanCount) {
      await slices.next();
      batch.signal.throwIfAborted();
      this.#append(spans, batch.spanCount, progress, slices);
    }
  }

  /** Until all are taken, or the slice is over. */
  #append(spans: BatchSpans, spanCount: number, progress: Progress, slices?: Slices): void {
    const spanAt = (index: number) => spans.viewAt(index);
    const isOver = (): boolean => slices?.isOver() === true;
    while (progress.next < spanCount) {
      const { next, taken, invalid } = this.#archive.appendFinished(spanAt, progress.next, spanCount, isOver);
      progress.next = next;
      this.#spans += taken;
      if (invalid !== undefined) this.#invalid++;
      // Not `isOver`, which counts spans and is false again at once.
      if (slices?.isPast) return;
    }
  }

  async flush(): Promise<void> {
    await this.#archive.flush();
  }

  stats(): Readonly<Record<string, number>> {
    return { archivedSpans: this.#spans, refusedSpans: this.#refused, invalidSpans: this.#invalid };
  }
}
