// A delay as timers take it. A larger one, Infinity included, would fire after one millisecond.
const LONGEST_MS = 2 ** 31 - 1;

/** `ms` within what `setTimeout` can wait. */
export const timerMs = (ms: number): number => Math.min(Math.max(ms, 0), LONGEST_MS);
