// The step detector `mann-whitney`: the p-value of the rank test between the halves. It must never read p as a size: small is
// interesting here.
import { mannWhitney } from './mann-whitney.js';
import type { StepDetector, StepStatus } from './step-detector.js';

export const mannWhitneyStep: StepDetector = ({ before, after }, { interesting }, statistics) => {
  // Values that are all equal are no evidence of anything; p = 1 would read as a regression of that size.
  if ([...before, ...after].every((value) => value === before[0])) return null;
  const { u, pValue } = mannWhitney(before, after, statistics);
  const stepSize = statistics.mean(before) - statistics.mean(after);
  let status: StepStatus = 'uninteresting';
  if (pValue <= interesting) status = stepSize < 0 ? 'high' : 'low';
  return { status, regression: status === 'high' ? -pValue : pValue, stepSize, leastSquares: u };
};
