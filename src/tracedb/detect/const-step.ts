// The step detector `const`: is the one value at the turning point at least `interesting` in size? It must never look at any other.
import { NOTHING_FITTED, type StepDetector, statusOf } from './step-detector.js';

export const constStep: StepDetector = ({ middle }, { interesting }) => {
  if (Number.isNaN(middle)) return null;
  const size = Math.abs(middle);
  // Negative, so that reaching the limit is a rise.
  const regression = -size;
  return {
    status: statusOf(regression, interesting),
    regression,
    stepSize: size - interesting,
    leastSquares: NOTHING_FITTED,
  };
};
