// Makes one row of results of its samples. It must never be surer than they are: the interval of the median goes with it.
import { intervalOf, rounded } from './rounds.mjs';
import { median, quantile, spread } from './stats.mjs';

const range = (samples) => quantile(samples, 0.75) - quantile(samples, 0.25);

/**
 * @param {{ subject: string, name: string, n: number | string, unit: string }} head
 * @param {number[]} samples one figure a round
 * @param {number} [min] where the least sample says nothing, because it is a difference
 */
export const rowOf = (head, samples, min = quantile(samples, 0)) => ({
  ...head,
  min: rounded(min),
  median: rounded(median(samples)),
  max: rounded(quantile(samples, 1)),
  ...intervalOf(samples),
  totalMedian: null,
  // Around zero a share of the median says nothing.
  spread: rounded(head.unit === '%' || median(samples) === 0 ? range(samples) / 100 : spread(samples)),
});

/** What `own` is above `bare`: the median of paired differences, round by round; `min` is the difference of the least of both. */
export const rowAbove = (head, own, bare) =>
  rowOf(
    head,
    own.map((value, i) => value - bare[i]),
    quantile(own, 0) - quantile(bare, 0),
  );
