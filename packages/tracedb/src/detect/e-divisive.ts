// The lasting changes of a whole history: E-divisive proposes, a test of ranks and the jump decide. It must never use chance: the same history
// always has the same changes.
import { finiteNumber, getOrMake, wholeNumber } from 'spanline/internal/base';
import { invalidInput } from '../tracedb-error.js';
import { relativeChange } from './direction.js';
import { divide, type Judge, nearPlaces } from './divide.js';
import { evidenceP } from './evidence.js';
import { drawOutliersIn, isClearJump, LONGEST_NEAR } from './jumps.js';
import type { Statistics } from './statistics.js';

/** Welch's t of two samples with at least two values each. Source: B. L. Welch, Biometrika 34 (1947). */
export const welchT = (before: readonly number[], after: readonly number[], { mean, sampleSd }: Statistics): number => {
  const difference = mean(after) - mean(before);
  const variance = sampleSd(before) ** 2 / before.length + sampleSd(after) ** 2 / after.length;
  return difference === 0 ? 0 : difference / Math.sqrt(variance);
};

/** How {@link changePoints} decides. */
export interface ChangePointOptions {
  /** Largest chance that a history whose order means nothing shows any change at all; above 0 and below 1. Default 0.001. */
  readonly pValue?: number;
  /** Fewest values on each side of a change, at least 2. Default 5. */
  readonly minSize?: number;
  /** Longest history accepted, in values. Default 100,000, which takes some seconds. */
  readonly maxPoints?: number;
  /**
   * Smallest relative change that is reported: 0.05 = 5 %, as a share of the smaller of the two levels, so that a rise from 100 to 105 and the fall
   * back count the same. Default 0.
   */
  readonly minEffect?: number;
}

/** A lasting change of a history. */
export interface ChangePoint {
  /** Index of the first value of the new level. */
  readonly index: number;
  /** Index of the last value of the old level; missing values may lie between. */
  readonly lastBefore: number;
  /**
   * Mean since the change before, far outliers drawn in. Where that long stretch hides a clear jump, as one whose level wanders does, the mean of
   * the 30 values before.
   */
  readonly before: number;
  /** Mean until the next change, or of the 30 values after. */
  readonly after: number;
  /** (after - before) / |before|: 0.05 = up by 5 %. Infinite when `before` is 0. */
  readonly change: number;
  /** Welch's t between the two stretches, positive for a rise; infinite when neither varies. */
  readonly t: number;
  /** Significance, corrected for every place where a change could have been seen; at most the `pValue` asked for. */
  readonly pValue: number;
}

const settingsOf = (options: ChangePointOptions): Required<ChangePointOptions> => {
  const { pValue = 0.001, minSize = 5, maxPoints = 100_000, minEffect = 0 } = options;
  if (!(pValue > 0 && pValue < 1)) throw invalidInput(`pValue must be between 0 and 1, not ${pValue}`);
  return {
    pValue,
    minSize: wholeNumber('minSize', minSize, [2], invalidInput),
    maxPoints: wholeNumber('maxPoints', maxPoints, [1], invalidInput),
    minEffect: finiteNumber('minEffect', minEffect, [0], invalidInput),
  };
};

type Comparison = Pick<ChangePoint, 'before' | 'after' | 'change' | 't' | 'pValue'>;

const compare = (left: Float64Array, right: Float64Array, pValue: number, statistics: Statistics): Comparison => {
  const [old, now] = [left, right].map((side) => Array.from(drawOutliersIn(side))) as [number[], number[]];
  const [before, after] = [statistics.mean(old), statistics.mean(now)];
  return { before, after, change: relativeChange(before, after), t: welchT(old, now, statistics), pValue };
};

/** The change as a share of the smaller level: that of the older one would tell a rise from the fall back. */
const effectOf = ({ before, after }: Comparison): number =>
  after === before ? 0 : Math.abs(after - before) / Math.min(Math.abs(before), Math.abs(after));

/** Whether the history is read from its end: when the first value that differs from its mirror image is the larger one. */
const readsBackwards = (values: Float64Array): boolean => {
  for (let i = 0, j = values.length - 1; i < j; i++, j--) if (values[i] !== values[j]) return values[i] > values[j];
  return false;
};

/** Index of the change to drop next, -1 when all may stay: first what is too small, then what is not significant. */
const weakest = (changes: readonly Comparison[], pValue: number, minEffect: number): number => {
  let worst = -1;
  for (const [i, change] of changes.entries()) {
    const rival = changes[worst];
    const effect = effectOf(change);
    if (effect < minEffect) {
      if (!rival || effect < effectOf(rival)) worst = i;
    } else if (change.pValue > pValue && !(rival && effectOf(rival) < minEffect)) {
      if (!rival || change.pValue > rival.pValue) worst = i;
    }
  }
  return worst;
};

/**
 * The lasting changes of a history, oldest first. Use it when all values are at hand; for one new value, {@link stepFit} on a window
 * answers sooner. Values that are not finite (NaN = missing) are left out; indices count them.
 *
 * First two windows of 12 to 192 values on each side slide over the history, and where their ranks are farthest apart the shortest that is
 * significant cuts it: old noise hides no later step, and a change back hides none. Between these cuts E-divisive finds the two neighbouring
 * stretches that differ most by the energy statistic, forwards and backwards; then both sides of each change are searched again. Last, the
 * change that is too small or least significant is dropped, until every one is significant, by all values between its neighbours or by 30 on
 * each side, and at least `minEffect`. Far outliers are drawn in before. No permutations, no randomness. A history read backwards has its
 * changes at the same places with the same significance.
 *
 * A change is significant when two tests agree, each at a level divided by the number of places to choose from. The Mann-Whitney test,
 * or on long sides Fisher's of the shares above a level, holds for any distribution: a history in random order shows a change with a chance of
 * at most `pValue`, up to the normal approximation of large samples. The other is one of three. The jump is clear beside the quieter of its two
 * sides of up to 30 values; or the values of each side are in random order; or the jump is large beside noise in which each value leans on the
 * one before, as measured around it, and beside a slope that both sides share, and stands out of the jumps elsewhere in the history. So walks
 * and waves show a change in at most 5 % of histories of 200 values or more, as measured; for them a smaller `pValue` promises no less. The price
 * is patience: a step of ten deviations shows once about eight values follow it, a smaller one later.
 *
 * Takes about O(n) time, and O(n^2) up to some hundred values, and O(n) memory. Throws ERR_SPANLINE_INVALID_INPUT for options out of
 * range and for a history of more than `maxPoints` values.
 * Source: D. S. Matteson and N. A. James, JASA 109 (2014); the shortest window first as in R. Baranowski, Y. Chen and
 * P. Fryzlewicz, Journal of the Royal Statistical Society B 81 (2019).
 *
 * @example
 * ```ts
 * import { changePoints, loadStatistics } from '@spanline/tracedb';
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
    throw invalidInput(
      `a history of ${indices.length} values is longer than maxPoints = ${maxPoints}; pass its newest part, or a larger maxPoints`,
    );
  }
  const forwards = Float64Array.from(indices, (i) => values[i]);
  // The order of reading settles ties and rounding, so it depends on the values, not on which end is older.
  const isTurned = readsBackwards(forwards);
  const present = isTurned ? forwards.toReversed() : forwards;
  const spare = present.length - 2 * minSize;
  if (spare < 0) return [];
  // A cut and an end, with minSize values before each: what the first search chooses from. And the cuts of all windows.
  const places = ((spare + 1) * (spare + 2)) / 2 + nearPlaces(present.length);
  const judged = new Map<string, number>();
  const judge: Judge = (...place) =>
    getOrMake(judged, place.join(), () =>
      Math.min(1, evidenceP(present, place, [pValue, places], statistics) * places),
    );
  // By both stretches, or by the values near the cut: old noise, however wide, must not hide it.
  const significance: Judge = (start, index, end) => {
    const p = judge(start, index, end);
    const isNear = index - start >= LONGEST_NEAR && end - index >= LONGEST_NEAR;
    return p <= pValue || !isNear ? p : judge(index - LONGEST_NEAR, index, index + LONGEST_NEAR);
  };
  const compareAt = (start: number, index: number, end: number): Comparison =>
    compare(
      present.subarray(...(isTurned ? [index, end] : [start, index])),
      present.subarray(...(isTurned ? [start, index] : [index, end])),
      significance(start, index, end),
      statistics,
    );
  const between = (start: number, index: number, end: number): Comparison => {
    const whole = compareAt(start, index, end);
    if (!isClearJump(present, [start, index, end])) return whole;
    const near = compareAt(Math.max(start, index - LONGEST_NEAR), index, Math.min(end, index + LONGEST_NEAR));
    const isHidden = effectOf(whole) < minEffect || Math.sign(whole.change) !== Math.sign(near.change);
    return isHidden ? { ...near, pValue: whole.pValue } : whole;
  };

  const cuts = divide(present, minSize, pValue, judge);
  const changes = cuts.map((cut, i) => ({ cut, ...between(cuts[i - 1] ?? 0, cut, cuts[i + 1] ?? present.length) }));
  const cutAt = (i: number): number => changes[i]?.cut ?? (i < 0 ? 0 : present.length);
  /** The change to drop so that change i may stay: a smaller neighbour that leaves it too few values, or else itself. */
  const spared = (i: number): number => {
    const size = Math.abs(changes[i].after - changes[i].before);
    const isSmaller = (j: number): boolean => j in changes && Math.abs(changes[j].after - changes[j].before) < size;
    const gives = (j: number, p: number): boolean => isSmaller(j) && p <= pValue && p <= changes[j].pValue;
    if (gives(i - 1, significance(cutAt(i - 2), cutAt(i), cutAt(i + 1)))) return i - 1;
    if (gives(i + 1, significance(cutAt(i - 1), cutAt(i), cutAt(i + 2)))) return i + 1;
    return i;
  };
  for (let i = weakest(changes, pValue, minEffect); i >= 0; i = weakest(changes, pValue, minEffect)) {
    const dropped = changes[i].pValue > pValue ? spared(i) : i;
    changes.splice(dropped, 1);
    // The neighbours of the dropped change now face the longer stretch.
    for (const j of [dropped - 1, dropped]) {
      if (!(j in changes)) continue;
      const { cut } = changes[j];
      changes[j] = { cut, ...between(cutAt(j - 1), cut, cutAt(j + 1)) };
    }
  }
  if (isTurned) changes.reverse();
  return changes.map(({ cut, ...comparison }) => {
    const first = isTurned ? present.length - cut : cut;
    return { index: indices[first], lastBefore: indices[first - 1], ...comparison };
  });
};
