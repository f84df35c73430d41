// Welch's two-sample t-test. It must never assume that both samples spread alike.
import type { Statistics } from './statistics.js';

export interface WelchTest {
  readonly meanBefore: number;
  readonly meanAfter: number;
  /** Positive when the second mean is larger; infinite when neither sample spreads and the means differ. */
  readonly t: number;
  /** Two-sided. */
  readonly pValue: number;
}

/**
 * Welch's t-test of two samples with at least two values each, two-sided. Source: B. L. Welch, Biometrika 34 (1947).
 */
export const welch = (before: readonly number[], after: readonly number[], statistics: Statistics): WelchTest => {
  const meanBefore = statistics.mean(before);
  const meanAfter = statistics.mean(after);
  const varianceBefore = statistics.sampleSd(before) ** 2 / before.length;
  const varianceAfter = statistics.sampleSd(after) ** 2 / after.length;
  const variance = varianceBefore + varianceAfter;
  const difference = meanAfter - meanBefore;
  if (difference === 0) return { meanBefore, meanAfter, t: 0, pValue: 1 };
  const t = difference / Math.sqrt(variance);
  if (variance === 0) return { meanBefore, meanAfter, t, pValue: 0 };
  const degrees = variance ** 2 / (varianceBefore ** 2 / (before.length - 1) + varianceAfter ** 2 / (after.length - 1));
  return { meanBefore, meanAfter, t, pValue: statistics.studentTwoSided(t, degrees) };
};
