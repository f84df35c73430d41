// The step detector `absolute`: the difference of the two means, in the unit of the values. It must never scale.
import { NOTHING_FITTED, type StepDetector, statusOf } from './step-detector.js';

export const absoluteStep: StepDetector = ({ before, after }, { interesting }, { mean }) => {
  const stepSize = mean(before) - mean(after);
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
};
