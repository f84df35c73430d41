// What the file reporter needs of a format. An interface only.
import type { ReportBatch } from '../../collector/reporter.js';

/** One way of keeping traces in a file. A batch that failed comes again as the same object. */
export interface FileFormat {
  report(batch: ReportBatch, signal: AbortSignal): Promise<void>;
  reportSync(batch: ReportBatch): void;
  stats(): Readonly<Record<string, number>>;
}
