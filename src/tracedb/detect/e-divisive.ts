// The lasting changes of a whole history: E-divisive proposes, a t-test and a rank test decide. It must never use chance: the same history
// always has the same changes.
import { TraceDbError } from '../tracedb-error.js';
import { energySplit } from './energy-split.js';
import { mannWhitney } from './mann-whitney.js';
import { drawOutliersIn } from './outliers.js';
import type { Statistics } from './statistics.js';
import { welch } from './welch.js';

/** How {@link changePoints} decides. */
export interface ChangePointOptions {
  /** Largest chance that a history whose order means nothing shows any change at all; above 0 and below 1. Default 0.001. */
  readonly pValue?: number;
  /** Fewest values on each side of a change, at least 2. Default 5. */
  readonly minSize?: number;
  /** Longest history accepted, in values. Default 5,000; the time grows with its square. */
  readonly maxPoints?: number;
  /** Smallest relative change that is reported: 0.05 = 5 %. Default 0. */
  readonly minEffect?: number;
}

/** A lasting change of a history. */
export interface ChangePoint {
  /** Index of the first value of the new level. */
  readonly index: number;
  /** Index of the last value of the old level; missing values may lie between. */
  readonly lastBefore: number;
  /** Mean since the change before, far outliers drawn in. */
  readonly before: number;
  /** Mean until the next change, far outliers drawn in. */
  readonly after: number;
  /** (after - before) / |before|: 0.05 = up by 5 %. Infinite when `before` is 0. */
  readonly change: number;
  /** Welch's t between the two stretches, positive for a rise; infinite when neither varies. */
  readonly t: number;
  /** Significance, corrected for every place where a change could have been seen; at most the `pValue` asked for. */
  readonly pValue: number;
}

const settingsOf = (options: ChangePointOptions): Required<ChangePointOptions> => {
  const { pValue = 0.001, minSize = 5, maxPoints = 5000, minEffect = 0 } = options;
  const settings = { pValue, minSize, maxPoints, minEffect };
  const rules: [keyof ChangePointOptions, boolean, string][] = [
    ['pValue', pValue > 0 && pValue < 1, 'between 0 and 1'],
    ['minSize', Number.isInteger(minSize) && minSize >= 2, 'a whole number from 2 on'],
    ['maxPoints', Number.isInteger(maxPoints) && maxPoints >= 1, 'a whole number from 1 on'],
    ['minEffect', Number.isFinite(minEffect) && minEffect >= 0, 'a finite number from 0 on'],
  ];
  for (const [name, isFine, wanted] of rules) {
    if (isFine) continue;
    throw new TraceDbError('ERR_SPANLINE_INVALID_INPUT', `${name} must be ${wanted}, not ${settings[name]}`);
  }
  return settings;
};

type Comparison = Pick<ChangePoint, 'before' | 'after' | 'change' | 't' | 'pValue'>;

const compare = (before: Float64Array, after: Float64Array, places: number, statistics: Statistics): Comparison => {
  const samples = [drawOutliersIn(before), drawOutliersIn(after)].map((sample) => Array.from(sample));
  const { meanBefore, meanAfter, t, pValue } = welch(samples[0], samples[1], statistics);
  // The t-test trusts that a few values show how far their source scatters. Five that agree by luck would prove anything, so the rank
  // test, which trusts nothing, has to agree; it sees the values as they are.
  const larger = Math.max(pValue, mannWhitney(before, after, statistics).pValue);
  const difference = meanAfter - meanBefore;
  return {
    before: meanBefore,
    after: meanAfter,
    change: difference === 0 ? 0 : difference / Math.abs(meanBefore),
    t,
    pValue: Math.min(1, larger * places),
  };
};

/** Cuts the history into stretches for as long as the cut is significant; the cuts in order. */
const divide = (
  values: Float64Array,
  minSize: number,
  isSignificant: (start: number, index: number, until: number) => boolean,
): number[] => {
  const cuts: number[] = [];
  const stretches: [start: number, end: number][] = [[0, values.length]];
  for (let stretch = stretches.pop(); stretch; stretch = stretches.pop()) {
    const [start, end] = stretch;
    const split = energySplit(drawOutliersIn(values.subarray(start, end)), minSize);
    if (split === null || !isSignificant(start, start + split.index, start + split.until)) continue;
    const cut = start + split.index;
    cuts.push(cut);
    stretches.push([start, cut], [cut, end]);
  }
  return cuts.sort((a, b) => a - b);
};

/** Index of the change to drop next, -1 when all may stay: first what is not significant, then what is too small. */
const weakest = (changes: readonly Comparison[], pValue: number, minEffect: number): number => {
  let worst = -1;
  for (const [i, { pValue: p, change }] of changes.entries()) {
    const rival = changes[worst];
    if (p > pValue) {
      if (rival === undefined || p > rival.pValue) worst = i;
    } else if (Math.abs(change) < minEffect && !(rival && rival.pValue > pValue)) {
      if (rival === undefined || Math.abs(change) < Math.abs(rival.change)) worst = i;
    }
  }
  return worst;
};

/**
 * The lasting changes of a history, oldest first. Use it when all values are at hand; for one new value, {@link stepFit} on a window
 * answers sooner. Values that are not finite (NaN = missing) are left out; indices count them.
 *
 * E-divisive finds the two neighbouring stretches that differ most by the energy statistic. They are a change when Welch's t-test and the
 * Mann-Whitney test both say so, at a level divided by the number of pairs of stretches there are to choose from; then both sides are
 * searched again. Last, the change whose stretches differ least is dropped, until every one is significant and at least `minEffect`
 * between its neighbours. No permutations, no randomness. Since the rank test holds for any distribution, a history in random order shows
 * a change with a chance of at most `pValue`, up to the normal approximation of large samples. The price is patience: a step of ten
 * deviations shows once about eight values follow it, a smaller one later. A far outlier counts as a value at Tukey's outer fence.
 *
 * Takes O(n^2) time for each change and O(n) memory. Throws ERR_SPANLINE_INVALID_INPUT for options out of range and for a history of more
 * than `maxPoints` values.
 * Source: D. S. Matteson and N. A. James, JASA 109 (2014); the t-test in place of permutations as in Hunter (Fleming et al., ICPE 2023).
 *
 * @example
 * ```ts
 * import { changePoints, loadStatistics } from 'spanline/tracedb';
 * const noise = [0, 1, -1, 0.5, -0.5, 0.2, -0.2, 0.8];
 * const history = [...noise.map((e) => 100 + e), ...noise.map((e) => 90 + e), ...noise.map((e) => 90 - e)];
 * const [change] = changePoints(history, {}, await loadStatistics());
 * console.assert(change?.index === 8 && Math.abs(change.change + 0.1) < 0.01);
 * ```
 */
export const changePoints = (
  values: readonly number[] | Float32Array,
  options: ChangePointOptions,
  statistics: Statistics,
): ChangePoint[] => {
  const { pValue, minSize, maxPoints, minEffect } = settingsOf(options);
  const indices: number[] = [];
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) indices.push(i);
  if (indices.length > maxPoints) {
    throw new TraceDbError(
      'ERR_SPANLINE_INVALID_INPUT',
      `a history of ${indices.length} values is longer than maxPoints = ${maxPoints}; pass its newest part, or raise maxPoints`,
    );
  }
  const present = Float64Array.from(indices, (i) => values[i]);
  const spare = present.length - 2 * minSize;
  if (spare < 0) return [];
  // A cut and an end, with minSize values before each: what the first search chooses from.
  const places = ((spare + 1) * (spare + 2)) / 2;
  const between = (start: number, index: number, end: number): Comparison =>
    compare(present.subarray(start, index), present.subarray(index, end), places, statistics);

  const cuts = divide(present, minSize, (...place) => between(...place).pValue <= pValue);
  const changes = cuts.map((cut, i) => ({ cut, ...between(cuts[i - 1] ?? 0, cut, cuts[i + 1] ?? present.length) }));
  for (let i = weakest(changes, pValue, minEffect); i >= 0; i = weakest(changes, pValue, minEffect)) {
    changes.splice(i, 1);
    // The neighbours of the dropped change now face the longer stretch.
    for (const j of [i - 1, i]) {
      if (j < 0 || j >= changes.length) continue;
      const { cut } = changes[j];
      changes[j] = { cut, ...between(changes[j - 1]?.cut ?? 0, cut, changes[j + 1]?.cut ?? present.length) };
    }
  }
  return changes.map(({ cut, ...comparison }) => ({
    index: indices[cut],
    lastBefore: indices[cut - 1],
    ...comparison,
  }));
};
