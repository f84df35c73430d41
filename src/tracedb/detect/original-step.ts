// The step detector `original`: the window is scaled to mean 0 and deviation 1, a step is fitted, and its size is divided by the error of
// the fit. It must never scale by a deviation at or below the threshold.
import { type StepDetector, statusOf } from './step-detector.js';

const sumOfSquares = (values: readonly number[], centre: number): number =>
  values.reduce((sum, value) => sum + (value - centre) ** 2, 0);

export const originalStep: StepDetector = (window, { interesting, stddevThreshold }, { mean, populationSd }) => {
  const { before, after, length } = window;
  const spread = populationSd([...before, ...after]);
  const scale = spread > stddevThreshold ? spread : 1;
  const first = mean(before);
  const second = mean(after);
  const stepSize = (first - second) / scale;
  // The root is taken before the division by the length. A standard error would have both under the root, but the thresholds people
  // have chosen are for this form.
  const leastSquares = Math.sqrt(sumOfSquares(before, first) + sumOfSquares(after, second)) / scale / length;
  const regression = stepSize / Math.max(leastSquares, stddevThreshold);
  return { status: statusOf(regression, interesting), regression, stepSize, leastSquares };
};
