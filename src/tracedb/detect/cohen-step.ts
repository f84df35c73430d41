// The step detector `cohen`: Cohen's d, the difference of the means in units of the spread within the halves. It must never divide by a
// spread below the threshold.
import { NOTHING_FITTED, type StepDetector, statusOf } from './step-detector.js';

// Fewer than two values in each half have no spread.
const SMALLEST_WINDOW = 4;

export const cohenStep: StepDetector = (window, { interesting, stddevThreshold }, { mean, sampleSd }) => {
  const { before, after, length } = window;
  if (length < SMALLEST_WINDOW) return null;
  // The mean of the two deviations, not the pooled one of the textbook: the thresholds people have chosen are for this form.
  const spread = before.length > 1 && after.length > 1 ? (sampleSd(before) + sampleSd(after)) / 2 : 0;
  const stepSize = (mean(before) - mean(after)) / Math.max(spread, stddevThreshold);
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
};
