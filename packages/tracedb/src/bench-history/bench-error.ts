// The one error class of this room: what a benchmark, its output, git or a history refused. It must always say what to do next.
import { SpanlineError } from 'spanline/internal/base';

/** The stable codes of errors of benchmarks. */
export type BenchErrorCode =
  /** What a benchmark printed is of no format that is known, or has no figure. */
  | 'ERR_SPANLINE_BENCH_OUTPUT'
  /** A benchmark, a build or a service could not be started, failed, or took too long. */
  | 'ERR_SPANLINE_BENCH_COMMAND'
  /** Git is missing, this is not a repository, or there is no such commit. */
  | 'ERR_SPANLINE_BENCH_GIT'
  /** A history file cannot be read or written, or a line of it is none of a run. */
  | 'ERR_SPANLINE_BENCH_HISTORY'
  /** An option that is wrong as given. */
  | 'ERR_SPANLINE_BENCH_OPTION'
  /** The caller's AbortSignal fired. */
  | 'ERR_SPANLINE_BENCH_ABORTED';

/**
 * What `@spanline/tracedb/bench-history` throws: `code` is stable, `message` names the input and the remedy, `cause` is what lies below.
 *
 * @example
 * ```ts
 * import { BenchError, parseBenchOutput } from '@spanline/tracedb/bench-history';
 * try {
 *   parseBenchOutput('no figures here');
 * } catch (error) {
 *   console.assert(error instanceof BenchError && error.code === 'ERR_SPANLINE_BENCH_OUTPUT');
 * }
 * ```
 */
export class BenchError extends SpanlineError<BenchErrorCode> {
  override readonly name = 'BenchError';
}

/** The error for output that is of no use. */
export const badOutput = (message: string, options?: ErrorOptions): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_OUTPUT', message, options);

/** The error of an option that is wrong as given. */
export const badOption = (message: string): BenchError => new BenchError('ERR_SPANLINE_BENCH_OPTION', message);
