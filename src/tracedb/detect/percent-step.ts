// The step detector `percent`: the difference of the means as a share of the first (0.1 = 10 %). It must never answer with an infinity:
// answers are kept as JSON and as float32.
import { NOTHING_FITTED, type StepDetector, statusOf } from './step-detector.js';

const LARGEST_FLOAT32 = 3.4028234663852886e38;

export const percentStep: StepDetector = ({ before, after }, { interesting }, { mean }) => {
  const first = mean(before);
  const difference = first - mean(after);
  const share = difference === 0 ? 0 : difference / first;
  const stepSize = Number.isFinite(share) ? share : Math.sign(difference) * LARGEST_FLOAT32;
  return { status: statusOf(stepSize, interesting), regression: stepSize, stepSize, leastSquares: NOTHING_FITTED };
};
