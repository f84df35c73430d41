// The lasting changes of many series, judged and sorted; at once, or for a server that answers others meanwhile, where the event loop turns between
// two series and the changes of values that were searched before are kept. It must never report more by chance when it is given more series, nor
// anything else in slices than at once.
import { createHash } from 'node:crypto';
import { BoundedCache, getOrMake, Slices } from 'spanline/internal/base';
import { compareTexts } from '../params/param-text.js';
import { invalidInput, TraceDbError } from '../tracedb-error.js';
import { type Direction, directionOf, verdictOf } from './direction.js';
import { type ChangePoint, type ChangePointOptions, changePoints } from './e-divisive.js';
import type { Statistics } from './statistics.js';

/** A commit of a series. */
export interface SeriesCommit {
  /** Place in the history; rises along a series. */
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
}

/** The history of one measurement. */
export interface Series {
  /** Names the series in the answer, for example its structured key. */
  readonly key: string;
  /** Unit of the values, which tells better from worse; see {@link directionOf}. */
  readonly unit: string;
  /** Which way is better where the unit does not tell it, or tells another; by default the unit does. */
  readonly direction?: Direction;
  /** The commit of each value, oldest first. */
  readonly commits: readonly SeriesCommit[];
  /** NaN = missing. */
  readonly values: readonly number[] | Float32Array;
}

/** How {@link findRegressions} looks and judges. */
export interface RegressionOptions extends Pick<ChangePointOptions, 'minSize' | 'maxPoints' | 'minEffect'> {
  /**
   * Largest chance that a call reports anything when the order of the values means nothing in any of its series; above 0 and below 1.
   * Default 0.05.
   */
  readonly falsePositiveRate?: number;
  /** Directions by unit that go before the built-in table. */
  readonly directions?: Readonly<Record<string, Direction>>;
}

/** A lasting change of one series. */
export interface Regression extends Omit<ChangePoint, 'index' | 'lastBefore'> {
  readonly key: string;
  readonly unit: string;
  /** `changed`: the unit does not tell which way is better. */
  readonly kind: 'regression' | 'improvement' | 'changed';
  /** The first commit measured at the new level. */
  readonly commit: SeriesCommit;
  /** The last commit measured at the old level; the cause lies after it, up to `commit`. */
  readonly lastBefore: SeriesCommit;
  /** Significance, corrected for all places and all series; at most `falsePositiveRate`. */
  readonly pValue: number;
}

const DEFAULT_FALSE_POSITIVE_RATE = 0.05;
const DEFAULT_MIN_EFFECT = 0.02;

/** Throws unless a series has a commit for each value, in rising order. */
export const checkSeries = ({ key, commits, values }: Series): void => {
  if (commits.length !== values.length) {
    throw invalidInput(
      `series ${key} has ${values.length} values for ${commits.length} commits; give one value a commit, NaN if missing`,
    );
  }
  for (let i = 1; i < commits.length; i++) {
    if (!(commits[i].number > commits[i - 1].number)) {
      throw invalidInput(
        `series ${key}: commit ${commits[i].number} follows ${commits[i - 1].number}; sort the series by commit number`,
      );
    }
  }
};

const KINDS = { better: 'improvement', worse: 'regression', changed: 'changed' } as const;

/** What a rise (or fall) is where a unit gets better in one direction. */
export const kindOf = (isRise: boolean, direction: Direction): Regression['kind'] =>
  KINDS[verdictOf(isRise, direction)];

/** The change points of a series; the error for values that cannot be searched names the series. */
const changesOf = (series: Series, options: ChangePointOptions, statistics: Statistics): ChangePoint[] => {
  try {
    return changePoints(series.values, options, statistics);
  } catch (error) {
    throw error instanceof TraceDbError
      ? invalidInput(`series ${series.key}: ${error.message}`, { cause: error })
      : error;
  }
};

/** How each of `count` series is searched so that all of them together keep the declared rate of false alarms. */
const searchOf = (
  { falsePositiveRate = DEFAULT_FALSE_POSITIVE_RATE, minEffect = DEFAULT_MIN_EFFECT, ...rest }: RegressionOptions,
  count: number,
): ChangePointOptions => {
  if (!(falsePositiveRate > 0 && falsePositiveRate < 1)) {
    throw invalidInput(`falsePositiveRate must be between 0 and 1, not ${falsePositiveRate}`);
  }
  const { minSize, maxPoints } = rest;
  return { minSize, maxPoints, minEffect, pValue: falsePositiveRate / count };
};

/** The changes of one of `count` series as they are reported. */
const asRegressions = (
  { key, unit, direction: declared, commits }: Series,
  changes: readonly ChangePoint[],
  directions: RegressionOptions['directions'],
  count: number,
): Regression[] => {
  const direction = directionOf(unit, directions, declared);
  return changes.map(({ index, lastBefore, pValue, ...size }) => ({
    key,
    unit,
    kind: kindOf(size.change > 0, direction),
    commit: commits[index],
    lastBefore: commits[lastBefore],
    ...size,
    pValue: Math.min(1, pValue * count),
  }));
};

/** By commit, then the largest change first, then by key. */
const inOrder = (a: Regression, b: Regression): number =>
  a.commit.number - b.commit.number ||
  Math.abs(b.change) - Math.abs(a.change) ||
  compareTexts(a.key, b.key) ||
  compareTexts(a.unit, b.unit);

/**
 * The lasting changes of many series, sorted by commit, then the largest first, then by key. Use it over the histories of all benchmarks
 * to learn which commit made what slower. Changes below `minEffect` (default 0.02 = 2 % of
 * the smaller level) are left out.
 *
 * The declared rate of false alarms is that of the whole call: `falsePositiveRate` is divided by the number of series, and within each by
 * the number of places where a change could be seen (see {@link changePoints}). So on shuffled series at most 5 % of calls report anything,
 * and of single series far fewer show a change. For one series of 200 values or more
 * the same is measured for autocorrelated noise, even drift, random walks and slow waves. Throws ERR_SPANLINE_INVALID_INPUT for options out of range, and for a series whose commits
 * do not rise or do not match its values.
 *
 * @example
 * ```ts
 * import { findRegressions, loadStatistics } from '@spanline/tracedb';
 * const values = Array.from({ length: 60 }, (_, i) => (i < 40 ? 100 : 120) + (i % 7));
 * const commits = values.map((_, i) => ({ number: i, hash: `c${i}`, timestampMs: i * 60_000 }));
 * const [found] = findRegressions([{ key: ',test=parse,', unit: 'ms', commits, values }], {}, await loadStatistics());
 * console.assert(found?.kind === 'regression' && found.commit.hash === 'c40');
 * ```
 */
export const findRegressions = (
  series: readonly Series[],
  options: RegressionOptions,
  statistics: Statistics,
): Regression[] => {
  const search = searchOf(options, series.length);
  const found = series.flatMap((one) => {
    checkSeries(one);
    return asRegressions(one, changesOf(one, search, statistics), options.directions, series.length);
  });
  return found.sort(inOrder);
};

/** Series whose changes are kept; most have a handful. */
const MAX_KEPT = 1000;

/** The changes of a series depend on its values and on how it is searched, and on nothing else. */
const contentOf = ({ values }: Series, search: ChangePointOptions): string =>
  createHash('sha256').update(JSON.stringify(search)).update(Float64Array.from(values)).digest('base64');

/** Searches series in slices. Make one for a server: what it keeps is keyed by content, so it may serve any store. */
export class RegressionSearch {
  readonly #known = new BoundedCache<string, readonly ChangePoint[]>(MAX_KEPT);
  #searched = 0;

  /** Series that were searched, and not found among those that are kept. */
  get searched(): number {
    return this.#searched;
  }

  /** As `findRegressions`; the event loop waits for no more than one series. Rejects with the reason of `signal` once it fires. */
  async find(
    series: readonly Series[],
    options: RegressionOptions,
    statistics: Statistics,
    signal?: AbortSignal,
  ): Promise<Regression[]> {
    const search = searchOf(options, series.length);
    const slices = new Slices();
    const found: Regression[] = [];
    for (const one of series) {
      if (slices.isPast) await slices.next();
      signal?.throwIfAborted();
      checkSeries(one);
      found.push(...asRegressions(one, this.#changesOf(one, search, statistics), options.directions, series.length));
    }
    return found.sort(inOrder);
  }

  #changesOf(one: Series, search: ChangePointOptions, statistics: Statistics): readonly ChangePoint[] {
    const content = contentOf(one, search);
    return getOrMake(this.#known, content, () => {
      this.#searched++;
      return changesOf(one, search, statistics);
    });
  }
}
