// The error of a bulk write of which the store took a part. It must name every row that was not written.
import { TraceDbError } from '../tracedb-error.js';
import type { RowFailure } from './wide-column-table.js';

/** Some rows of a bulk write were refused; the others are written. Retry with the rows in `failures`. */
export class PartialFailureError extends TraceDbError {
  readonly failures: readonly RowFailure[];

  constructor(failures: readonly RowFailure[], rows: number, location: string) {
    const [first] = failures;
    super(
      'ERR_SPANLINE_PARTIAL_FAILURE',
      `${failures.length} of ${rows} rows were not written to ${location}; the first is ${JSON.stringify(first?.key)}: ` +
        `${first?.error.message}. The others are written; write those in "failures" again.`,
      { cause: first?.error },
    );
    this.failures = failures;
  }
}
