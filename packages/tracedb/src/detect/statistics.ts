// The statistics packages behind detection, loaded once and handed to each function. It must never be imported by a part that
// only stores or reads values: the packages are optional.

/** Means, spreads, and tail probabilities; made by {@link loadStatistics}. */
export interface Statistics {
  mean(values: readonly number[]): number;
  median(values: readonly number[]): number;
  /** Divides by n: the spread of exactly these values. */
  populationSd(values: readonly number[]): number;
  /** Divides by n - 1: an estimate for the source of the values. */
  sampleSd(values: readonly number[]): number;
  /** The median of the distances from the median. */
  medianAbsoluteDeviation(values: readonly number[]): number;
  /** P(|T| >= |t|) for Student's t; exact down to about 1e-300, then 0. */
  studentTwoSided(t: number, degreesOfFreedom: number): number;
  /** P(|Z| >= |z|) for the standard normal; below about 1e-16 it is 0. */
  normalTwoSided(z: number): number;
}

let loaded: Promise<Statistics> | undefined;

const load = async (): Promise<Statistics> => {
  const [simple, { default: jStat }] = await Promise.all([import('simple-statistics'), import('jstat')]);
  return {
    // The declarations ask for mutable arrays; none of these functions writes to its argument.
    mean: (values) => simple.mean(values as number[]),
    median: (values) => simple.median(values as number[]),
    populationSd: (values) => simple.standardDeviation(values as number[]),
    sampleSd: (values) => simple.sampleStandardDeviation(values as number[]),
    medianAbsoluteDeviation: (values) => simple.medianAbsoluteDeviation(values as number[]),
    // The incomplete beta function keeps its relative precision far out, where 1 - cdf has lost every digit.
    studentTwoSided: (t, df) => (Number.isFinite(t) ? jStat.ibeta(df / (df + t * t), df / 2, 0.5) : 0),
    normalTwoSided: (z) => 2 * jStat.normal.cdf(-Math.abs(z), 0, 1),
  };
};

/**
 * The statistics that {@link stepFit}, {@link changePoints}, and {@link findRegressions} take as their last argument. Call it
 * once, when detection starts: it loads the packages simple-statistics and jstat, and no other part does.
 *
 * @example
 * ```ts
 * import { loadStatistics } from '@spanline/tracedb';
 * const statistics = await loadStatistics();
 * console.assert(statistics.median([1, 2, 9]) === 2);
 * ```
 */
export const loadStatistics = (): Promise<Statistics> => {
  loaded ??= load();
  return loaded;
};
