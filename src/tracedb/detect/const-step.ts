// The step detector `const`: is the one value at the turning point at least `interesting` in size? It must never look at any other.
//
// With v the value at the turning point: regression = -|v|, stepSize = |v| - interesting, and the status is `high` from |v| >= interesting
// on. This is the definition of Skia Perf from June 2021 to May 2026. Since then Perf answers regression = |v|, stepSize = -1, and `Low`
// for the same window. A limit that is reached counts as a rise here, so that it is a regression where less is better.
import { NOTHING_FITTED, type StepDetector, statusOf } from './step-detector.js';

export const constStep: StepDetector = ({ middle }, { interesting }) => {
  if (Number.isNaN(middle)) return null;
  const size = Math.abs(middle);
  const regression = -size;
  return {
    status: statusOf(regression, interesting),
    regression,
    stepSize: size - interesting,
    leastSquares: NOTHING_FITTED,
  };
};
