// One figure of a benchmark, what every format becomes, and the one class of errors of this folder, which always say what to do next. A figure must
// never keep more samples than its bound: a tool may have taken a million.
import { getOrMake, SpanlineError } from 'spanline/internal/base';

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

/** The error of what the caller's signal stopped. */
export const aborted = (message: string, options: ErrorOptions): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_ABORTED', message, options);

/** What one run of a benchmark says of one thing that it measured. */
export interface BenchFigure {
  /** What was measured, as the benchmark names it. */
  readonly bench: string;
  /** What of it: `latency`, `throughput`, `wall`, `cpu`, ... */
  readonly metric: string;
  /** Such as `ns`, `ms`, `ops/s`: it also tells whether more is better. */
  readonly unit: string;
  /** What stands for the run: the median, where the tool tells one. */
  readonly value: number;
  /** What the tool kept of its samples, at most {@link MAX_SAMPLES}, rising; empty where it kept none. */
  readonly samples: readonly number[];
}

/** Samples of one figure that are kept. */
export const MAX_SAMPLES = 32;

/** The median of at least one value. */
export const medianOf = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** At most {@link MAX_SAMPLES} values that are spread as the given ones are: all of them, or those in the middle of as many equal parts. */
export const keptSamples = (values: readonly number[]): readonly number[] => {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length <= MAX_SAMPLES) return [...sorted];
  return Array.from({ length: MAX_SAMPLES }, (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / MAX_SAMPLES)]);
};

/** A figure whose values are `factor` times what the tool says, such as nanoseconds of a tool that says milliseconds. */
export const figureOf = (
  head: Pick<BenchFigure, 'bench' | 'metric' | 'unit'>,
  value: number,
  samples: readonly number[] = [],
  factor = 1,
): BenchFigure => ({
  ...head,
  value: value * factor,
  samples: keptSamples(samples).map((sample) => sample * factor),
});

/** Of the units of time that tools change between as a figure grows. */
const NS_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['min', 6e10],
]);

/** What makes a value of one unit one of the other: 1000 from `ms` to `us`. Throws `ERR_SPANLINE_BENCH_OUTPUT` where nobody knows. */
export const unitFactor = (name: string, from: string, to: string): number => {
  if (from === to) return 1;
  const [a, b] = [from, to].map((unit) => NS_OF_UNIT.get(unit));
  if (a !== undefined && b !== undefined) return a / b;
  throw badOutput(`${name} is in ${to} in one run and in ${from} in another; let the tool print one unit`);
};

/** The figures of several runs as one run: the median of each, with the runs that have it as its samples, in the unit of the first of them. */
export const figuresOfRuns = (runs: readonly (readonly BenchFigure[])[]): readonly BenchFigure[] => {
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only;
  const found = new Map<string, { readonly first: BenchFigure; readonly values: number[] }>();
  for (const figure of runs.flat()) {
    const name = `${figure.bench} ${figure.metric}`;
    const { first, values } = getOrMake(found, name, () => ({ first: figure, values: [] }));
    values.push(figure.value * unitFactor(name, figure.unit, first.unit));
  }
  return [...found.values()].map(({ first, values }) => ({
    ...first,
    value: medianOf(values),
    samples: keptSamples(values),
  }));
};
