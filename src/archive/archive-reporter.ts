// The collector's way into an archive. Reporting only appends; the archive's timer brings it to disk, and `flush` waits for that.
import { getOrMake } from '../base/maps/get-or-make.js';
import { type ReportBatch, ReportError, type Reporter, type Resource } from '../collector/reporter.js';
import { ownResource } from '../formats/library.js';
import type { ArchivedResource } from '../trace/archived-span.js';
import { appendValid } from './append-valid.js';
import type { Archive } from './archive.js';
import { archivedSpan } from './from-record.js';

/**
 * Writes finished traces to an archive; use it instead of, or beside, a reporter that sends them.
 *
 * The archive is yours: close it after the collector's shutdown. When the archive refuses spans the batch fails with
 * `ERR_SPANLINE_ARCHIVE_FULL` and the collector tries again.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { setReporter } from 'spanline';
 * import { Archive, ArchiveReporter } from 'spanline/archive';
 * setReporter(new ArchiveReporter(await Archive.open(await mkdtemp(join(tmpdir(), 'traces-')))));
 * ```
 */
export class ArchiveReporter implements Reporter {
  readonly name = 'archive';
  /** @internal */
  readonly keepsNoTrace = true;
  private readonly resources = new WeakMap<Resource, ArchivedResource>();
  private spans = 0;
  private refused = 0;
  private invalid = 0;

  constructor(private readonly archive: Archive) {}

  report(batch: ReportBatch): void {
    this.reportSync(batch);
  }

  reportSync({ traces, resource, spanCount }: ReportBatch): void {
    const { archive } = this;
    // All or none: what was taken of a batch would come twice when it is tried again.
    if (archive.room < spanCount) {
      this.refused += spanCount;
      throw new ReportError(
        'ERR_SPANLINE_ARCHIVE_FULL',
        `the archive ${archive.directory} holds too many spans and refused ${spanCount}: see lastFailure of its stats()`,
        { retryable: true },
      );
    }
    const from = getOrMake(this.resources, resource, ownResource);
    const spans = traces.flatMap((trace) => trace.spans.map((span) => archivedSpan(span, from)));
    const { taken, invalid } = appendValid(archive, spans);
    this.spans += taken;
    this.invalid += invalid;
  }

  async flush(): Promise<void> {
    await this.archive.flush();
  }

  stats(): Readonly<Record<string, number>> {
    return { archivedSpans: this.spans, refusedSpans: this.refused, invalidSpans: this.invalid };
  }
}
