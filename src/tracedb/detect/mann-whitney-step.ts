// The step detector `mann-whitney`: the p-value of the rank test between the halves. It must never read p as a size: small is
// interesting here.
import { mannWhitney } from './mann-whitney.js';
import type { StepDetector, StepStatus } from './step-detector.js';

export const mannWhitneyStep: StepDetector = ({ before, after }, { interesting }, statistics) => {
  const { u, pValue } = mannWhitney(before, after, statistics);
  const stepSize = statistics.mean(before) - statistics.mean(after);
  let status: StepStatus = 'uninteresting';
  if (pValue <= interesting) status = stepSize < 0 ? 'high' : 'low';
  return { status, regression: status === 'high' ? -pValue : pValue, stepSize, leastSquares: u };
};
