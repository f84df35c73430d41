// The error of this wing: every failure a caller can meet carries a stable code and says what to do. It must never be thrown
// without naming the input.
import { SpanlineError } from 'spanline/internal/base';
import type { RowFailure } from './table/wide-column-table.js';

/** The stable codes of errors of the trace databases. */
export type TraceDbErrorCode =
  /** An argument, key, query, or document that is wrong as written. */
  | 'ERR_SPANLINE_INVALID_INPUT'
  /** Beyond a limit of the table, such as the length of a row key. */
  | 'ERR_SPANLINE_TABLE_LIMIT'
  /** A file to ingest, or a config, is missing or cannot be read. */
  | 'ERR_SPANLINE_FILE'
  /** The table, tile, or commit does not exist. */
  | 'ERR_SPANLINE_NOT_FOUND'
  /** The caller's AbortSignal fired. */
  | 'ERR_SPANLINE_ABORTED'
  /** The deadline of the call passed. */
  | 'ERR_SPANLINE_DEADLINE'
  /** The store cannot be reached or answered with an error. */
  | 'ERR_SPANLINE_STORE_UNAVAILABLE'
  /** No space left for the store. */
  | 'ERR_SPANLINE_STORE_FULL'
  /** The store was closed. */
  | 'ERR_SPANLINE_STORE_CLOSED'
  /** The directory is on a file system that cannot hold the store. */
  | 'ERR_SPANLINE_STORE_FILE_SYSTEM'
  /** What was read is not what this package wrote. */
  | 'ERR_SPANLINE_STORE_CORRUPT'
  /** Others kept changing the same row longer than the bound on retries. */
  | 'ERR_SPANLINE_CONFLICT'
  /** Some rows of a write were refused; `failures` names them. */
  | 'ERR_SPANLINE_PARTIAL_FAILURE'
  /** The package of a store is not installed. */
  | 'ERR_SPANLINE_MISSING_PACKAGE';

/**
 * What a trace database throws: `code` is stable, `message` names the input and the remedy, `cause` is the engine's error.
 *
 * @example
 * ```ts
 * import { TraceDbError } from '@spanline/tracedb';
 * const error = new TraceDbError('ERR_SPANLINE_NOT_FOUND', 'tile 7 does not exist; list tiles with spanline perf tiles list');
 * console.assert(error.code === 'ERR_SPANLINE_NOT_FOUND');
 * ```
 */
export class TraceDbError extends SpanlineError<TraceDbErrorCode> {
  override readonly name = 'TraceDbError';
}

/** The error of a wrong argument, key or query. */
export const invalidInput = (message: string, options?: ErrorOptions): TraceDbError =>
  new TraceDbError('ERR_SPANLINE_INVALID_INPUT', message, options);

/** The error of what was read and is not what this package wrote. */
export const storeCorrupt = (message: string, options?: ErrorOptions): TraceDbError =>
  new TraceDbError('ERR_SPANLINE_STORE_CORRUPT', message, options);

/** The error beyond a limit of the table. */
export const tableLimit = (message: string): TraceDbError => new TraceDbError('ERR_SPANLINE_TABLE_LIMIT', message);

/** The error of a call whose signal fired. */
export const aborted = (message: string, options?: ErrorOptions): TraceDbError =>
  new TraceDbError('ERR_SPANLINE_ABORTED', message, options);

/** `missing`: the families that a table lacks; none when there is no table. */
export const noTable = (location: string, missing: readonly string[]): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_NOT_FOUND',
    missing.length === 0
      ? `there is no table in ${location}; check the name, or open it with make`
      : `the table in ${location} has no column families ${missing.join(', ')}: it is a store of another kind`,
  );

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
